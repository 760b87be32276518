// Pages of logs: tasks, what their items can show, groups, two models, and every item with its scores and answers.
"use strict";

Fathom.items = (() => {
  const { element, fill, overview, plain, plural, whole, select, interval, score, gap, model: name } = Fathom;
  const percent = Math.round(overview.confidence * 100);
  const FIRST = 10;
  const AGREE = 1e-9;
  const SHOWN = [
    ["", "all items"],
    ["split", "items on which models differ"],
    ["best", "items on which all models score the best"],
    ["worst", "items on which all models score the worst"],
    ["differ", "items on which the two models differ"],
    ["first", "the first of the two models is ahead"],
    ["second", "the second of the two models is ahead"],
  ];
  const hasGroups = overview.benchmarks.some(({ statistics }) => Object.values(statistics || {}).some(({ groups }) => groups));
  let table = null;
  let rows = [];
  let current = null;

  const found = () => Fathom.benchmark().statistics[Fathom.statistic()];
  const label = () => Fathom.chosen()?.label || "";
  const format = (p) => (p === null || p === undefined ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));
  const isBetter = (one, other) => (found().low ? one < other - AGREE : one > other + AGREE);

  // Scores and texts of the chosen task; null where the page holds none.
  const load = async () => {
    const task = Fathom.benchmark();
    if (!task.texts) return null;
    const [texts, scores, answers] = await Promise.all([
      Fathom.read(task.texts), Fathom.readNumbers(found().scores), task.answers ? Fathom.read(task.answers) : null,
    ]);
    const count = task.pairs;
    const place = (model) => task.models.indexOf(model);
    return {
      texts, count,
      of: (model) => scores.subarray(place(model) * count, (place(model) + 1) * count),
      said: (model, index) => (answers ? answers.words[answers.said[place(model)][index]] : ""),
    };
  };

  // Every task

  const leaders = ({ ranking, comparisons }) => {
    const best = ranking[0][0];
    const apart = new Set(comparisons.filter(([better, , , , , , , is]) => is && better === best).map(([, worse]) => worse));
    return ranking.map(([model]) => model).filter((model) => model === best || (comparisons.length && !apart.has(model)));
  };

  const tasks = (place) => {
    const metric = Fathom.statistic();
    const of = (task) => task.statistics[metric] || Object.values(task.statistics)[0];
    const few = overview.models.length <= 12;
    const columns = [
      { title: "task", head: true }, { title: "items", number: true }, { title: "best" },
      ...(few ? overview.models.map((model) => ({ title: model, number: true })) : [{ title: "score of the best", number: true }, { title: "of the last", number: true }]),
    ];
    const lines = overview.benchmarks.map((task) => {
      const { ranking, kept, unit, comparisons } = of(task);
      const show = Fathom.show(unit);
      const ahead = leaders({ ranking, comparisons });
      const all = comparisons.length > 0 && !comparisons.some(([, , , , , , , is]) => is);
      const cell = (row) => (row ? { node: ahead.length < ranking.length && ahead.includes(row[0]) ? element("strong", {}, show(row[1])) : show(row[1]), value: row[1], title: `${percent} % interval ${interval(row[2], row[3], show)}` } : { node: "–", value: null });
      return [
        { node: element("a", { href: Fathom.address({ b: task.id, v: "answer", k: "", q: "", f: "", p: "" }) }, task.title), value: task.title },
        { node: whole(kept), value: kept },
        all ? "no significant difference" : ahead.slice(0, 3).join(", ") + (ahead.length > 3 ? ` and ${ahead.length - 3} more` : ""),
        ...(few ? overview.models.map((model) => cell(ranking.find(([each]) => each === model))) : [cell(ranking[0]), cell(ranking.at(-1))]),
      ];
    });
    const mixed = overview.benchmarks.some((task) => !task.statistics[metric]);
    fill(
      place,
      element("p", {}, `By ${label()}${mixed ? ", or a task’s own metric where it lacks this one" : ""}. Bold: the best model, and those not significantly different from it. Each task is tested on its own: where all models are equal, up to one task in twenty still shows a difference. A task opens its answer.`),
      Fathom.tables.plain("Every task", columns, lines, { sortable: true, hideCaption: true }),
    );
  };

  // What the items can show

  const settleTable = (lines, hasClusters) =>
    Fathom.tables.plain(
      "Models that are not significantly different, and how many items would settle it",
      [
        { title: "ahead", head: true }, { title: "behind" }, { title: "difference", number: true },
        { title: "smallest difference these items could show", number: true }, { title: "items needed", number: true },
        ...(hasClusters ? [{ title: "clusters needed", number: true }] : []),
      ],
      lines.map(([better, worse, difference, smallest, items, clusters]) => [
        name(better), name(worse), gap(difference), smallest === null ? "–" : gap(smallest),
        items ? whole(items) : difference && smallest !== null ? "too many" : "–", ...(hasClusters ? [clusters ? whole(clusters) : "–"] : []),
      ]),
      { hideCaption: true },
    );

  const settle = (place) => {
    const { unsettled, comparisons, kept, facts } = found();
    const heading = element("h3", {}, "Which models are not significantly different?");
    if (!comparisons.length) return fill(place, element("p", {}, "There is one model: nothing to compare."));
    if (!unsettled.length) return fill(place, heading, element("p", {}, `All models are apart by ${label()}.`));
    const hasClusters = facts.some((fact) => fact.includes("clusters"));
    const isKnown = unsettled.some(([, , , smallest]) => smallest !== null);
    fill(
      place, heading,
      element("p", {}, !isKnown ? "How many items would settle it cannot be said from these." : `By ${label()}${comparisons.length > 1 ? `, all ${whole(comparisons.length)} comparisons together` : ""}. The number of items would find a difference as large as the one seen in 80\u00a0% of such tests; there are ${plural(kept, "item")} now. If the difference seen is too large by chance, more are needed. Models that would need too many are better taken as equal.`),
      settleTable(unsettled.slice(0, FIRST), hasClusters),
      unsettled.length > FIRST && Fathom.unfold({}, `All ${whole(unsettled.length)}`, () => [settleTable(unsettled, hasClusters)]),
    );
  };

  // Groups

  const groups = async (place) => {
    const { groups: block } = found();
    if (!block) return fill(place, element("p", {}, "The items of this task have no groups."));
    const { groups: lines, models } = await Fathom.read(block);
    if (!lines.length) return fill(place, element("p", {}, "The items that all models have belong to one group."));
    const order = Fathom.order().filter((model) => models.includes(model));
    const places = order.map((model) => models.indexOf(model));
    const whole_ = Fathom.benchmark().parts > 1;
    const size = Math.max(...lines.flatMap((line) => line[3].map((value) => Math.abs(value ?? 0))), AGREE);
    const cells = lines.map(([title, count, means, gains, lows, highs, apart]) => [
      { node: whole_ ? element("a", { href: Fathom.address({ b: title, v: "answer", p: "" }) }, title) : element("a", { href: Fathom.address({ v: "items", k: title, q: "", f: "" }) }, title), value: title },
      { node: whole(count), value: count },
      ...places.map((index) => {
        const [gain, sure] = [gains[index], apart[index]];
        const shown = `${sure ? (gain > 0 ? "▲ " : "▼ ") : ""}${score(means[index])}`;
        return {
          node: sure ? element("strong", {}, shown) : shown, value: means[index],
          tint: Fathom.tables.tint(Math.abs(gain ?? 0) / size, gain > 0 ? "--accent" : "--warm"),
          title: `${gain >= 0 ? "better" : "worse"} than expected by ${gap(Math.abs(gain))}; ${percent} % interval of this alone ${interval(lows[index], highs[index], gap)}`,
        };
      }),
    ]);
    fill(
      place,
      element("p", {}, `Mean ${label()} of each model on the items of each ${whole_ ? "task" : "group"}. The darker a cell, the further the model is from what its own mean and the difficulty of the ${whole_ ? "task" : "group"} let expect. ▲ and ▼: better and worse than that, tested for all of this page together. `,
        lines.some((line) => line.at(-1).includes(true)) ? "" : "Here none is."),
      Fathom.tables.plain("Models by group of items",
        [{ title: whole_ ? "task" : "group", head: true }, { title: "items", number: true }, ...order.map((model) => ({ title: model, number: true }))],
        cells, { sortable: true, hideCaption: true }),
    );
  };

  // Two models

  const describeTwo = (first, second) => {
    const row = found().comparisons.find(([better, worse]) => [first, second].includes(better) && [first, second].includes(worse));
    if (!row) return element("p", {}, "These two have no items in common.");
    const [better, worse, difference, low, high, p, adjusted, apart, signs] = row;
    const sure = p === null ? "" : ` (${percent} % interval ${gap(low)} to ${gap(high)}, p ${format(p)}; exact test of signs, McNemar’s for right and wrong: p ${format(signs)}${adjusted === null ? "" : `; p ${format(adjusted)} for all comparisons together`})`;
    const start = difference ? [element("strong", {}, name(better)), " is ahead of ", element("strong", {}, name(worse)), ` by ${gap(difference)}`] : [element("strong", {}, name(better)), " and ", element("strong", {}, name(worse)), ` have the same ${label()}`];
    return element("p", {}, ...start, `${sure}: `, apart ? "they are apart." : "they are not significantly different.");
  };

  const listDifferent = ({ texts, of, count }, [ahead, behind]) => {
    const [one, other] = [of(ahead), of(behind)];
    const places = Array.from({ length: count }, (_, index) => index)
      .filter((index) => isBetter(one[index], other[index]))
      .sort((a, b) => Math.abs(one[b] - other[b]) - Math.abs(one[a] - other[a]) || a - b);
    if (!places.length) return element("p", {}, `${ahead} is ahead on no item.`);
    const lines = places.slice(0, 6).map((index) => [
      element("a", { href: Fathom.address({ p: texts.ids[index] }) }, shorten(texts.prompts[index] || texts.ids[index], 110)),
      mark(one[index]), mark(other[index]),
    ]);
    return Fathom.tables.plain(`${ahead} is ahead on ${plural(places.length, "item")}`, [{ title: "item", head: true }, { title: ahead, number: true }, { title: behind, number: true }], lines);
  };

  const two = async (place) => {
    const order = Fathom.order().filter((model) => found().ranking.some(([each]) => each === model));
    if (order.length < 2) return fill(place, element("p", {}, "Two models are needed to compare."));
    const [first, second] = Fathom.two();
    const options = order.map((model) => [model, model]);
    const lists = element("div", { class: "columns" });
    fill(
      place,
      Fathom.chooseTwo(options, first, second),
      describeTwo(first, second), lists,
    );
    const data = await load();
    if (data) fill(lists, [[first, second], [second, first]].map((models) => listDifferent(data, models)));
  };

  // Every item

  // Of a long prompt the end says what is asked.
  const shorten = (text, length) => (text.length > length ? `…${text.slice(-length)}` : text);

  const makeRows = ({ texts, count, of, said }, models, pair) => {
    const scores = models.map(of);
    const [first, second] = pair.map((model) => (model ? of(model) : null));
    const known = (index) => scores.map((each) => each[index]).filter((value) => !Number.isNaN(value));
    const values = {
      id: (index) => texts.ids[index],
      group: (index) => texts.groups[texts.group[index]],
      prompt: (index) => texts.prompts[index],
      target: (index) => texts.targets[index],
      said: (index) => models.map((model) => said(model, index)).join(" "),
      least: (index) => Math.min(...known(index)),
      most: (index) => Math.max(...known(index)),
      ahead: (index) => (first && second ? (first[index] - second[index]) * (found().low ? -1 : 1) : 0),
    };
    scores.forEach((each, model) => (values[`m${model}`] = (index) => (Number.isNaN(each[index]) ? null : each[index])));
    return Fathom.lookUp(count, values);
  };

  // The ends of the scale, as far as any model reached them.
  const findEnds = () => {
    const ends = [Infinity, -Infinity];
    for (const row of rows) {
      if (row.least < ends[0]) ends[0] = row.least;
      if (row.most > ends[1]) ends[1] = row.most;
    }
    return found().low ? ends.reverse() : ends;
  };

  const makeFilter = ({ q = "", k, f }, [worst, best]) => {
    const wanted = q.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) => {
      if (k && row.group !== k) return false;
      if (wanted.length) {
        const text = `${row.id} ${row.prompt} ${row.target} ${row.group} ${row.said}`.toLowerCase();
        if (!wanted.every((word) => text.includes(word))) return false;
      }
      if (f === "split") return row.most - row.least > AGREE;
      if (f === "best") return row.least === best && row.most === best;
      if (f === "worst") return row.least === worst && row.most === worst;
      if (f === "differ") return Math.abs(row.ahead) > AGREE;
      if (f === "first") return row.ahead > AGREE;
      if (f === "second") return row.ahead < -AGREE;
      return true;
    };
  };

  const draw = async (place) => {
    const task = Fathom.benchmark();
    const data = await load();
    table = null;
    current = null;
    if (!data) {
      return fill(place, element("p", {}, task.parts > 1 ? "Choose one of the tasks to see its items." : "This page has no items of this task."));
    }
    const ranked = new Set(found().ranking.map(([model]) => model));
    const models = Fathom.order().filter((model) => ranked.has(model));
    const pair = Fathom.two();
    rows = makeRows(data, models, pair);
    current = { data, models, task, ends: findEnds() };
    const status = element("p", { class: "status", role: "status" });
    const holder = element("div", { class: "grid" });
    fill(place, element("p", {}, `${label()[0].toUpperCase()}${label().slice(1)} of each model on each item. A row opens the whole item with what models answered.`), controls(data, pair), status, holder);
    const show = (row) => Fathom.set({ p: data.texts.ids[row.index] }, true);
    const lines = Fathom.tables.isNarrow(holder) ? 4 : 2;
    const hasGroup = data.texts.groups.length > 1;
    const hasTarget = data.texts.targets.some(Boolean);
    const width = Fathom.tables.share(holder, 340 + (hasGroup ? 130 : 0) + (hasTarget ? 150 : 0), models.length);
    const columns = [
      {
        field: "prompt", title: data.texts.prompts.some(Boolean) ? "item" : "item id", width: 340, narrow: 230,
        show: (value, row) => element("button", { type: "button", class: "pair cut", onclick: () => show(row) }, shorten(value, 160) || row.id),
      },
      ...(hasGroup ? [{ field: "group", title: "group", width: 130 }] : []),
      ...(hasTarget ? [{ field: "target", title: "right answer", width: 150, narrow: 110, show: (value) => element("span", { class: "cut lines" }, value) }] : []),
      ...models.map((model, number) => ({ field: `m${number}`, title: model, number: true, width, show: mark })),
      ...(pair[1] ? [{ field: "ahead", title: "first of the two minus second", number: true, width: 120, show: (value) => plain(value) }] : []),
    ];
    const field = columns.some((column) => column.field === Fathom.state.o) ? Fathom.state.o : "";
    table = Fathom.tables.grid(holder, {
      label: `Items of ${task.title}`, columns, rows, lines,
      height: Fathom.tables.tall(rows.length, Math.min(640, Math.max(300, innerHeight * 0.7)), lines),
      sort: field ? { column: field, dir: Fathom.state.d === "desc" ? "desc" : "asc" } : null,
      onSort: (sorter) => sorter && Fathom.set({ o: sorter.field, d: sorter.dir === "desc" ? "desc" : "" }),
      onOpen: show,
    });
    const built = table;
    const tell = (left) => (status.textContent = `${whole(left)} of ${plural(data.count, "item")}`);
    tell(data.count);
    table.on("dataFiltered", (_, left) => tell(left.length));
    await new Promise((done) => table.on("tableBuilt", done));
    if (built === table && ["q", "k", "f"].some((key) => Fathom.state[key])) filter();
  };

  // Right and wrong as people read them; other scores as numbers.
  const mark = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (found().unit === "proportion" && (value === 0 || value === 1)) return value ? "✓ 1" : "✗ 0";
    return plain(value);
  };

  const controls = (data, pair) => {
    const search = element("input", { type: "search", id: "items-search", value: Fathom.state.q || "" });
    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => Fathom.set({ q: search.value }), 150);
    });
    const known = (options, value) => (options.some(([each]) => each === value) ? value : "");
    const names = [["", "all groups"], ...data.texts.groups.filter(Boolean).map((each) => [each, each])];
    const shown = SHOWN.filter(([each]) => pair[1] || !["split", "differ", "first", "second"].includes(each));
    return element(
      "div", { class: "controls" },
      element("label", {}, "Search ", search),
      data.texts.groups.length < 2 ? null : select("Group", names, known(names, Fathom.state.k), (k) => Fathom.set({ k }), "items-group"),
      select("Show", shown, known(shown, Fathom.state.f), (f) => Fathom.set({ f }), "items-shown"),
      Fathom.downloadButton(`${Fathom.benchmark().id.replaceAll("/", ".")}.items.csv`, collect),
    );
  };

  // All items that fit the filters, with scores and answers.
  const collect = () => {
    const { data, models, ends } = current;
    const columns = ["item", "group", "prompt", "target", ...models, ...models.map((model) => `answer of ${model}`)];
    return [columns, rows.filter(makeFilter(Fathom.state, ends)).map((row) => [
      row.id, row.group, row.prompt, row.target, ...models.map((_, number) => row[`m${number}`]),
      ...models.map((model) => data.said(model, row.index)),
    ])];
  };

  const filter = () => {
    if (!table) return;
    table.setFilter(makeFilter(Fathom.state, current.ends));
    for (const [id, key] of [["items-search", "q"], ["items-group", "k"], ["items-shown", "f"]]) {
      const control = Fathom.find(id);
      if (control && control !== document.activeElement) control.value = Fathom.state[key] || "";
    }
  };

  // One item: what was asked, what is right, each model's score and answer.
  const open = async () => {
    const dialog = Fathom.find("pair");
    const data = Fathom.state.p ? await load() : null;
    const index = data ? data.texts.ids.indexOf(Fathom.state.p) : -1;
    if (index < 0) {
      if (dialog.open) dialog.close();
      return;
    }
    const { texts, of, said } = data;
    const models = Fathom.order();
    const lines = models.map((model) => [name(model), { node: mark(of(model)[index]) }, said(model, index)]);
    const group = texts.groups[texts.group[index]];
    const more = [group, texts.clusters[index] && `cluster ${texts.clusters[index]}`].filter(Boolean);
    fill(
      dialog,
      Fathom.closeButton(dialog),
      element("h2", { id: "pair-title" }, `Item ${texts.ids[index]}`),
      texts.prompts[index] && element("p", { class: "completion asked" }, texts.prompts[index]),
      texts.targets[index] && element("p", {}, "Right answer: ", element("mark", {}, texts.targets[index])),
      Fathom.tables.plain("Scores and answers by model",
        [{ title: "model", head: true }, { title: label(), number: true }, ...(lines.some((line) => line[2]) ? [{ title: "answer" }] : [])],
        lines.map((line) => (lines.some((each) => each[2]) ? line : line.slice(0, 2))), { hideCaption: true }),
      more.length > 0 && element("p", { class: "facts" }, `${more.join(", ")}.`),
    );
    if (!dialog.open) dialog.showModal();
    dialog.querySelector(".scroll").scrollTop = 0;
  };

  return { hasGroups, tasks, settle, groups, two, draw, filter, open, collect };
})();
