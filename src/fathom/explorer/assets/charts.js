// Charts, by Observable Plot. Each has a text alternative; filled and hollow marks differ in grey too.
"use strict";

Fathom.charts = (() => {
  const { element } = Fathom;
  const style = { background: "transparent", color: "inherit", fontFamily: "inherit", fontSize: "13px" };
  const accent = "var(--accent)";
  const faint = "var(--faint)";

  const describe = (svg, text) => {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", text);
    svg.removeAttribute("aria-describedby");
    // Plot names its groups of marks for those who read marks; the picture is read as a whole
    svg.querySelectorAll("[aria-label]").forEach((mark) => mark.removeAttribute("aria-label"));
    return svg;
  };

  // Ticks at 1, 2 and 5 times powers of ten, or at the powers alone where many would stand.
  const ticks = (low, high, few) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      for (const times of few && high / low > 60 ? [1] : [1, 2, 5]) found.push(times * 10 ** power);
    }
    const inside = found.filter((value) => value >= low && value <= high);
    return inside.length > 1 ? inside : d3.ticks(low, high, few ? 3 : 5); // values so close want others
  };

  // As many ticks as have room for what stands below them.
  const spaced = ([low, high], isLog, room, show) => {
    const along = isLog ? Math.log : Number;
    const place = (value) => (room * (along(value) - along(low))) / (along(high) - along(low));
    const half = (value) => Fathom.measure([show(value)], 13, 400) / 2 + 2;
    const fits = (at) => at.every((value, number) => !number || place(value) - half(value) >= place(at[number - 1]) + half(at[number - 1]));
    const sets = isLog ? [ticks(low, high, false), ticks(low, high, true)] : [];
    for (let count = isLog ? 3 : 8; count > 1; count -= 1) sets.push(d3.ticks(low, high, count));
    const several = sets.filter((at) => at.length > 1);
    return several.find(fits) || several.at(-1);
  };

  // The room that names need in bold, with that between them and the chart.
  const widest = (names) => Fathom.measure(names) + 20;

  // A name in as many lines as it needs to fit.
  const fold = (name, width) => {
    const lines = [""];
    for (const piece of Fathom.pieces(name)) {
      if (lines.at(-1) && Fathom.measure([lines.at(-1) + piece]) > width) lines.push("");
      lines.push(lines.pop() + piece);
    }
    return lines;
  };

  // Names of models beside their marks, or above them where the chart is narrow.
  const names = (rows, narrow, more = {}) =>
    Plot.text(rows, {
      y: "model", text: "model", frameAnchor: "left", textAnchor: narrow ? "start" : "end",
      dx: narrow ? 0 : -12, dy: narrow ? -12 : 0, fill: "currentColor", ...more,
    });

  // A grid and an axis beneath it; where it is given their places, of whole numbers or as `show` writes them.
  const across = (at, { show = (value) => Fathom.whole(value), ...others } = {}) => [
    Plot.gridX(at, { strokeOpacity: 0.15 }),
    Plot.axisX(at, { label: null, ...(at ? { text: show } : others) }),
  ];

  const framed = (label, parts) => element("div", { class: "chart" }, parts, element("p", { class: "axis" }, label));

  // The ends of an axis, a little wider than what stands there: of ranks by factors, else by differences.
  const stretch = (data, narrow, isLinear, marked = []) => {
    const low = Math.min(...data.map((each) => each.low), ...marked);
    const high = Math.max(...data.map((each) => each.high), ...marked);
    if (isLinear) {
      const room = Math.max(high - low, Math.abs(high) / 50, 1e-6) * (narrow ? 0.1 : 0.06);
      return { type: "linear", domain: [low - room, high + room] };
    }
    const least = Math.max(1, low);
    const spread = Math.max(high / least, 1.2) ** (narrow ? 0.1 : 0.06);
    return { type: "log", domain: [least / spread, high * spread] };
  };

  // Lines at values with what they mean, above them; the values alone where that has no room.
  const landmarks = (lines, [low, high], room) => {
    const named = lines.map(([value, meaning]) => ({ value, text: `${value ? Fathom.score(value) : 0}: ${meaning}` }));
    const spread = (room * (lines.at(-1)[0] - lines[0][0])) / (high - low);
    const fits = lines.length < 2 || Fathom.measure([named.map((each) => each.text).join("   ")], 13, 400) < spread;
    return [
      ...named.map(({ value }) => Plot.ruleX([value], { stroke: "currentColor", strokeWidth: 1.5, strokeOpacity: 0.7, strokeDasharray: value ? "5 4" : null })),
      ...named.map((each, place) => Plot.text([each], {
        x: "value", text: ({ value, text }) => (fits ? text : text.split(":")[0]), frameAnchor: "top", dy: -13, dx: fits && !place ? -4 : fits ? 4 : 0,
        textAnchor: fits ? (place ? "end" : "start") : "middle", fill: "currentColor",
      })),
    ];
  };

  // Models by knowledge, rank or score with intervals, best on top; a bar joins models that are not significantly different.
  const ranking = (rows, { label, width, leaders, text, lines = [] }) => {
    const models = rows.map(([model]) => model);
    const data = rows.map(([model, value, low, high, letters]) => ({
      model, value, low: low ?? value, high: high ?? value, letters, leads: leaders.has(model),
    }));
    const every = rows.flatMap(([, , , , letters]) => letters.match(/\(\d+\)|./g) || []);
    // a letter of one model alone joins nothing
    const groups = [...new Set(every)].filter((group) => every.indexOf(group) !== every.lastIndexOf(group));
    const step = width < 500 ? Math.min(15, 90 / groups.length) : 15;
    const barWidth = groups.length ? Math.ceil(groups.length * step) + 14 : 0;
    const left = widest(models.map(Fathom.short));
    const narrow = width - barWidth - left < 260;
    const folded = new Map(models.map((model) => [model, narrow ? fold(Fathom.short(model), width - barWidth - 8) : [Fathom.short(model)]]));
    const deep = Math.max(...[...folded.values()].map((each) => each.length));
    const top = lines.length ? 24 : 4;
    const height = data.length * (narrow ? 31 + 15 * deep : 32) + 30 + top;
    const shared = { height, marginTop: top, marginBottom: 30 };
    const y = { domain: models, type: "point", padding: 0.6, axis: null };
    const drop = narrow ? 9 : 0;
    const { type, domain } = stretch(data, narrow, !Fathom.isRank(), lines.map(([value]) => value));
    const isCounted = Fathom.isKnowledge() || Fathom.isRank();
    const [start, end] = [narrow ? 6 : left, isCounted ? 44 : 58];
    const show = (value) => (isCounted ? Fathom.whole(value) : Fathom.score(value).replace(".0 %", " %"));
    const room = width - barWidth - start - end;
    // a text stays legible on a line
    const halo = lines.length ? { stroke: "var(--page)", strokeWidth: 5 } : {};
    const marks = [
      ...across(spaced(domain, type === "log", room, show), { show }),
      ...(lines.length ? landmarks(lines, domain, room) : []),
      Plot.ruleY(data, {
        y: "model", x1: "low", x2: "high", strokeWidth: 2.5, dy: drop,
        stroke: (each) => (each.leads ? accent : "currentColor"), strokeOpacity: 0.75,
      }),
      Plot.dot(data, {
        x: "value", y: "model", r: 5.5, dy: drop, strokeWidth: 2, title: "model",
        fill: (each) => (each.leads ? accent : "var(--page)"),
        stroke: (each) => (each.leads ? accent : "currentColor"),
      }),
      ...[true, false].map((leads) => names(data.filter((each) => each.leads === leads), narrow, {
        text: (each) => folded.get(each.model).join("\n"), fontWeight: leads ? 700 : 400, ...halo, ...(narrow ? { lineAnchor: "bottom", lineHeight: 1.15, dy: -5 } : {}),
      })),
      Plot.text(data, {
        x: "high", y: "model", text: (each) => Fathom.score(each.value), textAnchor: "start", dx: 10, dy: drop, fill: "currentColor", ...halo,
      }),
    ];
    const main = Plot.plot({
      ...shared, width: width - barWidth, marginLeft: start, marginRight: end, style, y, marks,
      x: { type, domain, label: null },
    });
    // one picture: the bars stay beside the models at every size
    const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) whole.setAttribute(key, value);
    whole.append(main);
    if (groups.length) {
      const points = data.flatMap((each) =>
        groups.filter((group) => each.letters.includes(group)).map((group) => ({ model: each.model, group })),
      );
      const bars = Plot.plot({
        ...shared, width: barWidth, marginLeft: 8, marginRight: 6, style, y,
        x: { domain: groups, type: "point", padding: 0.5, axis: null },
        marks: [
          Plot.line(points, { x: "group", y: "model", z: "group", strokeWidth: 3, dy: drop, stroke: "currentColor", strokeOpacity: 0.55 }),
          Plot.dot(points, { x: "group", y: "model", r: 4, dy: drop, fill: "currentColor" }),
          step > 11 ? Plot.text(groups, { x: (each) => each, text: (each) => each, frameAnchor: "bottom", dy: 16 }) : null,
        ],
      });
      bars.setAttribute("aria-hidden", "true");
      bars.setAttribute("x", width - barWidth);
      whole.append(bars);
    }
    return framed(label, [describe(whole, text)]);
  };

  // Where each name stands beside its dot: the nearest place that is inside and free, in pixels; null where none is near.
  const FAR = 36;
  const placeNames = (dots, { left, right, top, bottom }) => {
    const taken = dots.flatMap(({ x, y, low, high }) => [[x - 7, x + 7, y - 7, y + 7], [x - 2, x + 2, high, low]]);
    const isFree = (box) => box[0] >= left && box[1] <= right && box[2] >= top && box[3] <= bottom
      && taken.every((other) => box[1] <= other[0] || other[1] <= box[0] || box[3] <= other[2] || other[3] <= box[2]);
    return dots.map(({ name: own, x, y }) => {
      const long = Fathom.measure([own], 13, 400);
      const inside = Math.max(left, Math.min(x - long / 2, right - long));
      const shifts = d3.range(0, FAR, 7).flatMap((shift) => (shift ? [-shift, shift] : [0]));
      const found = shifts.flatMap((shift) => (Math.abs(shift) < 15 ? [x + 10, x - 10 - long] : [inside, x + 10, x - 10 - long])
        .map((start) => [start, start + long, y + shift - 8, y + shift + 8]));
      const box = found.find(isFree);
      if (!box) return null;
      taken.push(box);
      return { name: own, x: box[0], y: (box[2] + box[3]) / 2, from: [x, y], end: Math.max(box[0], Math.min(x, box[1])) };
    });
  };

  // Knowledge in bits by bits per byte, which grow to the left: the best stand at the top right.
  const fluency = (points, { width: wide, label, text }) => {
    const width = Math.min(wide, LARGEST);
    const height = Math.round(Math.max(250, 0.7 * width));
    const [left, right, top, bottom] = [44, width - 8, 10, height - 30];
    const bytes = points.map((each) => ({ low: each.bytes[0], high: each.bytes[0] }));
    const [least, most] = stretch(bytes, true, true).domain;
    const { domain } = stretch(points, false, true, [0]);
    const x = d3.scaleLinear([most, least], [left, right]);
    const y = d3.scaleLinear(domain, [bottom, top]);
    const dots = points.map((each) => ({ name: Fathom.short(each.model), x: x(each.bytes[0]), y: y(each.value), low: y(each.low), high: y(each.high) }));
    const whole = placeNames(dots, { left, right, top, bottom });
    // many or long names stand in a list, best first
    const hasNames = whole.every(Boolean);
    const numbered = dots.map((each, number) => ({ ...each, name: String(number + 1) }));
    const named = hasNames ? whole : placeNames(numbered, { left, right, top, bottom }).filter(Boolean);
    const ends = { x: (each) => each.bytes[0], stroke: "currentColor" };
    const svg = Plot.plot({
      width, height, marginLeft: left, marginRight: width - right, marginTop: top, marginBottom: height - bottom, style,
      x: { domain: [most, least], label: null }, y: { domain, label: null },
      marks: [
        Plot.gridY({ ticks: 5, strokeOpacity: 0.15 }), Plot.axisY({ ticks: 5, label: null }),
        ...across(spaced([least, most], false, right - left, (value) => Fathom.plain(value)), { show: (value) => Fathom.plain(value) }),
        Plot.ruleY([0], { stroke: "currentColor", strokeWidth: 1.5, strokeOpacity: 0.7 }),
        Plot.link(named.filter((each) => Math.abs(each.y - each.from[1]) > 16), {
          x1: (each) => x.invert(each.from[0]), y1: (each) => y.invert(each.from[1]), x2: (each) => x.invert(each.end), y2: (each) => y.invert(each.y),
          stroke: "currentColor", strokeOpacity: 0.35,
        }),
        Plot.ruleX(points, { ...ends, y1: "low", y2: "high", strokeWidth: 2, strokeOpacity: 0.6 }),
        Plot.dot(points, { ...ends, y: "value", r: 5, title: "model", fill: (each) => (each.low > 0 ? accent : "var(--page)"), strokeWidth: 2 }),
        Plot.text(named, {
          x: (each) => x.invert(each.x), y: (each) => y.invert(each.y), text: "name", textAnchor: "start", fill: "currentColor", stroke: "var(--page)", strokeWidth: 4,
        }),
      ],
    });
    const list = hasNames ? null : element("ol", { class: "legend" }, points.map(({ model }) => element("li", { title: model }, Fathom.breakable(Fathom.short(model)))));
    return element("div", {}, framed(label, [describe(svg, text)]), list);
  };

  const LARGEST = 520;

  const unit = () => (Fathom.isKnowledge() ? "bits" : Fathom.what());

  // Whether two names have room at the axes; else they stand in the caption.
  const fits = (first, second, width) => Fathom.measure([first, second].map((name) => `↑ ${unit()} of ${name} →`), 13, 400) < Math.min(width, LARGEST) - 16;

  // One dot for each keyword: values of two models; ranks on logarithmic axes.
  const scatter = (points, { first, second, width, text }) => {
    const size = Math.min(width, LARGEST);
    const [right, up] = fits(first, second, width) ? [first, second] : ["the first", "the second"];
    const values = points.flatMap((each) => [each.x, each.y]);
    const [knows, isLog] = [Fathom.isKnowledge(), Fathom.isRank()];
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const margin = 0.05 * (most - least) || 0.5;
    const zero = knows ? [0] : [];
    const domain = isLog ? [Math.max(1, least / 1.15), most * 1.15] : [Math.min(...zero, least) - margin, Math.max(...zero, most) + margin];
    const at = isLog ? ticks(...domain, size < 420) : d3.ticks(...domain, 6);
    const axis = { text: (value) => (knows ? String(value) : isLog ? Fathom.whole(value) : Fathom.score(value)) }; // a format would be asked for some of the ticks only
    const [across, along] = [`${unit()} of ${right} →`, `↑ ${unit()} of ${up}`];
    const svg = Plot.plot({
      width: size, height: size, marginLeft: 56, marginBottom: 46, marginRight: 12, style,
      x: { type: isLog ? "log" : "linear", domain, label: across },
      y: { type: isLog ? "log" : "linear", domain, label: along },
      marks: [
        Plot.axisX(at, { ...axis, label: across }),
        Plot.axisY(at, { ...axis, label: along }),
        ...(knows ? [Plot.ruleX([0], { strokeOpacity: 0.3 }), Plot.ruleY([0], { strokeOpacity: 0.3 })] : []),
        Plot.link([0], { x1: domain[0], y1: domain[0], x2: domain[1], y2: domain[1], stroke: "currentColor", strokeDasharray: "4 4", strokeOpacity: 0.6 }),
        Plot.dot(points, {
          x: "x", y: "y", r: (each) => Math.sqrt(each.pairs) + 1.5, stroke: "currentColor", strokeOpacity: 0.7,
          fill: (each) => (each.lead >= 0 ? accent : "transparent"), fillOpacity: 0.55,
          title: (each) => `${each.keyword}\n${Fathom.score(each.x)} and ${Fathom.score(each.y)}${knows ? " bits" : ""}, ${Fathom.plural(each.pairs, "pair")}`,
          tip: { fill: "var(--page)", stroke: faint },
        }),
      ],
      r: { type: "identity" },
    });
    return describe(svg, text);
  };

  return { ranking, fluency, scatter, fits, parts: { describe, style, accent, faint, ticks, widest, names, across, framed } };
})();
