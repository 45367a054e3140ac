"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
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
  // Mean width of a letter of a label.
  const LETTER = 5.9;

  const byId = (id) => document.getElementById(id);
  const state = { sample: 0, focus: ALL, found: new Set() };
  let clade = [], direct = [], children = [], evidence = new Map();

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
    if (arc.node === UNCLASSIFIED) return "#c9ced4";
    if (arc.rest) return "#e4e7eb";
    const hue = (((arc.from + arc.to) / 2 / (2 * Math.PI)) * 330 + 205) % 360;
    return `hsl(${hue.toFixed(1)} 62% ${Math.min(66 + 4 * arc.ring, 88)}%)`;
  }

  const fitted = (text, letters) => (text.length <= letters ? text : letters < 4 ? "" : text.slice(0, letters - 1) + "…");

  /** The name of an arc, along it where there is room, else outwards. */
  function label(arc, inner, outer) {
    const name = names[arc.node], middle = (arc.from + arc.to) / 2, radius = (inner + outer) / 2;
    const along = name.length * LETTER + 10, length = (arc.to - arc.from) * radius;
    const degrees = (middle * 180) / Math.PI;
    let turn, words;
    if (length > along && along < 1.1 * radius && outer - inner > 14) {
      turn = degrees > 90 && degrees < 270 ? degrees + 180 : degrees;
      words = name;
    } else if (length > 12) {
      turn = degrees < 180 ? degrees - 90 : degrees + 90;
      words = fitted(name, Math.floor((outer - inner - 6) / LETTER));
    }
    if (!words) return null;
    const [x, y] = point(middle, radius).split(" ");
    const place = `translate(${x} ${y}) rotate(${turn.toFixed(2)})`;
    return draw("text", { transform: place, "text-anchor": "middle", dy: "0.35em", "font-size": 11 }, words);
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
    element.addEventListener("mousemove", (event) => {
      tip.textContent = words();
      tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
    });
    element.addEventListener("mouseleave", () => { tip.textContent = ""; });
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
    path.addEventListener("click", () => zoom(arc.node));
    hover(path, () => describe(arc.node));
    return path;
  }

  function hub() {
    const group = draw("g", {});
    const disc = draw("circle", { r: HUB - 3, fill: "#f4f6f8", stroke: "#d9dee4", style: "cursor: pointer" });
    disc.addEventListener("click", () => zoom(upper()));
    hover(disc, () => describe(state.focus) + (state.focus === ALL ? "" : "\n(click to go up)"));
    const line = (y, size, words) => draw("text", { y, "text-anchor": "middle", "font-size": size }, words);
    group.append(disc, line(-4, 13, fitted(names[state.focus], 17)), line(16, 12, whole(clade[state.focus]) + " reads"));
    return group;
  }

  function chart() {
    const arcs = layout();
    const rings = arcs.reduce((most, arc) => Math.max(most, arc.ring + 1), 1);
    const width = Math.min((RIM - HUB) / rings, 110);
    const shapes = draw("g", {}), labels = draw("g", {});
    // Marked arcs come last, so that no neighbour covers their edge.
    arcs.sort((a, b) => state.found.has(a.node) - state.found.has(b.node));
    for (const arc of arcs) {
      const inner = HUB + arc.ring * width;
      shapes.append(arcElement(arc, inner, inner + width));
      const text = arc.rest ? null : label(arc, inner, inner + width);
      if (text) labels.append(text);
    }
    byId("chart").replaceChildren(shapes, labels, hub());
  }

  function lineage(node) {
    const path = [node];
    while (path[0] !== ALL) path.unshift(parents[path[0]]);
    return path;
  }

  function link(node) {
    const button = make("button", names[node], { type: "button" });
    button.addEventListener("click", () => zoom(node));
    return button;
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

  function row(node, most) {
    const line = document.createElement("tr");
    const name = make("td", "");
    const bar = make("span", "", { class: "bar" });
    bar.style.width = (100 * clade[node]) / most + "%";
    name.append(link(node), bar);
    line.append(name, make("td", ranks[node]), make("td", whole(clade[node]), { class: "number" }));
    line.append(make("td", percent(clade[node], clade[ALL]), { class: "number" }));
    return line;
  }

  function list() {
    const node = state.focus, below = children[shown(node)].map(shown);
    byId("name").textContent = names[node];
    byId("facts").textContent = describe(node).split("\n").slice(1).join(" · ");
    const rows = below.slice(0, 500).map((child) => row(child, clade[below[0]]));
    if (below.length > 500) rows.push(make("tr", `and ${whole(below.length - 500)} more with fewer reads`));
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

  function show() {
    byId("tip").textContent = "";
    chart();
    breadcrumb();
    list();
    const taxon = state.focus === ALL ? "" : "&taxid=" + taxids[state.focus];
    // A page inside another may not change its address; it works without.
    try { history.replaceState(null, "", `#sample=${state.sample}${taxon}`); } catch { return; }
  }

  function zoom(node) {
    state.focus = node;
    byId("found").replaceChildren();
    show();
  }

  /** After another sample was chosen: the focus stays if the sample has it, else the closest above. */
  function reload() {
    load();
    while (state.focus !== ALL && clade[state.focus] === 0) state.focus = parents[state.focus];
    state.found = new Set(matches().map(shown));
    show();
  }

  function save() {
    const copy = byId("chart").cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    copy.setAttribute("width", SIZE);
    copy.setAttribute("height", SIZE);
    copy.querySelectorAll("path").forEach((path) => path.setAttribute("stroke", "#fff"));
    const blob = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
    const target = make("a", "", { href: URL.createObjectURL(blob), download: "taxa.svg" });
    target.click();
    setTimeout(() => URL.revokeObjectURL(target.href), 1000);
  }

  /** Sample and taxon from the address, so that a view can be kept as a bookmark. */
  function restore() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const sample = Number(wanted.get("sample"));
    state.sample = Number.isInteger(sample) && sample >= 0 && sample < data.samples.length ? sample : 0;
    const node = wanted.has("taxid") ? taxids.indexOf(Number(wanted.get("taxid"))) : ALL;
    state.focus = Math.max(node, ALL);
    byId("sample").value = state.sample;
  }

  data.samples.forEach((sample, place) => byId("sample").append(make("option", sample.name, { value: place })));
  byId("samples").hidden = data.samples.length < 2;
  byId("sample").addEventListener("change", (event) => { state.sample = Number(event.target.value); reload(); });
  for (const id of ["unclassified", "collapse", "levels"]) byId(id).addEventListener("change", reload);
  byId("query").addEventListener("input", search);
  byId("save").addEventListener("click", save);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (byId("query").value) { byId("query").value = ""; search(); } else zoom(upper());
  });
  restore();
  reload();
})();
