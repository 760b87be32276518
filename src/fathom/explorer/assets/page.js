// Start: navigation, colours, figures and tables of the run, and what is drawn again when the state changes.
"use strict";

(() => {
  const { element, fill, find, overview } = Fathom;
  const body = (id) => find(id).querySelector(":scope > div");

  // Colours: those of the system unless the switch says otherwise.

  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (["dark", "light"].includes(Fathom.state.t) ? Fathom.state.t === "dark" : system.matches);

  const showTheme = () => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    find("theme").textContent = isDark() ? "Light colours" : "Dark colours";
  };

  find("theme").addEventListener("click", () => Fathom.set({ t: isDark() ? "light" : "dark" }));
  system.addEventListener("change", showTheme);

  const goTo = () => {
    const target = Object.hasOwn(TITLES, Fathom.state.v || "") ? find(Fathom.state.v) : null;
    if (target && !target.hidden) {
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    }
  };

  // Links of this page keep the rest of the state; each is a view that can be sent.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.hash === "#answer") {
      find("answer").focus();
      return;
    }
    const changes = Object.fromEntries(new URLSearchParams(link.hash.slice(1)));
    const same = changes.v && changes.v === Fathom.state.v;
    Fathom.set(changes, true);
    for (const key of ["k", "q", "f"]) if (key in Fathom.state && !(key in changes) && changes.k) Fathom.set({ [key]: "" });
    if (same) goTo();
  });

  // Figures and tables of the run

  const figures = async (place) => {
    const found = await Fathom.read("figure-list");
    const sections = [...new Set(found.map(({ section }) => section))];
    fill(
      place,
      element("p", {}, "As in the folder figures/ of the run, where each is a PDF too, with its numbers as CSV."),
      sections.flatMap((name) => [element("h3", {}, name), ...found.filter(({ section }) => section === name).map(showFigure)]),
    );
  };

  // At the size in which it can be read: a wide one is scrolled sideways.
  const showPicture = (title, src, alt) => {
    const picture = element("img", { src, alt, onload: () => { picture.style.width = `${picture.naturalWidth / 2}px`; } });
    const hint = element("p", { class: "hint", hidden: true }, "The picture goes on to the right: scroll it sideways →");
    const scroller = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, picture);
    Fathom.tellWide(scroller, scroller, hint);
    return element("div", {}, hint, scroller);
  };

  const showFigure = ({ name, title, caption, image }) => {
    const path = Fathom.toPath(`figures/${name}`);
    return Fathom.unfold({ class: "figure" }, title, () => [
      image
        ? showPicture(title, `data:image/png;base64,${find(image).textContent}`, `${title}; its numbers are in ${name.replace(/png$/, "csv")}`)
        : element("p", {}, "Too large for this page: ", element("a", { href: path }, `figures/${name}`)),
      ...caption.split("\n\n").map((each) => each && element("p", { class: "caption" }, each)),
    ]);
  };

  const made = async (place) => {
    const [tables, models] = await Promise.all([Fathom.read("tables"), Fathom.read("models")]);
    const parts = [element("p", {}, `${Fathom.isItems ? "Logs" : "Run"} ${overview.run}, page by Fathom ${overview.version}.`)];
    for (const benchmark of Fathom.isItems ? [] : overview.benchmarks) parts.push(describe(benchmark));
    if (models.length) parts.push(element("h3", {}, "Models"), modelTable(models));
    parts.push(element("h3", {}, "Tables"));
    for (const table of tables) parts.push(showTable(table));
    if (!tables.length) parts.push(element("p", {}, "This run has no tables yet."));
    fill(place, parts);
  };

  const describe = (benchmark) => {
    const { files = {}, inputs = [], packages = {}, parameters = {} } = benchmark.manifest;
    const rows = [
      ...inputs.map((input) => ["input", input.file, input.sha256]),
      ...Object.entries(files).map(([file, hash]) => ["file of the benchmark", file, hash]),
      ...Object.entries(packages).map(([file, version]) => ["package", file, version]),
      ...flatten(parameters).map(([key, value]) => ["parameter", key, value]),
    ];
    const columns = ["kind", "name", "value"];
    const title = `${benchmark.title}: ${benchmark.label}`;
    if (!rows.length) return element("p", {}, `${title}: there is no manifest yet.`);
    return element(
      "details", {}, element("summary", {}, `${title}: inputs, hashes, versions, parameters`),
      Fathom.downloadButton(`${benchmark.id.replace("/", ".")}.manifest.csv`, () => [columns, rows]),
      Fathom.tables.plain(`How ${title} was made`, columns.map((column, place) => ({ title: column, head: place === 1 })),
        rows.map(([kind, name, value]) => [kind, name, element("code", {}, String(value ?? ""))])),
    );
  };

  const flatten = (value, prefix = "") =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).flatMap(([key, inner]) => flatten(inner, prefix ? `${prefix}.${key}` : key))
      : [[prefix, Array.isArray(value) ? JSON.stringify(value) : value]];

  const modelTable = (models) => {
    const columns = ["model", "kind", "base", "dtype", "quantization", "revision", "fingerprint"]
      .filter((column) => models.some((model) => model[column]));
    return Fathom.tables.plain("Models and their weights", columns.map((column, place) => ({ title: column, head: place === 0 && columns.length > 1 })),
      models.map((model) => columns.map((column) => (column === "fingerprint" ? element("code", { class: "print" }, model[column]) : model[column]))), { hideCaption: true });
  };

  const MOST_ROWS = 5000; // more are there to download

  const showTable = ({ name, about, lines, columns = [], count, rows }) => {
    const numbers = columns.map((_, place) => rows.every((row) => row[place] === "" || Number.isFinite(Number(row[place]))));
    const summary = element("span", {}, element("code", {}, name), ` ${about}, ${Fathom.plural(count, "row")}`);
    return Fathom.unfold({}, summary, () => rows.length
      ? [
          lines && element("p", {}, lines),
          Fathom.downloadButton(name.replaceAll("/", "."), () => [columns, rows]),
          rows.length <= MOST_ROWS && Fathom.tables.plain(name, columns.map((column, place) => ({ title: column, number: numbers[place] })),
            rows.map((row) => row.map((value, place) => (numbers[place] && value !== "" ? { node: value, value: Number(value) } : value))),
            { sortable: true, hideCaption: true }),
        ]
      : [element("p", {}, count ? "Too long for this page: " : "It is empty: ", element("a", { href: Fathom.toPath(name) }, name))]);
  };

  // What depends on what. Keys: b benchmark, s statistic, a and c models, q k f filters, o d order, p pair, t colours, v part;
  // e set of questions, r what stands before them, w m h their filters, i question; x way of asking, l layers, n task of tuning, g map of coverage.

  const { sections, analyses } = Fathom;
  const compared = overview.benchmarks.length > 0 && !Fathom.isItems;
  const scored = Fathom.isItems && overview.benchmarks.length > 0;
  const { items } = Fathom;
  const rows = Fathom.isItems ? items : Fathom.pairsPart;
  const analysed = (id) => overview.analyses.includes(id);

  // Id, title in the navigation, heading, what draws it, keys that it depends on, and whether the run has it.
  const PARTS = [
    ["tasks", "Tasks", "Every task", items.tasks, "bs", scored && overview.benchmarks.length > 1],
    ["settle", "Next", "What these items can show", items.settle, "bs", scored],
    ["groups", "Groups", "Strong and weak in groups", items.groups, "bs", scored && items.hasGroups],
    ["sides", "Two models", "Two models side by side", items.two, "bsac", scored],
    ["items", "Items", "Items", items.draw, "bsac", scored],
    ["next", "Next", "What to do next", sections.next, "bs", compared],
    ["domains", "Metrics", "Every domain and metric", sections.domains, "bs", compared],
    ["subfields", "Sub-fields", "Strong and weak in sub-fields", sections.subfields, "bs", compared],
    ["two", "Two models", "Two models side by side", sections.two, "bsac", compared],
    ["keywords", "Keywords", "Keywords", sections.keywords, "bs", compared],
    ["pairs", "Pairs", "Pairs", Fathom.pairsPart.draw, "bsac", compared],
    ["questions", "Questions", "Questions and answers", Fathom.questionsPart.draw, "er", analysed("questions")],
    ["multiple-choice", "Multiple choice", "Multiple choice", analyses.choices, "x", analysed("multiple-choice")],
    ["layers", "Layers", "Layer by layer", analyses.layers, "bl", analysed("layers")],
    ["tuning", "Tuning", "Before and after tuning", analyses.tuning, "n", analysed("tuning")],
    ["coverage", "Coverage", "Coverage of the domain", analyses.coverage, "bg", analysed("coverage")],
    ["figures", "Figures", "Figures of the run", figures, "", overview.figures > 0],
    ["made", "How made", "How it was made, and every table", made, "", true],
  ].filter((part) => part.at(-1));
  const TITLES = { answer: "Answer", ...Object.fromEntries(PARTS.map(([id, title]) => [id, title])) };

  const pause = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

  const drawParts = async (changed) => {
    for (const [id, , , draw, keys] of PARTS) {
      if (changed && ![...keys].some((key) => changed.has(key))) continue;
      await pause(); // what is drawn can be used before the rest is
      await draw(body(id));
    }
  };

  Fathom.listen((changed) => {
    if (changed.has("t")) showTheme();
    if (changed.has("b") || changed.has("s")) Fathom.answer();
    const drawn = drawParts(changed);
    if (["q", "k", "f"].some((key) => changed.has(key))) drawn.then(rows.filter);
    if (["w", "m", "h"].some((key) => changed.has(key))) drawn.then(Fathom.questionsPart.filter);
    if (changed.has("p")) rows.open();
    if (changed.has("i")) Fathom.questionsPart.open();
    if (changed.has("v") && Fathom.state.v) goTo();
  });

  let width = innerWidth;
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (innerWidth === width) return; // a phone's bars change the height alone
      width = innerWidth;
      Fathom.answer();
      drawParts(new Set("bsacexlng")); // what depends on none of them has no width of its own
    }, 200);
  });

  // for those who wait and measure
  const say = (what) => {
    document.documentElement.dataset.ready = what;
    performance.mark(`fathom-${what}`);
  };

  const start = async () => {
    find("run").textContent = overview.run;
    showTheme();
    find("main").append(...PARTS.map(([id, , heading]) =>
      element("section", { id, tabindex: "-1", "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, heading), element("div", {}, element("p", { class: "status" }, "Its data is being unpacked …"))),
    ));
    fill(find("nav"), Object.entries(TITLES).map(([id, title]) => element("li", {}, element("a", { href: `#v=${id}` }, title))));
    Fathom.tellWide(find("nav"), find("nav"));
    Fathom.answer();
    say("answer");
    if (document.readyState === "loading") await new Promise((done) => addEventListener("DOMContentLoaded", done, { once: true }));
    await drawParts(null);
    goTo();
    await rows.open();
    await Fathom.questionsPart.open();
    say("all");
  };

  start();
})();
