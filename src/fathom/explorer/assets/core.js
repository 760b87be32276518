// What all parts of the page share: elements, numbers, packed data, the state in the address.
"use strict";

const Fathom = {};

// Elements are made from text alone: nothing of a table is ever read as HTML.
Fathom.element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
};

Fathom.find = (id) => document.getElementById(id);

Fathom.fill = (place, ...children) => {
  place.replaceChildren(...children.flat().filter(Boolean));
  return place;
};

// A name that may break after + / - _ . or a blank and before @ so that it fits into a column; Q4_1 and 0.3 stay whole.
Fathom.pieces = (name) => name.split(/(?<=[+/\s-])|(?<=[_.])(?!\d)|(?=@)/);

Fathom.breakable = (name) =>
  Fathom.pieces(name).flatMap((piece, place) => (place ? [document.createElement("wbr"), piece] : [piece]));

// Says that what is wider than its place goes on, and fades it there, as long as it does.
Fathom.tellWide = (scroller, faded, hint = null) => {
  const look = () => {
    const left = scroller.scrollWidth - scroller.clientWidth;
    faded.classList.toggle("goes-on", left - Math.abs(scroller.scrollLeft) > 2);
    if (hint) hint.hidden = left <= 2;
  };
  const watch = new ResizeObserver(look);
  for (const each of [scroller, ...scroller.children]) watch.observe(each);
  scroller.addEventListener("scroll", look, { passive: true });
};

Fathom.wideHint = () => Fathom.element("p", { class: "hint", hidden: true }, "The table goes on to the right: scroll it sideways →");

// The room that texts need at a size and weight of the page's font.
const pen = document.createElement("canvas").getContext("2d");
Fathom.measure = (texts, size = 13, weight = 700) => {
  pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(Math.max(...texts.map((text) => pen.measureText(text).width)));
};

// What a model is called; its whole name shows on hover, and is in downloads and the table of models.
Fathom.short = (model) => (Object.hasOwn(Fathom.overview.short || {}, model) ? Fathom.overview.short[model] : model);

const hint = (model) => (Fathom.short(model) === model ? {} : { title: model });

Fathom.model = (model) => Fathom.element("span", hint(model), Fathom.breakable(Fathom.short(model)));

Fathom.closeButton = (dialog) =>
  Fathom.element(
    "button", { type: "button", class: "close", onclick: () => dialog.close() },
    Fathom.element("span", { "aria-hidden": "true" }, "×"), Fathom.element("span", { class: "hidden" }, "Close"),
  );

// Details that are filled when they are opened for the first time.
Fathom.unfold = (attributes, summary, draw) => {
  const made = Fathom.element("details", attributes, Fathom.element("summary", {}, summary));
  made.addEventListener("toggle", () => made.childElementCount > 1 || made.append(...draw().filter(Boolean)));
  return made;
};

// Options are a value, its text, and the group it stands in, if any.
Fathom.select = (label, options, value, onChoose, id = null) => {
  const control = Fathom.element("select", { id, onchange: (event) => onChoose(event.target.value) });
  const groups = new Map();
  for (const [name, text, group] of options) {
    if (group && !groups.has(group)) control.append(groups.set(group, Fathom.element("optgroup", { label: group })).get(group));
    (groups.get(group) || control).append(Fathom.element("option", { value: name }, text));
  }
  control.value = value;
  return Fathom.element("label", {}, `${label} `, control);
};

// The menus of two models: one that is chosen twice takes the other's place.
Fathom.chooseTwo = (options, first, second) =>
  Fathom.element(
    "div", { class: "controls" },
    Fathom.select("First", options, first, (model) => Fathom.set({ a: model, c: model === second ? first : second })),
    Fathom.select("Second", options, second, (model) => Fathom.set({ a: model === first ? second : first, c: model })),
  );

Fathom.numbers = (table) => Fathom.element("details", {}, Fathom.element("summary", {}, "The numbers of this chart"), table);

Fathom.interval = (low, high, show = Fathom.rank) =>
  low === null || high === null || low === undefined ? "" : `[${show(low)}, ${show(high)}]`;

// The width that a chart may take.
Fathom.wide = (place) => Math.max(240, place.clientWidth);

// In a sentence a name breaks after + alone, where the screen is wide enough for what is between.
const LONGEST_PART = 30;
const toPart = (part) => {
  const short = part.length <= LONGEST_PART && !/\s/.test(part);
  return Fathom.element("span", short ? { class: "part" } : {}, Fathom.breakable(part));
};
const toParts = (name) =>
  name.split(/(?<=\+)/).flatMap((part, place) => (place ? [document.createElement("wbr"), toPart(part)] : [toPart(part)]));

