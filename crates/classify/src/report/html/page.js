"use strict";
(() => {
  const data = JSON.parse(document.querySelector(".data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const SIZE = 800, HUB = 66, RIM = 392;
  // Node 0 are all reads, node 1 the unclassified; taxa follow, parents before children.
  const ALL = 0, UNCLASSIFIED = 1, FIRST = 2;
  const names = ["All reads", "Unclassified", ...data.names];
  const ranks = ["", "", ...data.ranks];
  const taxids = [null, 0, ...data.taxids];
  const parents = [ALL, ALL, ...data.parents.map((parent) => (parent === null ? ALL : parent + FIRST))];
  const count = names.length;
  // Thinner arcs than this, in radians, are drawn as one.
  const THINNEST = 0.006;
  // Size of labels, and mean width of their letters, where the picture is as wide as its drawing.
  const LABEL = 11, LETTER = 5.9;

  const byId = (id) => document.getElementById(id);
  const state = { sample: 0, focus: ALL, found: new Set() };
  let clade = [], direct = [], children = [], evidence = new Map();
  // Arcs and middle in the order of the arrow keys, the one that the tabulator reaches, and how much larger labels are.
  let stops = [], stop = 0, larger = 1;

  const whole = (number) => number.toString().replace(/\B(?=(\d{3})+$)/g, ",");
  const percent = (part, all) => {
    const share = all > 0 ? (100 * part) / all : 0;
    return (share > 0 && share < 0.01 ? "<0.01" : share.toFixed(2)) + " %";
  };

  /** Makes an element; texts are set as texts, so that no name is markup. */
  function make(tag, text, attributes = {}) {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function draw(tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  /** Reads of every clade of the chosen sample, and its children by reads, then taxid. */
  function load() {
    const sample = data.samples[state.sample];
    names[ALL] = byId("unclassified").checked ? "All reads" : "Classified reads";
    direct = new Array(count).fill(0);
    children = Array.from({ length: count }, () => []);
    if (sample) {
      direct[UNCLASSIFIED] = byId("unclassified").checked ? sample.unclassified : 0;
      sample.reads.forEach(([taxon, reads]) => { direct[taxon + FIRST] = reads; });
      evidence = new Map(sample.evidence.map(([taxon, ...known]) => [taxon + FIRST, known]));
    }
    clade = direct.slice();
    for (let node = count - 1; node > ALL; node--) {
      if (clade[node] > 0) {
        clade[parents[node]] += clade[node];
        children[parents[node]].push(node);
      }
    }
    for (const list of children) list.sort((a, b) => clade[b] - clade[a] || taxids[a] - taxids[b]);
  }

  /** The node that is drawn for one: below taxa that do nothing but hold one other, where these are left out. */
  function shown(node) {
    if (!byId("collapse").checked) return node;
    while (direct[node] === 0 && children[node].length === 1) node = children[node][0];
    return node;
  }

  /** The closest node above the focus that shows something else. */
  function upper() {
    let node = parents[state.focus];
    while (node !== ALL && shown(node) === shown(state.focus)) node = parents[node];
    return node;
  }

  /** Arcs below the focus: node, ring from 0, angles from 0 to 2 pi; thin ones together as `rest`. */
  function layout() {
    const arcs = [];
    const levels = Number(byId("levels").value);
    const spread = (node, ring, from, to) => {
      if (ring === levels) return;
      const turn = (to - from) / clade[node];
      let at = from;
      const list = children[node];
      for (let i = 0; i < list.length; i++) {
        const end = at + turn * clade[list[i]];
        if (end - at < THINNEST) {
          const rest = list.slice(i).reduce((sum, child) => sum + clade[child], 0);
          arcs.push({ ring, from: at, to: at + turn * rest, rest: list.length - i, reads: rest });
          return;
        }
        const child = shown(list[i]);
        arcs.push({ node: child, ring, from: at, to: end });
        spread(child, ring + 1, at, end);
        at = end;
      }
    };
    if (clade[state.focus] > 0) spread(shown(state.focus), 0, 0, 2 * Math.PI);
    return arcs;
  }

  const point = (angle, radius) => [Math.sin(angle) * radius, -Math.cos(angle) * radius].map((x) => x.toFixed(2)).join(" ");

  function wedge(arc, inner, outer) {
    // A full circle has no start, so it is drawn as two halves.
    if (arc.to - arc.from > 2 * Math.PI - 1e-6) {
      const circle = (radius, sweep) => `M${point(0, radius)}A${radius} ${radius} 0 1 ${sweep} ${point(Math.PI, radius)}`
        + `A${radius} ${radius} 0 1 ${sweep} ${point(0, radius)}Z`;
      return circle(outer, 1) + circle(inner, 0);
    }
    const large = arc.to - arc.from > Math.PI ? 1 : 0;
    return `M${point(arc.from, outer)}A${outer} ${outer} 0 ${large} 1 ${point(arc.to, outer)}`
      + `L${point(arc.to, inner)}A${inner} ${inner} 0 ${large} 0 ${point(arc.from, inner)}Z`;
  }

  function colour(arc) {
    if (arc.rest) return "#e4e7eb";
    return arc.node === UNCLASSIFIED ? "#c9ced4" : data.colours[arc.node - FIRST];
  }

  const fitted = (text, letters) => (text.length <= letters ? text : letters < 4 ? "" : text.slice(0, letters - 1) + "…");

  /** The name of an arc, along it where there is room, else outwards. */
  function label(arc, inner, outer) {
    const name = names[arc.node], middle = (arc.from + arc.to) / 2, radius = (inner + outer) / 2;
    const letter = LETTER * larger;
    const along = name.length * letter + 10, length = (arc.to - arc.from) * radius;
    const degrees = (middle * 180) / Math.PI;
    let turn, words;
    if (length > along && along < 1.1 * radius && outer - inner > 14 * larger) {
      turn = degrees > 90 && degrees < 270 ? degrees + 180 : degrees;
      words = name;
    } else if (length > 12 * larger) {
      turn = degrees < 180 ? degrees - 90 : degrees + 90;
      words = fitted(name, Math.floor((outer - inner - 6) / letter));
    }
    if (!words) return null;
    const [x, y] = point(middle, radius).split(" ");
    const place = `translate(${x} ${y}) rotate(${turn.toFixed(2)})`;
    return draw("text", { transform: place, "text-anchor": "middle", dy: "0.35em", "font-size": LABEL * larger }, words);
  }

  function describe(node) {
    const facts = [names[node], [ranks[node], node >= FIRST ? "taxid " + taxids[node] : ""].filter(Boolean).join(", ")];
    facts.push(`${whole(clade[node])} reads (${percent(clade[node], clade[ALL])} of all)`);
    if (node >= FIRST) facts.push(`${whole(direct[node])} of them of the taxon itself`);
    if (state.focus !== ALL && state.focus !== node) facts.push(`${percent(clade[node], clade[state.focus])} of ${names[state.focus]}`);
    return [...facts, ...witness(node)].filter(Boolean).join("\n");
  }

  /** What speaks for a clade beside its reads, as far as it is known. */
  function witness(node) {
    const [features, expected, covered, windows] = evidence.get(node) ?? [null, null, null, null];
    const facts = [];
    if (features !== null) {
      const even = expected === null ? "" : ` (${whole(expected)} if spread evenly)`;
      facts.push(`${whole(features)} distinct features${even}`);
    }
    if (windows !== null) facts.push(`${whole(covered)} of ${whole(windows)} windows covered (${percent(covered, windows)})`);
    return facts;
  }

  function hover(element, words) {
    const tip = byId("tip");
    const show = (x, y) => {
      tip.textContent = words();
      tip.style.left = Math.max(8, Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8)) + "px";
      tip.style.top = Math.max(8, Math.min(y + 14, window.innerHeight - tip.offsetHeight - 8)) + "px";
    };
    const hide = () => { tip.textContent = ""; };
    element.addEventListener("mousemove", (event) => show(event.clientX, event.clientY));
    element.addEventListener("mouseleave", hide);
    // A shape that listens to the focus can have it.
    if (!element.hasAttribute("tabindex")) return;
    element.addEventListener("blur", hide);
    element.addEventListener("focus", () => {
      if (!element.matches(":focus-visible")) return;
      const place = element.getBoundingClientRect();
      show((place.left + place.right) / 2, (place.top + place.bottom) / 2);
    });
  }

  /** Makes a shape of the chart lead to a node, by a click or by Enter. */
  function lead(element, node, words) {
    for (const [name, value] of [["tabindex", -1], ["role", "button"], ["aria-label", words]]) element.setAttribute(name, value);
    element.addEventListener("click", () => zoom(node()));
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      zoom(node());
    });
  }

  function arcElement(arc, inner, outer) {
    const path = draw("path", { d: wedge(arc, inner, outer), fill: colour(arc) });
    if (arc.rest) {
      path.setAttribute("class", "rest");
      hover(path, () => `${whole(arc.rest)} smaller taxa\n${whole(arc.reads)} reads (${percent(arc.reads, clade[ALL])} of all)`);
      return path;
    }
    if (state.found.has(arc.node)) path.setAttribute("class", "found");
    path.setAttribute("data-taxid", taxids[arc.node]);
    lead(path, () => arc.node, `${names[arc.node]}, ${percent(clade[arc.node], clade[ALL])} of all reads`);
    hover(path, () => describe(arc.node));
    return path;
  }

  function hub() {
    const group = draw("g", { class: "hub" });
    const disc = draw("circle", { r: HUB - 3 });
    if (state.focus !== ALL) lead(disc, upper, `Up from ${names[state.focus]}`);
    hover(disc, () => describe(state.focus) + (state.focus === ALL ? "" : "\n(click to go up)"));
    const size = Math.min(larger, 1.5);
    const line = (y, font, words) => draw("text", { y: y * size, "text-anchor": "middle", "font-size": font * size }, words);
    group.append(disc, line(-4, 13, fitted(names[state.focus], Math.floor(17 / size))), line(16, 12, whole(clade[state.focus]) + " reads"));
    return group;
  }

  function chart() {
    const svg = byId("chart"), focused = svg.contains(document.activeElement);
    larger = Math.min(Math.max(SIZE / (svg.clientWidth || SIZE), 1), 2.2);
    const arcs = layout();
    const rings = arcs.reduce((most, arc) => Math.max(most, arc.ring + 1), 1);
    const width = Math.min((RIM - HUB) / rings, 110);
    const shapes = draw("g", {}), labels = draw("g", {}), middle = hub();
    const reached = [];
    // Marked arcs come last, so that no neighbour covers their edge.
    arcs.sort((a, b) => state.found.has(a.node) - state.found.has(b.node));
    for (const arc of arcs) {
      const inner = HUB + arc.ring * width;
      const shape = arcElement(arc, inner, inner + width);
      shapes.append(shape);
      if (!arc.rest) reached.push([arc, shape]);
      const text = arc.rest ? null : label(arc, inner, inner + width);
      if (text) labels.append(text);
    }
    svg.replaceChildren(shapes, labels, middle);
    stops = reached.sort(([a], [b]) => a.ring - b.ring || a.from - b.from).map(([, shape]) => shape);
    if (state.focus !== ALL) stops.push(middle.firstChild);
    stop = 0;
    if (stops.length > 0) stops[0].setAttribute("tabindex", 0);
    if (focused && stops.length > 0) stops[0].focus({ preventScroll: true });
  }

  /** The arrow keys go through the arcs, ring by ring; the tabulator leaves them at once. */
  function step(event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!steps || stops.length === 0) return;
    event.preventDefault();
    stops[stop].setAttribute("tabindex", -1);
    stop = (stop + steps + stops.length) % stops.length;
    stops[stop].setAttribute("tabindex", 0);
    stops[stop].focus({ preventScroll: true });
  }

  function lineage(node) {
    const path = [node];
    while (path[0] !== ALL) path.unshift(parents[path[0]]);
    return path;
  }

  /** The address of a view. */
  const address = (node) => `#sample=${state.sample}` + (node === ALL ? "" : "&taxid=" + taxids[node]);

  function link(node) {
    const anchor = make("a", names[node], { href: address(node) });
    anchor.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      zoom(node);
    });
    return anchor;
  }

  function breadcrumb() {
    const steps = lineage(state.focus).flatMap((node) => {
      const last = node === state.focus;
      const step = last ? make("span", names[node], { class: "here" }) : link(node);
      if (ranks[node]) step.title = ranks[node];
      return last ? [step] : [step, make("span", "›", { class: "step" })];
    });
    byId("path").replaceChildren(...steps);
  }

  function key(colour) {
    const key = make("span", "", { class: "key" });
    key.style.background = colour;
    return key;
  }

  function row(node, most) {
    const line = document.createElement("tr");
    const name = make("td", "");
    const bar = make("span", "", { class: "bar" });
    bar.style.width = (100 * clade[node]) / most + "%";
    name.append(link(node), bar);
    if (node >= FIRST) name.prepend(key(data.colours[shown(node) - FIRST]));
    line.append(name, make("td", ranks[node]), make("td", whole(clade[node]), { class: "number" }));
    line.append(make("td", percent(clade[node], clade[ALL]), { class: "number" }));
    return line;
  }

  function list() {
    const node = state.focus, below = children[shown(node)].map(shown);
    byId("name").textContent = names[node];
    byId("facts").textContent = describe(node).split("\n").slice(1).join(" · ");
    const rows = below.slice(0, 500).map((child) => row(child, clade[below[0]]));
    if (below.length > 500) {
      const more = document.createElement("tr");
      more.append(make("td", `and ${whole(below.length - 500)} more with fewer reads`, { colspan: 4 }));
      rows.push(more);
    }
    byId("rows").replaceChildren(...rows);
    byId("below").hidden = below.length === 0;
    byId("none").hidden = clade[ALL] > 0;
  }

  function matches() {
    const wanted = byId("query").value.trim().toLowerCase();
    if (!wanted) return [];
    const fits = (node) => names[node].toLowerCase().includes(wanted) || String(taxids[node]) === wanted;
    const nodes = Array.from({ length: count }, (_, node) => node).filter((node) => clade[node] > 0 && fits(node));
    return nodes.sort((a, b) => clade[b] - clade[a] || taxids[a] - taxids[b]);
  }

  function search() {
    const nodes = matches();
    state.found = new Set(nodes.map(shown));
    const items = nodes.slice(0, 50).map((node) => {
      const item = make("li", "");
      item.append(link(node), ` ${ranks[node]}, ${whole(clade[node])} reads`);
      return item;
    });
    if (nodes.length > 50) items.push(make("li", `and ${whole(nodes.length - 50)} more`));
    if (nodes.length === 0 && byId("query").value.trim()) items.push(make("li", "Nothing of that name in this sample."));
    byId("found").replaceChildren(...items);
    chart();
  }

  /** Shows the view, as one to come back to where it is a new one. */
  function show(isNew) {
    byId("tip").textContent = "";
    chart();
    breadcrumb();
    list();
    if (!isNew || address(state.focus) === location.hash) return;
    // A page inside another may not change its address; it works without.
    try { history.pushState(null, "", address(state.focus)); } catch { return; }
  }

  function zoom(node) {
    state.focus = node;
    byId("found").replaceChildren();
    show(true);
    // What was chosen may be gone.
    if (document.activeElement === document.body) byId("name").focus({ preventScroll: true });
  }

  /** After another sample was chosen: the focus stays if the sample has it, else the closest above. */
  function reload(isNew) {
    load();
    while (state.focus !== ALL && clade[state.focus] === 0) state.focus = parents[state.focus];
    state.found = new Set(matches().map(shown));
    show(isNew);
  }

  function save() {
    const copy = byId("chart").cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    copy.setAttribute("width", SIZE);
    copy.setAttribute("height", SIZE);
    copy.querySelectorAll("path").forEach((path) => path.setAttribute("stroke", "#fff"));
    copy.querySelectorAll("circle").forEach((disc) => { disc.setAttribute("fill", "#f4f6f8"); disc.setAttribute("stroke", "#d9dee4"); });
    copy.querySelectorAll("[role]").forEach((shape) => ["role", "tabindex"].forEach((name) => shape.removeAttribute(name)));
    const blob = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
    const target = make("a", "", { href: URL.createObjectURL(blob), download: "taxa.svg" });
    target.click();
    setTimeout(() => URL.revokeObjectURL(target.href), 1000);
  }

  /** Sample and taxon from the address, so that a view can be kept, and come back to. */
  function restore() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const sample = Number(wanted.get("sample"));
    const node = wanted.has("taxid") ? taxids.indexOf(Number(wanted.get("taxid"))) : ALL;
    state.focus = Math.max(node, ALL);
    if (wanted.has("sample")) {
      state.sample = Number.isInteger(sample) && sample >= 0 && sample < data.samples.length ? sample : 0;
    } else if (state.focus !== ALL) {
      seek();
    }
    byId("sample").value = state.sample;
  }

  /** Goes from a table to the rings: to the chosen sample if it has the taxon, else to the first that has. */
  function seek() {
    const places = [state.sample, ...data.samples.keys()];
    state.sample = places.find((place) => { state.sample = place; load(); return clade[state.focus] > 0; }) ?? 0;
    byId("taxa").scrollIntoView();
  }

  byId("explore").hidden = false;
  data.samples.forEach((sample, place) => byId("sample").append(make("option", sample.name, { value: place })));
  byId("samples").hidden = data.samples.length < 2;
  byId("sample").addEventListener("change", (event) => { state.sample = Number(event.target.value); reload(true); });
  for (const id of ["unclassified", "collapse", "levels"]) byId(id).addEventListener("change", () => reload(false));
  byId("query").addEventListener("input", search);
  byId("query").addEventListener("keydown", (event) => {
    const [first] = matches();
    if (event.key === "Enter" && first !== undefined) zoom(first);
  });
  byId("chart").addEventListener("keydown", step);
  byId("save").addEventListener("click", save);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (byId("query").value) { byId("query").value = ""; search(); } else if (state.focus !== ALL) zoom(upper());
  });
  window.addEventListener("hashchange", () => { restore(); reload(false); });
  window.addEventListener("resize", () => requestAnimationFrame(chart));
  restore();
  reload(false);
})();
