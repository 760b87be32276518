// Every pair with the rank that each model gives its target: search, filters, and one pair as a whole.
"use strict";

Fathom.pairsPart = (() => {
  const { element } = Fathom;
  const KNOWN = 10;
  const SHOWN = [
    ["", "all pairs"],
    ["nobody", "pairs that no model knows"],
    ["everybody", "pairs that all models know"],
    ["split", "pairs on which models differ most"],
    ["first", "the first of the two models is ahead"],
    ["second", "the second of the two models is ahead"],
  ];
  let table = null;
  let rows = [];
  let current = null;

  // How many letters of a prompt fit into some lines of a column, with room for the target.
  const LETTERS = "the mean of a sample is said to be an estimate of";
  const countLetters = (width, lines) => Math.max(40, Math.floor((0.9 * lines * (width - 18) * LETTERS.length) / Fathom.measure([LETTERS], 14.4, 400)) - 14);

  // Prompts are long; what matters stands at their end.
  const shorten = (prompt, length) => (prompt.length > length ? `…${prompt.slice(-length)}` : prompt);

  const completion = (prompt, target, length) =>
    element("span", { class: "completed" }, element("span", {}, shorten(prompt, length)), element("mark", {}, target));

  const makeRows = ({ texts, count, of }, models, two) => {
    const ranks = models.map(of);
    const [first, second] = two.map((model) => (model ? of(model) : null));
    const values = {
      keyword: (place) => texts.keywords[texts.keyword[place]],
      prompt: (place) => texts.prompts[place],
      target: (place) => texts.targets[place],
      association: (place) => texts.association[place] ?? -1,
      document: (place) => texts.documents[texts.document[place]],
      best: (place) => Math.min(...ranks.map((each) => each[place])),
      worst: (place) => Math.max(...ranks.map((each) => each[place])),
      ahead: (place) => (first && second ? Math.log2(second[place] / first[place]) : 0),
    };
    ranks.forEach((each, model) => (values[`m${model}`] = (place) => each[place]));
    return Fathom.lookUp(count, values);
  };

  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  const makeFilter = (state, unknown) => {
    const wanted = words(state.q || "");
    return (row) => {
      if (state.k && row.keyword !== state.k) return false;
      if (wanted.length) {
        const text = `${row.prompt}${row.target} ${row.keyword} ${row.document}`.toLowerCase();
        if (!wanted.every((word) => text.includes(word))) return false;
      }
      if (state.f === "nobody") return row.best > unknown;
      if (state.f === "everybody") return row.worst <= KNOWN;
      if (state.f === "split") return row.worst / row.best >= 100;
      if (state.f === "first") return row.ahead >= 1;
      if (state.f === "second") return row.ahead <= -1;
      return true;
    };
  };

  const draw = async (place) => {
    const benchmark = Fathom.benchmark();
    const data = await Fathom.pairs();
    if (!data) {
      table = null;
      Fathom.fill(place, element("p", {}, "This page has no pairs of this benchmark."));
      return;
    }
    const models = Fathom.order();
    const two = Fathom.two();
    current = { data, models, benchmark, rivals: await Fathom.rivals() };
    rows = makeRows(data, models, two);
    const status = element("p", { class: "status", role: "status" });
    const holder = element("div", { class: "grid" });
    Fathom.fill(
      place,
      element("p", {}, "Rank of the author’s word in each model’s list of next tokens; 1 is best. A row opens the whole pair."),
      controls(data, two),
      element("p", { id: "pairs-said", role: "status" }),
      status,
      holder,
    );
    const show = (row) => Fathom.set({ p: data.texts.ids[row.index] }, true);
    const narrow = Fathom.tables.isNarrow(holder);
    const lines = narrow ? 4 : 2;
    const others = 180 + (two[1] ? 130 : 0) + (data.texts.association.length ? 110 : 0);
    const width = Fathom.tables.share(holder, others + 460, models.length);
    const wide = narrow ? holder.clientWidth - 112 : Math.max(460, holder.clientWidth - others - width * models.length - 20);
    const columns = [
      { field: "keyword", title: "keyword", width: 180, narrow: 110 },
      {
        field: "target", title: "prompt and target", width: wide,
        show: (_, row) =>
          element(
            "button", { type: "button", class: "pair end", onclick: () => show(row) },
            completion(row.prompt, row.target, countLetters(wide, lines)),
          ),
      },
      ...models.map((model, number) => ({ field: `m${number}`, title: Fathom.short(model), number: true, width, show: Fathom.whole })),
      ...(data.texts.association.length
        ? [{
            field: "association", title: "association of target and prompt", number: true, width: 110,
            show: (value) => (value < 0 ? "unknown" : value.toFixed(1)),
          }]
        : []),
      ...(two[1] ? [{ field: "ahead", title: "doublings between the two models", number: true, width: 130, show: (value) => value.toFixed(1) }] : []),
    ];
    const field = columns.some((column) => column.field === Fathom.state.o) ? Fathom.state.o : "";
    table = Fathom.tables.grid(holder, {
      label: `Pairs of ${benchmark.title}, ${benchmark.label}`,
      columns,
      rows,
      lines,
      height: Fathom.tables.tall(data.count, Math.min(640, Math.max(300, innerHeight * 0.7)), lines),
      sort: field ? { column: field, dir: Fathom.state.d === "desc" ? "desc" : "asc" } : null,
      onSort: (sorter) => sorter && Fathom.set({ o: sorter.field, d: sorter.dir === "desc" ? "desc" : "" }),
      onOpen: show,
    });
    const built = table;
    const tell = (found) => (status.textContent = `${Fathom.whole(found)} of ${Fathom.plural(data.count, "pair")}`);
    tell(data.count);
    table.on("dataFiltered", (_, found) => tell(found.length));
    await new Promise((done) => table.on("tableBuilt", done));
    if (built === table && ["q", "k", "f"].some((key) => Fathom.state[key])) filter();
  };

  const controls = (data, two) => {
    const search = element("input", { type: "search", id: "pairs-search", value: Fathom.state.q || "" });
    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => Fathom.set({ q: search.value }), 150);
    });
    const keywords = [["", "all keywords"], ...data.texts.keywords.map((each) => [each, each])];
    const shown = SHOWN.filter(([each]) => two[1] || !["first", "second"].includes(each));
    const known = (options, value) => (options.some(([each]) => each === value) ? value : "");
    const name = `${Fathom.benchmark().id.replace("/", ".")}.pairs.csv`;
    return element(
      "div", { class: "controls" },
      element("label", {}, "Search ", search),
      Fathom.select("Keyword", keywords, known(keywords, Fathom.state.k), (k) => Fathom.set({ k }), "pairs-keyword"),
      Fathom.select("Show", shown, known(shown, Fathom.state.f), (f) => Fathom.set({ f }), "pairs-shown"),
      Fathom.downloadButton(name, collect),
    );
  };

  // All pairs that fit the filters, with their ranks.
  const collect = () => {
    const { data, models } = current;
    const fits = makeFilter(Fathom.state, Fathom.overview.unknownRank);
    const columns = ["pair_id", "keyword", "prompt", "target", "document", "date", "left_out", ...models];
    const found = rows.filter(fits).map((row) => [
      data.texts.ids[row.index], row.keyword, row.prompt, row.target, row.document, data.texts.dates[row.index],
      data.leftOut.has(row.index) ? "yes" : "no", ...models.map((_, number) => row[`m${number}`]),
    ]);
    return [columns, found];
  };

  const SAID = 5;

  // Which words models favour instead of the author’s, over the pairs of the chosen keyword.
  const describeSaid = () => {
    const { data, models, rivals } = current;
    if (!Fathom.state.k || !rivals) return "";
    const counts = new Map();
    for (const row of rows) {
      if (row.keyword !== Fathom.state.k || data.leftOut.has(row.index)) continue;
      for (const word of models.map((model) => rivals.said(model, row.index)).filter(Boolean)) counts.set(word, (counts.get(word) || 0) + 1);
    }
    const found = [...counts].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1)).slice(0, SAID);
    if (!found.length) return "";
    return `Words of the field that prompts of ${Fathom.state.k} favour most instead of the author’s, over all models: ${found.map(([word, count]) => `${word} (${count})`).join(", ")}.`;
  };

  const filter = () => {
    if (!table) return;
    const said = Fathom.find("pairs-said");
    if (said) said.textContent = describeSaid();
    table.setFilter(makeFilter(Fathom.state, Fathom.overview.unknownRank));
    for (const [id, key] of [["pairs-search", "q"], ["pairs-keyword", "k"], ["pairs-shown", "f"]]) {
      const control = Fathom.find(id);
      if (control && control !== document.activeElement) control.value = Fathom.state[key] || "";
    }
  };

  // One pair: its prompt with the target, every model's rank, where it comes from.
  const open = async () => {
    const dialog = Fathom.find("pair");
    const [data, rivals] = Fathom.state.p ? await Promise.all([Fathom.pairs(), Fathom.rivals()]) : [null, null];
    const place = data ? data.texts.ids.indexOf(Fathom.state.p) : -1;
    if (place < 0) {
      if (dialog.open) dialog.close();
      return;
    }
    const { texts, of, leftOut } = data;
    const models = Fathom.order();
    const found = models.map((model) => ({ model, rank: of(model)[place] })).sort((a, b) => a.rank - b.rank);
    const hasBits = rivals && models.some((model) => !Number.isNaN(rivals.bits(model, place)));
    const hasBar = !rivals || innerWidth > 640; // a phone has room for numbers alone
    const name = texts.documents[texts.document[place]];
    const link = texts.links[texts.document[place]];
    Fathom.fill(
      dialog,
      Fathom.closeButton(dialog),
      element("h2", { id: "pair-title" }, texts.keywords[texts.keyword[place]]),
      element("p", { class: "completion" }, texts.prompts[place], element("mark", {}, texts.targets[place])),
      Fathom.tables.plain(
        hasBits ? "Rank and bits of the target by model" : "Rank of the target by model",
        [
          { title: "model", head: true }, { title: "rank", number: true }, ...(hasBar ? [{ title: element("span", { class: "hidden" }, "as a bar") }] : []),
          ...(hasBits ? [{ title: "bits", number: true }] : []),
          ...(rivals ? [{ title: "rank among rivals", number: true }, { title: "favours instead" }] : []),
        ],
        found.map(({ model, rank }) => {
          const bar = element("span", { class: "meter", "aria-hidden": "true" });
          bar.style.width = `${4 + (92 * Math.log(rank)) / Math.log(Math.max(2, found.at(-1).rank))}%`;
          const among = rivals ? rivals.rank(model, place) : NaN;
          const said = Number.isNaN(among) ? "–" : rivals?.said(model, place) || "the author’s word";
          return [Fathom.model(model), Fathom.whole(rank), ...(hasBar ? [bar] : []), ...(hasBits ? [Fathom.bits(rivals.bits(model, place))] : []), ...(rivals ? [Fathom.whole(among), said] : [])];
        }),
        { hideCaption: true },
      ),
      element(
        "p", { class: "facts" },
        "From ", link ? element("a", { href: link, rel: "noreferrer noopener", target: "_blank" }, name) : name,
        texts.dates[place] ? `, ${texts.dates[place]}` : "",
        leftOut.has(place) ? ". Left out of the ranking, as it occurs in text that models were trained on." : "",
      ),
    );
    if (!dialog.open) dialog.showModal();
    dialog.querySelector(".scroll").scrollTop = 0;
  };

  Fathom.find("pair").addEventListener("close", () => Fathom.state.p && Fathom.set({ p: "" }));

  return { draw, filter, open, collect, completion };
})();