const toName = (text) => Fathom.element("strong", hint(text), toParts(Fathom.short(text)));

Fathom.sentence = (pieces) => pieces.map(([text, isName]) => (isName ? toName(text) : text));

// Mean ranks as in the tables of the command line: one decimal, none from 100 on.
// made once: a new one for each number takes longer than the rest of a table
const formats = {
  plain: new Intl.NumberFormat("en"),
  ...Object.fromEntries([0, 1].map((digits) => [digits, new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })])),
};

Fathom.rank = (value) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return formats[Math.abs(value) < 100 ? 1 : 0].format(value);
};

Fathom.plain = (value) =>
  value === null || value === undefined || !Number.isFinite(value)
    ? "–"
    : value.toLocaleString("en", { maximumSignificantDigits: 4 });

Fathom.whole = (value) => (Number.isFinite(value) ? formats.plain.format(value) : "–");

Fathom.plural = (count, what) => `${Fathom.whole(count)} ${what}${count === 1 ? "" : "s"}`;

// Packed data

Fathom.overview = JSON.parse(Fathom.find("overview").textContent);

const unpacked = new Map();

const unpack = async (id) => {
  const text = Fathom.find(id).textContent;
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  writer.write(bytes);
  writer.close();
  return new Response(stream.readable).arrayBuffer();
};

Fathom.read = (id) => {
  if (!unpacked.has(id)) {
    unpacked.set(id, unpack(id).then((buffer) => JSON.parse(new TextDecoder().decode(buffer))));
  }
  return unpacked.get(id);
};

Fathom.readNumbers = (id) => {
  if (!unpacked.has(id)) unpacked.set(id, unpack(id).then((buffer) => new Float32Array(buffer)));
  return unpacked.get(id);
};

// State: what is looked at stands in the address, so that a view can be sent.

const listeners = [];

const parse = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

Fathom.state = parse();

Fathom.address = (changes) => {
  const next = { ...Fathom.state, ...changes };
  const kept = Object.entries(next).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `#${new URLSearchParams(kept)}`;
};

Fathom.set = (changes, push = false) => {
  const before = Fathom.state;
  const address = Fathom.address(changes);
  history[push ? "pushState" : "replaceState"](null, "", address);
  Fathom.state = parse();
  tell(before);
};

const tell = (before) => {
  const keys = new Set([...Object.keys(before), ...Object.keys(Fathom.state)]);
  const changed = new Set([...keys].filter((key) => before[key] !== Fathom.state[key]));
  if (changed.size) listeners.forEach((listener) => listener(changed));
};

Fathom.listen = (listener) => listeners.push(listener);

for (const name of ["hashchange", "popstate"]) {
  addEventListener(name, () => {
    const before = Fathom.state;
    Fathom.state = parse();
    tell(before);
  });
}

// What is chosen; whatever is wrong in an address falls back to the first.

Fathom.benchmark = () => {
  const { benchmarks } = Fathom.overview;
  return benchmarks.find((each) => each.id === Fathom.state.b) || benchmarks[0];
};

Fathom.statistic = () => {
  const found = Fathom.benchmark()?.statistics || {};
  const has = (name) => Object.hasOwn(found, name);
  return has(Fathom.state.s) ? Fathom.state.s : Fathom.overview.statistics.find(({ name }) => has(name))?.name;
};

// What the chosen order is: its label, and metric and statistic, each with name and label.
Fathom.chosen = () => Fathom.overview.statistics.find(({ name }) => name === Fathom.statistic());

Fathom.ranking = () => Fathom.benchmark()?.statistics[Fathom.statistic()]?.ranking || [];

// Values of the chosen order: knowledge in bits, ranks, or other metrics and scores of items, by their unit.

Fathom.isItems = Fathom.overview.kind === "items";
Fathom.isKnowledge = () => !Fathom.isItems && Fathom.chosen()?.metric[0] === "bits";

const hundredths = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "negative" }); // no -0.00
Fathom.bits = (value) => (isNumber(value) ? hundredths.format(value) : "–");

const percents = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const isNumber = (value) => value !== null && value !== undefined && Number.isFinite(value);
const percent = (value) => (isNumber(value) ? `${percents.format(100 * value)} %` : "–");

