// Multiple choice, layers, tuning and coverage: drawn where the run has their tables.
"use strict";

Fathom.analyses = (() => {
  const { element, fill, plain, plural, rank, select, wide, numbers, interval, model: name } = Fathom;
  const charts = Fathom.analysisCharts;
  const CHANCE = 0.25;
  const percent = (value) => (value === null ? "–" : `${(value * 100).toFixed(1)} %`);
  const signed = (value) => (value === null ? "" : `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value * 100).toFixed(1)}`);
  // what the address names, else the first
  const pick = (key, ids, first = ids[0]) => (ids.includes(Fathom.state[key]) ? Fathom.state[key] : ids.includes(first) ? first : ids[0]);

  // Multiple choice

  const FACTORS = {
    examples: ["right options of the examples moved or shuffled", "A to D: the right option of every example stands at that letter; s: options of the examples shuffled"],
    options: ["right options of the questions moved or shuffled", "A to D: the right option stands at that letter; s: options shuffled"],
    orders: ["orders of the options", "+1 to +3: options moved on by as many places"],
    styles: ["styles of the prompt", ""],
  };
  const WAYS = { letter: "the most likely letter", text: "the letter in what a model writes" };

  const glyph = (variation) => {
    const [kind, ...rest] = variation.split("-");
    if (rest[0] === "shuffled") return "s";
    return `${kind === "order" ? "+" : ""}${rest.join(" ").slice(0, 2)}`;
  };

  const choices = async (place) => {
    const { items, questions, rows, factors, verdicts } = (await Fathom.read("analyses"))["multiple-choice"];
    const views = [];
    for (const factor of factors) {
      for (const way of Object.keys(WAYS)) if (rows.some((row) => row[1] === way && row[2] === factor)) views.push(`${factor}.${way}`);
    }
    const view = pick("x", views, views.find((each) => each.startsWith("options.")));
    const [factor, way] = (view || ".letter").split(".");
    const some = choose(rows, factor, way);
    const models = [...new Set(some.map(([model]) => model))];
    const bands = models.map((model) => ({ model: Fathom.short(model), marks: some.filter((row) => row[0] === model).map(mark) }));
    const options = views.map((each) => {
      const [what, how] = each.split(".");
      return [each, `${FACTORS[what]?.[0] || what}; answer: ${WAYS[how]}`];
    });
    const text = `Share of right answers of ${plural(models.length, "model")}, where guessing is 25 %: ${bands.map(({ model, marks }) => tell(model, marks)).join("; ")}. The table below has the same numbers.`;
    const table = Fathom.tables.plain(
      "Right answers by model and way of asking",
      [{ title: "model", head: true }, { title: "asked" }, { title: "right answers", number: true }, { title: "interval", number: true },
        { title: "change, points", number: true }, { title: "interval", number: true }],
      some.map(([model, , , variation, , value, low, high, change, changeLow, changeHigh]) => [
        { node: name(model), value: model }, spell(variation), { node: percent(value), value }, interval(low, high, percent), { node: signed(change), value: change },
        change === null ? "" : interval(changeLow, changeHigh, signed),
      ]),
      { sortable: true, hideCaption: true },
    );
    fill(
      place,
      element("p", {}, `${plural(items, "question")} with four options (${questions.join(", ")}), asked in several ways: guessing gets 25 %. A model that knows gets as many right however it is asked.`),
      views.length > 1 && element("div", { class: "controls" }, select("Asked with", options, view, (each) => Fathom.set({ x: each }))),
      element("figure", {},
        charts.answers(bands, { width: wide(place), chance: CHANCE, text, label: "right answers; dashed: guessing" }),
        element("figcaption", {}, `Dot: as shipped, with its interval. ${explain(factor, some)}Bold: its change from the dot is significant among all changes of all models; intervals hold for each alone.`),
        numbers(table)),
      judge(verdicts),
    );
  };

  // What the letters of a factor are; a style has its first two.
  const explain = (factor, rows) => {
    const styles = [...new Set(rows.filter((row) => row[2] === "styles").map((row) => row[3]))];
    const text = styles.length ? styles.map((each) => `${glyph(each)}: ${spell(each)}`).join("; ") : FACTORS[factor]?.[1];
    return text ? `${text}. ` : "";
  };

  // A factor with the baselines that it is compared with.
  const choose = (rows, factor, way) => {
    const own = rows.filter((row) => row[1] === way && (row[2] === factor || !factor));
    const baselines = new Set(own.map((row) => JSON.stringify([row[0], row[4]])));
    return rows.filter((row) => own.includes(row) || (row[1] === way && !row[2] && baselines.has(JSON.stringify([row[0], row[3]]))));
  };

  const spell = (variation) => variation.replace(/^style-/, "").replace(/^right-/, "right option at ").replace(/^order-/, "options moved by ").replaceAll("-", " ");

  const mark = ([, , factor, variation, , value, low, high, , , , apart]) => ({
    value, low, high, apart, base: !factor, glyph: glyph(variation), title: `${spell(variation)}: ${percent(value)}`,
  });

  const tell = (model, marks) => {
    const base = marks.find((each) => each.base);
    const values = marks.map(({ value }) => value);
    return `${model} ${base ? `${percent(base.value)} as shipped, ` : ""}${percent(Math.min(...values))} to ${percent(Math.max(...values))} over all`;
  };

  const judge = (verdicts) =>
    verdicts.length
      ? Fathom.tables.plain("What is behind the answers, over all orders of the options", [{ title: "model", head: true }, { title: "answer" }, { title: "finding" }],
        verdicts.map(([model, way, verdict]) => [name(model), WAYS[way] || way, verdict]))
      : null;

  // Layers

  const layers = async (place) => {
    const found = (await Fathom.read("analyses")).layers;
    const domain = Fathom.benchmark()?.domain;
    const id = pick("l", found.map((each) => each.id), found.find((each) => each.id.startsWith(`${domain}/`))?.id);
    const { title, label, log, lower, lines } = found.find((each) => each.id === id);
    const series = lines.map(([model, points]) => [Fathom.short(model), points]);
    const several = new Set(found.map((each) => each.title)).size > 1;
    const share = id.split("/")[1] === "rate";
    const show = share ? percent : log ? rank : plain;
    const depth = Math.max(...lines.flatMap(([, points]) => points.map(([layer]) => layer)));
    const at = Array.from({ length: depth + 1 }, (_, layer) => layer);
    const cell = (points, layer) => points.find((point) => point[0] === layer) || [layer, null, null, null];
    const text = `${label} by layer, ${title}: ${series.map(([model, points]) => `${model} from ${show(points[0][1])} at layer ${points[0][0]} to ${show(points.at(-1)[1])} at layer ${points.at(-1)[0]}`).join("; ")}. The table below has the same numbers.`;
    fill(
      place,
      element("p", {}, "What a model would say if it stopped at a layer. Layer 0 is the embedding, the last one the model’s own answer; shades are intervals over keywords, drawn for up to six models."),
      found.length > 1 && element("div", { class: "controls" }, select("Shown", found.map((each) => [each.id, several ? `${each.title}: ${each.label}` : each.label]), id, (each) => Fathom.set({ l: each }))),
      element("figure", {},
        charts.lines(series, { width: wide(place), log, text, label: `${label}; ${lower ? "lower" : "higher"} is better` }),
        numbers(Fathom.tables.plain(`${label} by layer`, [{ title: "model", head: true }, ...at.map((layer) => ({ title: `layer ${layer}`, number: true }))],
          lines.map(([model, points]) => [{ node: name(model), value: model }, ...at.map((layer) => {
            const [, value, low, high] = cell(points, layer);
            return { node: value === null ? "" : show(value), value, title: interval(low, high, show) || null };
          })]),
          { sortable: true, hideCaption: true }))),
    );
  };

  // Tuning

  const tuning = async (place) => {
    const { tasks, taus } = (await Fathom.read("analyses")).tuning;
    const { task, label, lower, log, rows } = tasks.find((each) => each.task === pick("n", tasks.map((one) => one.task)));
    const sign = lower ? 1 : -1;
    const known = rows.filter(([, before, after]) => before !== null && after !== null);
    const places = (column) => new Map([...known].sort((a, b) => sign * (a[column] - b[column])).map(([model], number) => [model, number + 1]));
    const [before, after] = [places(1), places(2)];
    const ordered = [...known].sort((a, b) => after.get(a[0]) - after.get(b[0]));
    const marks = ordered.map(([model, first, last]) => ({ model: Fathom.short(model), before: first, after: last, places: `${before.get(model)} → ${after.get(model)}` }));
    const text = `${task} before and after tuning, best after it first: ${marks.map((each) => `${each.model} ${plain(each.before)} to ${plain(each.after)}`).join("; ")}. The table below has the same numbers.`;
    const moved = ordered.filter(([model]) => before.get(model) !== after.get(model)).length;
    fill(
      place,
      element("p", {}, "Models before a task, and after the same short fine-tuning on its training part for all; the tuned one counts where it validates better."),
      agree(taus),
      tasks.length > 1 && element("div", { class: "controls" }, select("Task", tasks.map((each) => [each.task, each.task]), task, (each) => Fathom.set({ n: each }))),
      element("figure", {},
        charts.changes(marks, { width: wide(place), log, text, label: `${label}; further ${lower ? "left" : "right"} is better` }),
        element("figcaption", {}, `Hollow: before. Filled: after. At the right the place before and after: ${moved ? `${plural(moved, "model")} of ${marks.length} changed place.` : "no model changed its place."}`),
        numbers(Fathom.tables.plain(`${task} before and after tuning`,
          [{ title: "model", head: true }, { title: "before", number: true }, { title: "standard error", number: true }, { title: "after", number: true },
            { title: "standard error", number: true }, { title: "place before", number: true }, { title: "place after", number: true }],
          ordered.map(([model, first, last, firstError, lastError]) => [
            { node: name(model), value: model }, ...[first, firstError, last, lastError].map((value) => ({ node: plain(value), value })), before.get(model), after.get(model),
          ]),
          { sortable: true, hideCaption: true }))),
    );
  };

  const agree = (taus) =>
    taus.length > 0 && element("p", {}, `Mean Kendall’s tau between the rankings of two tasks: ${taus.map(([condition, value, low, high]) => `${condition} ${plain(value)} ${interval(low, high, plain)}`.trim()).join("; ")}.`);

  // Coverage

  const coverage = async (place) => {
    const found = (await Fathom.read("analyses")).coverage;
    const id = pick("g", found.map((each) => each.id), Fathom.benchmark()?.id);
    const { title, variant, counts, numbers: values, sentences, pairs } = found.find((each) => each.id === id);
    const [covered, gaps, large, asked] = counts;
    const all = covered + gaps + large;
    const names = (each) => `${each.title}: ${Fathom.overview.benchmarks.find((one) => one.id === each.id)?.label || each.variant}`;
    const drawn = sentences.length < all || pairs.length < asked ? ` Drawn are ${Fathom.whole(sentences.length)} sentences and ${Fathom.whole(pairs.length)} pairs, evenly spaced in the table.` : "";
    const text = `Map of ${title}, ${variant}: of ${plural(all, "sentence")}, ${Fathom.whole(covered)} are covered; ${plural(gaps + large, "gap")}, ${Fathom.whole(large)} of them large; ${plural(asked, "pair")}. The table has its numbers.`;
    fill(
      place,
      element("p", {}, `Where the sentences of the domain lie, and where the benchmark’s pairs do: ${percent(covered / Math.max(1, all))} of the sentences lie where pairs are at least as dense as the domain.`),
      found.length > 1 && element("div", { class: "controls" }, select("Benchmark", found.map((each) => [each.id, names(each)]), id, (each) => Fathom.set({ g: each }))),
      element("div", { class: "columns" },
        element("figure", {}, charts.map(sentences, pairs, { width: wide(place), text }),
          element("figcaption", {}, `Small grey dot: a sentence that is covered. Cross: a gap; large cross: a large one. Large dot: a pair. Two principal components, whose units mean nothing.${drawn}`)),
        Fathom.tables.plain("Coverage of the benchmark", [{ title: "what", head: true }, { title: "value", number: true }], [
          ["sentences of the domain", Fathom.whole(all)], ["gaps", Fathom.whole(gaps + large)], ["large gaps", Fathom.whole(large)], ["pairs", Fathom.whole(asked)],
          ...values.map(([what, value]) => [what, plain(value)]),
        ])),
    );
  };

  return { choices, layers, tuning, coverage };
})();
