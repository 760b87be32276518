// Sets of questions: scores of models by form and level, every question with its answers, one question as a whole.
"use strict";

Fathom.questionsPart = (() => {
  const { element, fill, plain, plural, select, wide, interval, model: name } = Fathom;
  const charts = Fathom.analysisCharts;
  const PROMPTINGS = { plain: "nothing", "few-shot": "questions with their answers", rag: "the nearest records" };
  const NOT_ASKED = -1;
  const SHOWN = [
    ["", "all questions"],
    ["nobody", "questions that no model answers right"],
    ["everybody", "questions that all models answer right"],
    ["split", "questions that some models answer right"],
  ];
  const GAP = 20;
  let table = null;
  let rows = [];
  let current = null;

  const percent = (value) => (value === null ? "–" : `${Math.round(value * 100)} %`);
  const kindName = ([form, level]) => `${form}, ${level}`;
  const isOpen = (form) => form === "open";
  const places = (bits) => Array.from({ length: 8 }, (_, place) => place).filter((place) => bits & (1 << place));
  const letter = (place) => String.fromCharCode(65 + place);

  const chosenSet = async () => {
    const sets = (await Fathom.read("analyses")).questions;
    return sets.find(({ id }) => id === Fathom.state.e) || sets[0];
  };

  // Scores

  const drawScores = (place, { kinds, rows: scores }) => {
    if (!scores.length) return [element("p", {}, "No model has answered these questions yet.")];
    const promptings = Object.keys(PROMPTINGS).filter((each) => scores.some((row) => row[1] === each));
    const models = [...new Set(scores.map(([model]) => model))];
    const columns = Math.max(1, Math.floor((wide(place) + GAP) / (430 + GAP)));
    const width = (wide(place) - GAP * (columns - 1)) / columns;
    const figures = kinds.map((kind, number) => [kind, scores.filter((row) => row[2] === number && row[3] === kind[3])])
      .filter(([, own]) => own.length)
      .map(([kind, own]) => drawKind(kind, own, models, promptings, width));
    const dashed = kinds.some(([, , , , chance]) => chance !== null) ? " Dashed: guessing." : "";
    return [
      promptings.length > 1 && element("p", {}, "Text before each question:"),
      promptings.length > 1 && element("ul", { class: "chips" }, promptings.map((each, number) => element("li", {}, charts.shape(number), ` ${each}: ${PROMPTINGS[each]}`))),
      element("div", { class: "columns" }, figures),
      element("p", { class: "facts" }, `Lines are ${Math.round(Fathom.overview.confidence * 100)} % intervals over questions.${dashed}`),
      element("details", {}, element("summary", {}, "The numbers of these charts"), Fathom.tables.plain("Scores of models by form and level",
        [{ title: "model", head: true }, { title: "asked" }, { title: "form, level" }, { title: "metric" }, { title: "score", number: true },
          { title: "interval", number: true }, { title: "questions", number: true }, { title: "unanswered", number: true }],
        scores.map(([model, prompting, kind, metric, value, low, high, count, unanswered]) => [
          { node: name(model), value: model }, prompting, kindName(kinds[kind]), metric, { node: plain(value), value }, interval(low, high, plain), count, unanswered,
        ]),
        { sortable: true, hideCaption: true })),
    ];
  };

  const drawKind = (kind, own, models, promptings, width) => {
    const [, , , metric, chance] = kind;
    const shares = !metric.startsWith("BLEU");
    const show = shares ? percent : plain;
    const bands = models.map((model) => ({
      model: Fathom.short(model),
      marks: own.filter((row) => row[0] === model).map(([, prompting, , , value, low, high]) => ({
        place: promptings.indexOf(prompting), prompting, value, low, high, title: `${Fathom.short(model)}, ${prompting}: ${show(value)} ${interval(low, high, show)}`,
      })).sort((a, b) => a.place - b.place),
    })).filter(({ marks }) => marks.length);
    const most = shares ? 1 : Math.max(0.05, ...own.map(([, , , , value, , high]) => Math.max(value ?? 0, high ?? 0))) * 1.05;
    const told = bands.map(({ model, marks }) => `${model} ${marks.map(({ prompting, value }) => `${prompting} ${show(value)}`).join(", ")}`).join("; ");
    const asked = Math.max(...own.map((row) => row[7]));
    const text = `${metric} on questions that are ${kindName(kind)}: ${told}. The table below has the same numbers.`;
    return element("figure", {},
      element("h3", {}, kindName(kind)),
      charts.scores(bands, { width, most, chance, show, text, label: `${metric}; ${plural(asked, "question")} asked of ${Fathom.whole(kind[2])}` }));
  };

  // Questions

  // What a model answered: right or not, as people read it; a number to sort by.
  const judge = (data, index, [, , chosen, texts]) => {
    const [bits, text] = [chosen[index], texts[index]];
    const form = data.kinds[data.kind[index]][0];
    if (bits === NOT_ASKED) return { is: null, shown: "", value: null };
    if (isOpen(form)) return { is: null, shown: text || "no answer", value: null };
    const right = data.right[index];
    const own = places(bits);
    const said = own.length ? (form === "binary" ? data.options[index][own[0]] : own.map(letter).join(" ")) : "no answer";
    const value = (2 * places(bits & right).length) / (own.length + places(right).length);
    const is = bits === right;
    const part = form === "multiple-answer" && !is ? ` (F1 ${value.toFixed(2)})` : "";
    return { is, shown: `${is ? "✓" : "✗"} ${said}${part}`, value };
  };

  // The right answer in a cell; letters are those of the options.
  const key = (data, index) => {
    const form = data.kinds[data.kind[index]][0];
    if (["binary", "open"].includes(form)) return data.keys[index];
    return places(data.right[index]).map((place) => `${letter(place)}. ${data.options[index][place]}`).join("; ");
  };

  const makeRows = (data, answers) =>
    data.ids.map((id, index) => {
      const judged = answers.map((each) => judge(data, index, each));
      const known = judged.filter(({ is }) => is !== null).map(({ is }) => is);
      const row = { index, id, kind: kindName(data.kinds[data.kind[index]]), question: data.questions[index], key: key(data, index), known };
      judged.forEach((each, number) => Object.assign(row, { [`m${number}`]: each.value, [`t${number}`]: each.shown }));
      return row;
    });

  const makeFilter = ({ w = "", m, h }) => {
    const wanted = w.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) => {
      if (m && row.kind !== m) return false;
      if (wanted.length) {
        const text = `${row.question} ${row.key} ${current.data.options[row.index].join(" ")}`.toLowerCase();
        if (!wanted.every((word) => text.includes(word))) return false;
      }
      if (!h) return true;
      const right = row.known.filter(Boolean).length;
      if (!row.known.length) return false;
      return h === "nobody" ? right === 0 : h === "everybody" ? right === row.known.length : right > 0 && right < row.known.length;
    };
  };

  const draw = async (place) => {
    table = null;
    current = null;
    const found = await chosenSet();
    const sets = (await Fathom.read("analyses")).questions;
    const block = Fathom.overview.questions[found.id];
    const holder = element("div", { class: "grid" });
    const status = element("p", { class: "status", role: "status" });
    fill(
      place,
      sets.length > 1 && element("div", { class: "controls" }, select("Set", sets.map(({ id }) => [id, id]), found.id, (e) => Fathom.set({ e, i: "", m: "" }), "questions-set")),
      drawScores(place, found),
      element("h3", {}, `The questions of ${found.id}`),
    );
    if (!block) return void place.append(element("p", {}, "This page has no questions of this set."));
    const packed = await Fathom.read(block);
    const data = { ...packed, answers: [...packed.answers], kinds: found.kinds };
    const promptings = [...new Set(data.answers.map(([, prompting]) => prompting))];
    const asked = promptings.includes(Fathom.state.r) ? Fathom.state.r : promptings[0];
    const order = [...new Set(found.rows.map(([model]) => model))];
    data.answers.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
    const answers = data.answers.filter(([, prompting]) => prompting === asked);
    current = { data, answers, id: found.id };
    rows = makeRows(data, answers);
    place.append(
      element("p", {}, "A row opens the question with its options, all answers and what proves it. A model was shown some questions with their answers as examples; there it has none of its own."),
      controls(found, promptings, asked), status, holder,
    );
    const show = (row) => Fathom.set({ i: row.id }, true);
    const width = Fathom.tables.share(holder, 705, Math.max(1, answers.length));
    const lines = Fathom.tables.isNarrow(holder) ? 3 : 2;
    const rest = holder.clientWidth - 205 - 200 - width * answers.length - 20;
    table = Fathom.tables.grid(holder, {
      label: `Questions of ${found.id}`,
      columns: [
        { field: "kind", title: "form, level", width: 205, narrow: 130 },
        { field: "question", title: "question", width: Math.max(300, rest), narrow: 250, show: (value, row) => element("button", { type: "button", class: "pair cut", onclick: () => show(row) }, value) },
        { field: "key", title: "right answer", width: 200, narrow: 140 },
        ...answers.map(([model], number) => ({ field: `m${number}`, title: Fathom.short(model), number: true, width, show: (_, row) => row[`t${number}`] })),
      ],
      rows,
      lines,
      height: Fathom.tables.tall(rows.length, Math.min(560, Math.max(300, innerHeight * 0.6)), lines),
      onOpen: show,
    });
    const tell = (count) => (status.textContent = `${Fathom.whole(count)} of ${plural(rows.length, "question")}`);
    tell(rows.length);
    table.on("dataFiltered", (_, left) => tell(left.length));
    const built = table;
    await new Promise((done) => table.on("tableBuilt", done));
    if (built === table && ["w", "m", "h"].some((each) => Fathom.state[each])) filter();
  };

  const controls = ({ id, kinds }, promptings, asked) => {
    const search = element("input", { type: "search", id: "questions-search", value: Fathom.state.w || "" });
    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => Fathom.set({ w: search.value }), 150);
    });
    const known = (options, value) => (options.some(([each]) => each === value) ? value : "");
    const forms = [["", "all forms and levels"], ...kinds.map((kind) => [kindName(kind), kindName(kind)])];
    return element(
      "div", { class: "controls" },
      element("label", {}, "Search ", search),
      select("Form", forms, known(forms, Fathom.state.m), (m) => Fathom.set({ m }), "questions-form"),
      promptings.length > 1 && select("Asked", promptings.map((each) => [each, each]), asked, (r) => Fathom.set({ r }), "questions-asked"),
      promptings.length > 0 && select("Show", SHOWN, known(SHOWN, Fathom.state.h), (h) => Fathom.set({ h }), "questions-shown"),
      Fathom.downloadButton(`${id}.questions.csv`, collect),
    );
  };

  // All questions that fit the filters, with the answers.
  const collect = () => {
    const { data, answers } = current;
    const fits = makeFilter(Fathom.state);
    const columns = ["question_id", "form_and_level", "question", "options", "answer", ...answers.map(([model]) => model)];
    return [columns, rows.filter(fits).map((row) => [
      row.id, row.kind, row.question, data.options[row.index].join("; "), data.keys[row.index], ...answers.map((_, number) => row[`t${number}`]),
    ])];
  };

  const filter = () => {
    if (!table) return;
    table.setFilter(makeFilter(Fathom.state));
    for (const [id, each] of [["questions-search", "w"], ["questions-form", "m"], ["questions-shown", "h"]]) {
      const control = Fathom.find(id);
      if (control && control !== document.activeElement) control.value = Fathom.state[each] || "";
    }
  };

  // One question: options with what is right, every answer, rows and query that it follows from.
  const open = async () => {
    const dialog = Fathom.find("question");
    const index = Fathom.state.i && current ? current.data.ids.indexOf(Fathom.state.i) : -1;
    if (index < 0) {
      if (dialog.open) dialog.close();
      return;
    }
    const { data } = current;
    const kind = data.kinds[data.kind[index]];
    const given = data.answers.filter(([, , chosen]) => chosen[index] !== NOT_ASKED);
    const isRight = (place) => data.right[index] & (1 << place);
    const query = data.queries[data.query[index]];
    fill(
      dialog,
      Fathom.closeButton(dialog),
      element("h2", { id: "question-title" }, data.questions[index]),
      isOpen(kind[0])
        ? element("p", {}, element("mark", {}, data.keys[index]))
        : element("ol", { class: kind[0] === "binary" ? "options plain" : "options" }, data.options[index].map((option, place) =>
          element("li", {}, isRight(place) ? [element("mark", {}, option), " ★ right"] : option))),
      given.length
        ? Fathom.tables.plain("Answers by model", [{ title: "model", head: true }, { title: "asked" }, { title: "answer" }],
          given.map((each) => [name(each[0]), element("span", { class: "whole" }, each[1]), [judge(data, index, each).shown, !isOpen(kind[0]) && each[3][index] ? `wrote: ${each[3][index]}` : ""].filter(Boolean).join("; ")]),
          { hideCaption: true })
        : data.answers.length > 0 && element("p", {}, "No model was asked: it serves as an example."),
      element("p", { class: "facts" }, `${kindName(kind)}. From ${data.sources[index].join("; ")}.`),
      query && element("details", {}, element("summary", {}, "The query that proves it"), element("pre", { tabindex: "0", "aria-label": "Query" }, query)),
    );
    if (!dialog.open) dialog.showModal();
  };

  Fathom.find("question").addEventListener("close", () => Fathom.state.i && Fathom.set({ i: "" }));

  return { draw, filter, open, collect };
})();
