"use strict";
(() => {
  const [about, ...queries] = [...document.querySelectorAll(".data")].map((element) => JSON.parse(element.textContent));
  const SVG = "http://www.w3.org/2000/svg";
  // Bit scores at which the next colour begins, as BLAST's own pages have them.
  const CLASSES = [40, 50, 80, 200];
  const WORDS = ["below 40", "40 to 50", "50 to 80", "80 to 200", "200 and more"];
  // Entries of the list of queries that are drawn at once, and columns of an alignment in a line.
  const MOST = 400, COLUMNS = 60;
  // Organisms that are counted by name.
  const ORGANISMS = 10;
  // The picture, in its own units.
  const WIDTH = 1000, MARGIN = 24, TOP = 46, ROW = 9;
  const positive = new Set(about.positive);
  const byId = (id) => document.getElementById(id);
  const subjects = (number) => whole(number) + (number === 1 ? " subject" : " subjects");
  const whole = (number) => number.toString().replace(/\B(?=(\d{3})+$)/g, ",");
  const rank = (bits) => CLASSES.filter((least) => bits >= least).length;
  const name = (title) => title.split(/\s/, 1)[0] || "(no name)";

  /** Makes an element; texts are set as texts, so that no name is markup. */
  function make(tag, text, attributes = {}, children = []) {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function draw(tag, attributes, text = "", children = []) {
    const element = document.createElementNS(SVG, tag);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  /** A round distance of which about eight fit. */
  function distance(length) {
    const power = 10 ** Math.floor(Math.log10(Math.max(length / 8, 1)));
    return [1, 2, 5, 10].map((times) => times * power).find((step) => length / step <= 8) || 10 * power;
  }

  function picture(query) {
    const height = TOP + query.hits.length * ROW + 8;
    const x = (place) => MARGIN + ((WIDTH - 2 * MARGIN) * place) / Math.max(query.length, 1);
    const label = "where the subjects are similar to the query";
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": label });
    svg.append(draw("rect", { class: "query", x: x(0), y: 22, width: x(query.length) - x(0), height: 8, rx: 2 }));
    for (let place = 0, step = distance(query.length); place <= query.length; place += step) {
      svg.append(draw("line", { class: "grid", x1: x(place), x2: x(place), y1: 32, y2: height }));
      svg.append(draw("text", { x: x(place), y: 16, "text-anchor": "middle" }, whole(place)));
    }
    query.hits.forEach((hit, row) => {
      const y = TOP + row * ROW;
      const ends = hit.hsps.map((hsp) => [Math.min(...hsp.query) - 1, Math.max(...hsp.query)]);
      const from = Math.min(...ends.map((end) => end[0])), to = Math.max(...ends.map((end) => end[1]));
      const link = draw("a", { href: "#hit" + row, tabindex: 0 });
      link.append(draw("title", {}, `${hit.title}\n${hit.hsps[0].bits} bits, E ${hit.hsps[0].evalue}`));
      link.append(draw("line", { class: "axis", x1: x(from), x2: x(to), y1: y + 3, y2: y + 3 }));
      hit.hsps.forEach((hsp, number) => {
        const width = Math.max(x(ends[number][1]) - x(ends[number][0]), 2);
        const fill = `var(--s${rank(Number(hsp.bits))})`;
        link.append(draw("rect", { x: x(ends[number][0]), y, width, height: 6, rx: 1.5, fill }));
      });
      svg.append(link);
    });
    return svg;
  }

  function key() {
    const entries = WORDS.map((words, number) => {
      const entry = make("li", "");
      entry.append(make("i", "", { class: `s${number}` }), words + (number ? "" : " bits"));
      return entry;
    });
    return make("ul", "", { class: "key" }, entries);
  }

  const HEADS = ["Bits", "E-value", "Identical", "Of query", "HSPs", "Length"];

  function table(query) {
    const words = about.taxa ? ["Subject", "Organism"] : ["Subject"];
    const heads = words.map((head) => make("th", head, { scope: "col" }));
    heads.push(...HEADS.map((head) => make("th", head, { scope: "col", class: "number" })));
    const rows = query.hits.map((hit, row) => {
      const best = hit.hsps[0];
      const identical = ((100 * best.identical) / best.columns).toFixed(1) + " %";
      const title = make("td", "", {}, [make("a", hit.title || "(no name)", { href: "#hit" + row })]);
      const told = about.taxa ? [title, make("td", hit.organism, { class: "organism" })] : [title];
      const numbers = [best.bits, best.evalue, identical, hit.cover + " %", hit.all, whole(hit.length)];
      return make("tr", "", {}, [...told, ...numbers.map((number) => make("td", number, { class: "number" }))]);
    });
    const parts = [make("thead", "", {}, [make("tr", "", {}, heads)]), make("tbody", "", {}, rows)];
    return make("div", "", { class: "scroll" }, [make("table", "", {}, parts)]);
  }

  /** How many of the subjects are of each organism, the most first. */
  function organisms(query) {
    const counts = new Map();
    for (const { organism } of query.hits) counts.set(organism, (counts.get(organism) || 0) + 1);
    const all = [...counts].sort((one, other) => other[1] - one[1]);
    const told = all.slice(0, ORGANISMS).map(([organism, count]) => `${organism || "not known"} (${whole(count)})`);
    const more = all.length > told.length ? ` and ${all.length - told.length} more` : "";
    return make("p", `Subjects by organism: ${told.join(", ")}${more}`);
  }

  /** What stands between two letters. */
  function between(one, other) {
    if (one === other) return about.bases ? "|" : one;
    return positive.has(one + other) ? "+" : " ";
  }

  function lines(hsp) {
    const middle = [...hsp.letters[0]].map((letter, at) => between(letter, hsp.letters[1][at])).join("");
    const width = Math.max(...hsp.query, ...hsp.subject).toString().length;
    const next = [hsp.query[0], hsp.subject[0]];
    const text = [];
    for (let start = 0; start < middle.length; start += COLUMNS) {
      const line = (side) => {
        const part = hsp.letters[side].slice(start, start + COLUMNS);
        const first = next[side], step = hsp.steps[side];
        next[side] += step * part.replaceAll("-", "").length;
        const head = ["Query", "Sbjct"][side] + "  " + first.toString().padEnd(width);
        return `${head}  ${part}  ${next[side] - Math.sign(step)}`;
      };
      text.push(line(0), " ".repeat(width + 9) + middle.slice(start, start + COLUMNS), line(1), "");
    }
    return text.join("\n");
  }

  /** A part of the columns, in percent: 100 is all of them. */
  function share(part, hsp) {
    const percent = Math.round((100 * part) / hsp.columns);
    return `${part}/${hsp.columns} (${part < hsp.columns ? Math.min(percent, 99) : 100} %)`;
  }

  function alignments(query) {
    const spelt = query.hits.findIndex((hit) => !hit.hsps[0].letters);
    return query.hits.flatMap((hit, row) => {
      const parts = [make("h3", hit.title || "(no name)", { id: "hit" + row })];
      if (row === spelt) parts.unshift(make("p", `The page has letters of the first ${spelt} subjects.`));
      for (const hsp of hit.hsps) {
        const positives = about.bases ? "" : `, positive ${share(hsp.positive, hsp)}`;
        const shares = `identical ${share(hsp.identical, hsp)}${positives}, gaps ${share(hsp.gaps, hsp)}`;
        const directions = hsp.directions ? `, ${hsp.directions}` : "";
        parts.push(make("p", `${hsp.bits} bits (${hsp.score}), E ${hsp.evalue}, ${shares}${directions}`));
        if (hsp.letters) parts.push(make("pre", lines(hsp)));
      }
      return parts;
    });
  }

  function show(number) {
    const query = queries[number], main = byId("main");
    const more = query.all > query.hits.length ? `; the first ${query.hits.length} are here` : "";
    const found = query.all ? subjects(query.all) + more : "no hits found";
    main.replaceChildren(make("h2", query.title || "(no name)", { id: "name" }));
    main.append(make("p", `${whole(query.length)} ${about.units}, ${found}`));
    if (query.hits.length) {
      const taxa = about.taxa ? [organisms(query)] : [];
      main.append(key(), picture(query), ...taxa, table(query), ...alignments(query));
    }
    for (const button of byId("list").querySelectorAll("button")) {
      if (Number(button.dataset.query) === number) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  function list() {
    const wanted = byId("wanted").value.toLowerCase();
    const has = (number) => queries[number].title.toLowerCase().includes(wanted);
    const numbers = queries.map((_, number) => number).filter(has);
    const entries = numbers.slice(0, MOST).map((number) => {
      const query = queries[number], best = query.hits[0];
      const words = best ? `${subjects(query.all)}, best E ${best.hsps[0].evalue}` : "no hits found";
      const attributes = { type: "button", "data-query": number };
      const button = make("button", name(query.title), attributes, [make("small", words)]);
      button.addEventListener("click", () => show(number));
      return make("li", "", {}, [button]);
    });
    byId("list").replaceChildren(...entries);
    byId("shown").textContent = `${whole(entries.length)} of ${whole(queries.length)} queries`;
    if (numbers.length) show(numbers[0]);
  }

  byId("about").textContent = about.words;
  byId("halves").hidden = false;
  byId("wanted").addEventListener("input", list);
  list();
})();