// The unit of what is chosen, and how values are written by their unit.
Fathom.unit = () => Fathom.benchmark()?.statistics[Fathom.statistic()]?.unit;
Fathom.isRank = () => Fathom.unit() === "rank";
Fathom.show = (unit) => ({ bits: Fathom.bits, rank: Fathom.rank, proportion: percent })[unit] || Fathom.plain;
Fathom.score = (value) => Fathom.show(Fathom.unit())(value);

// A difference of two of them.
Fathom.gap = (value) => (Fathom.unit() === "proportion" && isNumber(value) ? `${percents.format(100 * value)} points` : Fathom.score(value));

// What is chosen in a word or a few.
Fathom.what = () => (Fathom.isKnowledge() ? "knowledge" : Fathom.isRank() ? "rank" : Fathom.chosen()?.metric[1] || "");

// Keywords and sub-fields of the chosen benchmark, by what models are ordered by or the first metric of its unit.
Fathom.keywords = async () => (await Fathom.read(Fathom.benchmark().keywordsBlock))[Fathom.unit() ?? "rank"];

// Models in the order of the ranking; those without one follow.
Fathom.order = () => {
  const ranked = Fathom.ranking().map(([model]) => model);
  const others = (Fathom.benchmark()?.models || []).filter((model) => !ranked.includes(model));
  return [...ranked.filter((model) => Fathom.benchmark().models.includes(model)), ...others];
};

Fathom.two = (order = Fathom.order()) => {
  const first = order.includes(Fathom.state.a) ? Fathom.state.a : order[0];
  const rest = order.filter((model) => model !== first);
  return [first, rest.includes(Fathom.state.c) ? Fathom.state.c : rest[0]];
};

// Pairs of the chosen benchmark with ranks by model; null where the page holds none.
Fathom.pairs = async () => {
  const benchmark = Fathom.benchmark();
  if (!benchmark?.texts) return null;
  const [texts, ranks] = await Promise.all([Fathom.read(benchmark.texts), Fathom.readNumbers(benchmark.ranks)]);
  const count = benchmark.pairs;
  const of = (model) => {
    const place = benchmark.models.indexOf(model);
    return ranks.subarray(place * count, (place + 1) * count);
  };
  return { texts, count, of, leftOut: new Set(texts.leftOut) };
};

// Ranks among rivals, bits, and the words that win, by model; null where the page holds none.
Fathom.rivals = async () => {
  const benchmark = Fathom.benchmark();
  if (!benchmark?.rivals) return null;
  const numbers = [benchmark.rivalRanks, benchmark.bits].map(Fathom.readNumbers);
  const [{ words, first }, ranks, bits] = await Promise.all([Fathom.read(benchmark.rivals), ...numbers]);
  const at = (model, place) => benchmark.models.indexOf(model) * benchmark.pairs + place;
  return {
    rank: (model, place) => ranks[at(model, place)],
    bits: (model, place) => bits[at(model, place)],
    said: (model, place) => words[first[benchmark.models.indexOf(model)][place]] || "",
  };
};

// Rows that look their values up: tens of thousands of them are not copied for every model.
Fathom.lookUp = (count, values) => {
  class Row {
    constructor(index) {
      this.index = index;
    }
  }
  for (const [name, value] of Object.entries(values)) {
    // the grid writes a value back when it draws a cell
    Object.defineProperty(Row.prototype, name, { get() { return value(this.index); }, set() {} });
  }
  return Array.from({ length: count }, (_, index) => new Row(index));
};

// Files of the run: no part of a name is the scheme, the query or the fragment of an address

Fathom.toPath = (name) => name.split("/").map(encodeURIComponent).join("/");

// Tables as files

// what a spreadsheet runs, as in fathom.io.delimited: a field that begins with one of these, unless it is a number
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^'*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?$/i;

const guard = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return typeof value !== "number" && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
};

const quote = (value) => {
  const text = guard(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

Fathom.toCsv = (columns, rows) =>
  `${[columns, ...rows].map((row) => row.map(quote).join(",")).join("\n")}\n`;

Fathom.download = (name, columns, rows) => {
  const address = URL.createObjectURL(new Blob([Fathom.toCsv(columns, rows)], { type: "text/csv" }));
  Fathom.element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

Fathom.downloadButton = (name, collect) =>
  Fathom.element(
    "button",
    {
      type: "button", class: "quiet", "aria-label": `Download CSV: ${name}`,
      onclick: async () => Fathom.download(name, ...(await collect())),
    },
    "Download CSV",
  );
