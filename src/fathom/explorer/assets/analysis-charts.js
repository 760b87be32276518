// Charts of a run's analyses. Marks differ by letter, shape or dash too, so that they can be read in grey.
"use strict";

Fathom.analysisCharts = (() => {
  const { describe, style, accent, faint, ticks, widest, names, across, framed } = Fathom.charts.parts;
  const { element } = Fathom;
  const COLOURS = 6;
  const DASHES = [null, "7 4", "2 3", "9 3 2 3"];
  const percent = (value) => `${Math.round(value * 100)} %`;

  // Letters of one value stand side by side as one label.
  const join = (marks) => {
    const joined = new Map();
    for (const mark of marks) {
      const key = mark.base ? "base" : `${mark.value.toFixed(4)} ${mark.apart}`;
      const before = joined.get(key);
      if (!before) joined.set(key, { ...mark });
      else if (!before.glyph.split(" ").includes(mark.glyph)) before.glyph += ` ${mark.glyph}`;
      if (before) before.title += `\n${mark.title}`;
    }
    return [...joined.values()].map((mark) => ({ ...mark, glyph: /^(\S )*\S$/.test(mark.glyph) ? mark.glyph.replaceAll(" ", "") : mark.glyph }));
  };

  // Labels above each other: each gets the first line in which it does not touch another; none leaves the chart.
  const stack = (marks, x, size, [start, end]) => {
    const ends = [];
    for (const mark of marks.sort((a, b) => Number(b.base) - Number(a.base) || a.value - b.value)) {
      const half = mark.base ? 7 : (mark.glyph.length * 8 + 4) / 2;
      const at = x(mark.value);
      mark.anchor = at - half < start - 8 ? "start" : at + half > end + 20 ? "end" : "middle";
      const shift = { start: half - 4, middle: 0, end: 4 - half }[mark.anchor];
      // the interval of a dot is drawn, so that nothing may stand on it
      const [from, to] = [x(mark.base ? mark.low ?? mark.value : mark.value) - half + shift, x(mark.base ? mark.high ?? mark.value : mark.value) + half + shift];
      let line = ends.findIndex((taken) => taken.every(([low, high]) => to <= low || from >= high));
      if (line < 0) line = ends.push([]) - 1;
      ends[line].push([from, to]);
      mark.line = line;
    }
    return Math.max(1, ends.length) * size;
  };

  // Shares of right answers: a band for each model; a dot as shipped, a letter for each other way of asking.
  const answers = (bands, { width, chance, label, text }) => {
    const size = 15;
    const left = widest(bands.map(({ model }) => model));
    const narrow = width - left < 300;
    const [start, end] = [narrow ? 14 : left + 8, width - 22];
    const all = bands.flatMap(({ marks }) => marks);
    const most = Math.min(1, Math.max(0.4, ...all.map(({ value, high }) => Math.max(value, high ?? value))) * 1.06);
    const x = (value) => start + (value / most) * (end - start);
    let y = 6;
    const rows = bands.map(({ model, marks: every }) => {
      const marks = join(every);
      const head = narrow ? 18 : 4;
      const height = Math.max(head + stack(marks, x, size, [start, end]) + 6, 30);
      const row = { model, marks, top: y, height, name: narrow ? y + 10 : y + height / 2, base: y + head + size / 2 };
      y += height;
      return row;
    });
    const points = rows.flatMap(({ base, marks }) => marks.map((mark) => ({ ...mark, y: base + mark.line * size })));
    const plain = points.filter((point) => point.base);
    const glyph = (apart, anchor) =>
      Plot.text(points.filter((point) => !point.base && point.apart === apart && point.anchor === anchor), {
        x: "value", y: "y", text: "glyph", textAnchor: anchor, dx: { start: -4, middle: 0, end: 4 }[anchor], fontWeight: apart ? 800 : 400, fill: apart ? accent : "currentColor", stroke: "var(--page)",
        strokeWidth: 3, title: "title",
      });
    const svg = Plot.plot({
      width, height: y + 30, marginTop: 0, marginBottom: 30, marginLeft: start, marginRight: width - end, style: { ...style, fontSize: "13px" },
      x: { domain: [0, most], label: null },
      y: { type: "linear", domain: [0, y], range: [0, y], axis: null },
      marks: [
        Plot.ruleY(rows.slice(1), { y: "top", stroke: "var(--line)" }),
        Plot.axisX({ ticks: 5, tickFormat: percent, label: null }),
        Plot.ruleX([chance], { stroke: "currentColor", strokeDasharray: "5 4", strokeOpacity: 0.8 }),
        Plot.link(plain.filter((point) => point.low !== null), { x1: "low", x2: "high", y1: "y", y2: "y", stroke: "currentColor", strokeWidth: 2, strokeOpacity: 0.55 }),
        Plot.dot(plain, { x: "value", y: "y", r: 5, fill: "currentColor", title: "title" }),
        ...[false, true].flatMap((apart) => ["start", "middle", "end"].map((anchor) => glyph(apart, anchor))),
        names(rows, narrow, { y: "name", dx: narrow ? -8 : -20, dy: 0, stroke: "var(--page)", strokeWidth: 4 }),
      ],
    });
    return framed(label, describe(svg, text));
  };

  // What stands before a question: a shape and a colour each.
  const SHAPES = [["circle", "var(--s0)"], ["square", "var(--s1)"], ["triangle", "var(--s3)"]];

  const shape = (place) => {
    const [symbol, fill] = SHAPES[place % SHAPES.length];
    const svg = drawn("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", class: "sample", "aria-hidden": "true" });
    svg.append(drawn("path", { d: d3.symbol({ circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle }[symbol], 70)(), fill }));
    return svg;
  };

  // Scores with intervals: a band for each model, a line in it for each way of asking.
  const scores = (bands, { width, most, chance, show, label, text }) => {
    const size = 17;
    const left = widest(bands.map(({ model }) => model));
    const narrow = width - left < 260;
    const [start, end] = [narrow ? 14 : left + 8, width - 26];
    let y = 4;
    const rows = bands.map(({ model, marks }) => {
      const head = narrow ? 18 : 4;
      const row = { model, marks, top: y, name: narrow ? y + 10 : y + head + (marks.length * size) / 2, base: y + head + size / 2 };
      y += head + marks.length * size + 6;
      return row;
    });
    const points = rows.flatMap(({ base, marks }) => marks.map((mark, line) => ({ ...mark, y: base + line * size })));
    const known = points.filter(({ value }) => value !== null);
    const look = (each) => SHAPES[each.place % SHAPES.length];
    const svg = Plot.plot({
      width, height: y + 28, marginTop: 0, marginBottom: 28, marginLeft: start, marginRight: width - end, style,
      x: { domain: [0, most], label: null },
      y: { type: "linear", domain: [0, y], range: [0, y], axis: null },
      symbol: { type: "identity" },
      marks: [
        Plot.ruleY(rows.slice(1), { y: "top", stroke: "var(--line)" }),
        Plot.axisX({ ticks: 5, tickFormat: show, label: null }),
        chance === null ? null : Plot.ruleX([chance], { stroke: "currentColor", strokeDasharray: "5 4", strokeOpacity: 0.8 }),
        Plot.link(known.filter(({ low }) => low !== null), { x1: "low", x2: "high", y1: "y", y2: "y", stroke: (each) => look(each)[1], strokeWidth: 2.2, strokeOpacity: 0.75 }),
        Plot.dot(known, { x: "value", y: "y", r: 4.6, symbol: (each) => look(each)[0], fill: (each) => look(each)[1], title: "title" }),
        names(rows, narrow, { y: "name", dx: narrow ? -8 : -20, dy: 0, stroke: "var(--page)", strokeWidth: 4 }),
      ],
    });
    return framed(label, describe(svg, text));
  };

  // Moves labels apart, in order of height.
  const separate = (labels, gap, top, bottom) => {
    labels.sort((a, b) => a.at - b.at);
    labels.forEach((each, place) => (each.to = Math.max(each.at, place ? labels[place - 1].to + gap : top)));
    for (let place = labels.length - 1, limit = bottom; place >= 0; place -= 1) {
      labels[place].to = Math.min(labels[place].to, limit);
      limit = labels[place].to - gap;
    }
    return labels;
  };

  // twenty-four that differ, the neighbours of a list in grey too
  const look = (place) => ({ stroke: `var(--s${place % COLOURS})`, strokeDasharray: DASHES[(place + Math.floor(place / 12)) % DASHES.length] });

  const drawn = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
    return made;
  };

  // A sample of a line, for the list of names.
  const sample = (place) => {
    const { stroke, strokeDasharray } = look(place);
    const svg = drawn("svg", { width: 34, height: 10, class: "sample", "aria-hidden": "true" });
    svg.append(drawn("line", { x1: 0, x2: 34, y1: 5, y2: 5, "stroke-width": 2.5, "stroke-dasharray": strokeDasharray, stroke }));
    return svg;
  };

  // A line for each model over its layers; names stand at the ends, or as numbers of a list where it is narrow.
  const lines = (series, { width, label, log, text }) => {
    const named = width - widest(series.map(([model]) => model)) > 420;
    const right = named ? widest(series.map(([model]) => model)) + 30 : 54;
    const height = Math.max(300, series.length * 16 + 60);
    const [marginTop, marginBottom, marginLeft] = [14, 42, 62];
    const points = series.flatMap(([model, found]) =>
      found.filter(([, value]) => value !== null && (!log || value > 0)).map(([layer, value, low, high]) => ({ model, layer, value, low: low ?? value, high: high ?? value })),
    );
    const bands = series.length <= COLOURS;
    const values = points.flatMap((each) => (bands ? [each.value, each.low, each.high] : [each.value]));
    const last = Math.max(...points.map(({ layer }) => layer));
    const domain = log ? [Math.max(1, Math.min(...values) / 1.1), Math.max(...values) * 1.1] : [Math.min(0, ...values), Math.max(...values) * 1.05 || 1];
    const scale = log ? Math.log : (value) => value;
    const place = (value) => marginTop + (height - marginTop - marginBottom) * (1 - (scale(value) - scale(domain[0])) / (scale(domain[1]) - scale(domain[0])));
    const ends = series.map(([model], number) => {
      const own = points.filter((each) => each.model === model);
      const end = own.reduce((best, each) => (each.layer >= best.layer ? each : best), own[0]);
      return end && { model, number, layer: end.layer, value: end.value, at: place(end.value) };
    });
    const labels = separate(ends.filter(Boolean), 15, marginTop + 4, height - marginBottom);
    const at = log ? ticks(...domain, false) : undefined;
    const marks = series.flatMap(([model], number) => {
      const own = points.filter((each) => each.model === model);
      const { stroke, strokeDasharray } = look(number);
      return [
        bands ? Plot.areaY(own, { x: "layer", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.13 }) : null,
        Plot.line(own, { x: "layer", y: "value", stroke, strokeDasharray, strokeWidth: 2.2 }),
      ];
    });
    const svg = Plot.plot({
      width, height, marginTop, marginBottom, marginLeft, marginRight: right, style,
      x: { domain: [0, last], label: null },
      y: { type: log ? "log" : "linear", domain, label: null },
      marks: [
        Plot.gridY(at, { strokeOpacity: 0.15 }),
        Plot.axisX({ ticks: Math.min(last, width < 500 ? 5 : 12), tickFormat: (value) => (Number.isInteger(value) ? String(value) : ""), label: "layer (0: embedding) →" }),
        Plot.axisY(at, { label: null, ...(at ? { text: (value) => Fathom.whole(value) } : {}) }),
        ...marks,
        bands ? Plot.dot(points, { x: "layer", y: "value", r: 2.6, fill: (each) => `var(--s${series.findIndex(([model]) => model === each.model) % COLOURS})` }) : null,
        ...labels.map((each) =>
          Plot.text([each], {
            x: last, y: "value", text: [named ? each.model : String(each.number + 1)], textAnchor: "start", dx: 28, dy: each.to - each.at, fill: "currentColor",
          }),
        ),
      ],
    });
    const across = (layer) => marginLeft + (width - marginLeft - right) * (layer / Math.max(1, last));
    for (const { layer, at: from, to, number } of labels) {
      svg.append(drawn("line", { x1: across(layer) + 5, y1: from, x2: across(last) + 25, y2: to, stroke: look(number).stroke, "stroke-opacity": 0.7 }));
    }
    const list = named ? null : element("ol", { class: "legend" }, series.map(([model], number) => element("li", {}, sample(number), " ", Fathom.breakable(model))));
    return element("div", { class: "chart" }, element("p", { class: "axis" }, label), describe(svg, text), list);
  };

  // Scores before and after: hollow and filled, joined by an arrow; best after on top.
  const changes = (rows, { width, label, log, text }) => {
    const left = widest(rows.map(({ model }) => model));
    const narrow = width - left < 320;
    const height = rows.length * (narrow ? 44 : 30) + 36;
    const drop = narrow ? 9 : 0;
    const values = rows.flatMap(({ before, after }) => [before, after]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const isLog = log && low > 0;
    const spread = isLog ? Math.max(high / low, 1.2) ** 0.07 : (high - low) * 0.07 || Math.abs(high) * 0.1 || 1;
    const domain = isLog ? [low / spread, high * spread] : [low - spread, high + spread];
    const at = isLog ? ticks(...domain, narrow) : undefined;
    const svg = Plot.plot({
      width, height, marginTop: 4, marginBottom: 30, marginLeft: narrow ? 8 : left, marginRight: 66, style,
      x: { type: isLog ? "log" : "linear", domain, label: null },
      y: { domain: rows.map(({ model }) => model), type: "point", padding: 0.6, axis: null },
      marks: [
        ...across(at, { ticks: narrow ? 4 : 7 }),
        Plot.arrow(rows.filter(({ before, after }) => before !== after), {
          x1: "before", x2: "after", y1: "model", y2: "model", dy: drop, stroke: "currentColor", strokeOpacity: 0.7, insetStart: 6, insetEnd: 6, headLength: 7,
        }),
        Plot.dot(rows, { x: "before", y: "model", r: 6, dy: drop, fill: "var(--page)", stroke: "currentColor", strokeWidth: 1.6 }),
        Plot.dot(rows, { x: "after", y: "model", r: 4.5, dy: drop, fill: accent }),
        names(rows, narrow),
        Plot.text(rows, { y: "model", text: "places", frameAnchor: "right", textAnchor: "start", dx: 10, dy: drop, fill: "currentColor" }),
      ],
    });
    return framed(label, describe(svg, text));
  };

  // Sentences of a domain and pairs of its benchmark on two components, whose units mean nothing.
  const map = (sentences, pairs, { width, text }) => {
    const size = Math.min(width, 560);
    const of = (kind) => sentences.filter(([, , mark]) => mark === kind);
    const dots = (data, options) => Plot.dot(data, { x: "0", y: "1", ...options });
    const svg = Plot.plot({
      width: size, height: Math.round(size * 0.8), margin: 6, inset: 8, style, x: { axis: null }, y: { axis: null },
      marks: [
        Plot.frame({ inset: 0, stroke: faint, strokeOpacity: 0.6 }),
        dots(of(0), { r: 1.8, fill: "currentColor", fillOpacity: 0.4 }),
        dots(of(1), { r: 2.6, symbol: "times", stroke: "var(--warm)", strokeWidth: 1.2 }),
        dots(of(2), { r: 4.6, symbol: "times", stroke: "var(--warm)", strokeWidth: 2 }),
        dots(pairs, { r: 3, fill: accent, stroke: "var(--page)", strokeWidth: 0.7 }),
      ],
    });
    return describe(svg, text);
  };

  return { answers, scores, shape, lines, changes, map };
})();
