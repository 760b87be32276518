// Small tables are plain HTML tables; large ones are grids by Tabulator, which draws only the rows in view.
"use strict";

Fathom.tables = (() => {
  const { element } = Fathom;

  const LONG = 20; // rows from which on a table scrolls in its own frame

  // A table with caption and scopes. Columns: {title, number?, head?}; cells: text, node, or {node, value, class, style}.
  const plain = (caption, columns, rows, { sortable = false, hideCaption = false } = {}) => {
    const body = element("tbody");
    const draw = (ordered) => body.replaceChildren(...ordered.map((row) => drawRow(columns, row)));
    const heads = columns.map((column, place) => {
      const cell = element("th", { scope: "col", class: column.number ? "number" : "" });
      const title = typeof column.title === "string" ? Fathom.breakable(column.title) : [column.title];
      if (!sortable) return Fathom.fill(cell, title);
      const button = element("button", { type: "button", class: "sort" }, title);
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        heads.forEach((head) => head.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => (row[place]?.value !== undefined ? row[place].value : row[place]);
        const sign = down ? -1 : 1;
        draw([...rows].sort((a, b) => sign * compare(value(a), value(b))));
      });
      return Fathom.fill(cell, button);
    });
    draw(rows);
    const table = element(
      "table", {},
      element("caption", { class: hideCaption ? "hidden" : "" }, caption),
      element("thead", {}, element("tr", {}, heads)),
      body,
    );
    const scroller = element("div", { class: rows.length > LONG ? "scroll long" : "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
    const hint = Fathom.wideHint();
    Fathom.tellWide(scroller, scroller, hint);
    return element("div", {}, hint, scroller);
  };

  const drawRow = (columns, row) =>
    element("tr", {}, row.map((cell, place) => {
      const column = columns[place];
      const given = cell !== null && typeof cell === "object" && !(cell instanceof Node) ? cell : { node: cell };
      const classes = [column.number ? "number" : "", given.class || ""].join(" ").trim();
      const made = element(column.head ? "th" : "td", { class: classes, scope: column.head ? "row" : null, title: given.title });
      if (given.tint) made.style.backgroundColor = given.tint;
      made.append(given.node ?? "");
      return made;
    }));

  const compare = (a, b) => {
    const missing = (value) => value === null || value === undefined || value === "";
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
  };

  // Colours: the stronger, the darker; the text stays readable.
  const tint = (share, color = "--accent") =>
    `color-mix(in srgb, var(${color}) ${Math.round(Math.min(1, Math.max(0, share)) * 38)}%, transparent)`;

  const text = (cell) => document.createTextNode(cell.getValue() ?? "");

  const CONTROL = "button, a";

  const node = (show) => (cell) => {
    const shown = show(cell.getValue(), cell.getRow().getData());
    if (!(shown instanceof Node)) return document.createTextNode(shown ?? "");
    if (shown.matches(CONTROL)) shown.tabIndex = -1; // of thousands of rows none is a stop of its own: arrows go from one to the next
    return shown;
  };

  // The lines that a row needs for the texts of some columns: [texts, width]; they break at blanks and hyphens. One text that is
  // far longer than the others does not make all rows high.
  const count = (columns) => Math.min(MOST_LINES, Math.max(1, ...columns.flatMap(([texts, width]) => [...new Set(texts)].map((each) => {
    let [lines, left] = [1, width - PADDING];
    for (const word of each.split(/(?<=[\s-])/)) {
      const size = Fathom.measure([word.trimEnd()], 14.4, 400);
      if (size > left && left < width - PADDING) [lines, left] = [lines + 1, width - PADDING];
      left -= size + (word.endsWith(" ") ? BLANK : 0);
    }
    return lines;
  }))));

  // The width of a column of one model: all of them fit beside the others if they can.
  const share = (place, others, count) => Math.min(132, Math.max(112, Math.floor((place.clientWidth - others - 20) / count)));

  const LINE = 20;
  const EDGES = 14;
  const MOST_LINES = 3;
  const PADDING = 18;
  const BLANK = 5;

  const isNarrow = (place) => place.clientWidth < 640;

  // A column is as wide as the longest part of its title that does not break, with the arrow beside it.
  const widen = ({ title, width }) => Math.max(width, Fathom.measure(Fathom.pieces(title).flatMap((piece) => piece.split(/\s+/)), 13.2, 600) + 44);

  // A grid. Columns: {field, title, number?, show?, width?}; lines of text in a row. Titles and values are set as text.
  const grid = (place, { label, columns, rows, height, sort, onSort, onOpen, frozen = true, lines = 1 }) => {
    const narrow = isNarrow(place);
    place.style.setProperty("--lines", lines);
    const made = new Tabulator(place, {
      data: rows,
      height,
      rowHeight: lines * LINE + EDGES,
      index: "index",
      layout: "fitData",
      autoResize: false, // the page draws anew when its width changes; else the focus is lost at first sight
      renderHorizontal: columns.length > 14 ? "virtual" : "basic",
      placeholder: element("p", { class: "empty" }, "Nothing fits these filters."),
      headerSortClickElement: "header",
      initialSort: sort?.column ? [sort] : [],
      columns: columns.map((column, number) => ({
        field: column.field,
        title: column.title,
        // a button, so that the keyboard sorts too: its click reaches the header
        titleFormatter: () => element("button", { type: "button", class: "head" }, Fathom.breakable(column.title)),
        formatter: column.show ? node(column.show) : text,
        sorter: column.number ? "number" : "string",
        sorterParams: column.number ? { alignEmptyValues: "bottom" } : {},
        headerSortStartingDir: "asc",
        hozAlign: column.number ? "right" : "left",
        width: widen({ ...column, width: narrow ? column.narrow || column.width : column.width }),
        vertAlign: "middle",
        frozen: frozen && number === 0 && !narrow,
        resizable: "header",
        headerHozAlign: column.number ? "right" : "left",
      })),
    });
    const hint = Fathom.wideHint();
    place.before(hint);
    made.on("tableBuilt", () => {
      label_(place, label);
      walk(made, place.querySelector(".tabulator-tableholder"));
      Fathom.tellWide(place.querySelector(".tabulator-tableholder"), place, hint);
    });
    if (onSort) made.on("dataSorted", (sorters) => onSort(sorters[0]));
    if (onOpen) made.on("rowClick", (event, row) => onOpen(row.getData()));
    return made;
  };

  // Arrows go from row to row, Home and End to the first and the last one; a press of Tab leaves the rows.
  const walk = (made, holder) => holder.addEventListener("keydown", async (event) => {
    const own = event.target.closest(".tabulator-row");
    const top = holder.getBoundingClientRect().top;
    const seen = [...holder.querySelectorAll(".tabulator-row")].find((row) => row.getBoundingClientRect().bottom > top + EDGES);
    const from = own || seen;
    if (!from || !["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // Tabulator would scroll too, and take the row away
    const row = made.getRow(from);
    const steps = { ArrowDown: () => (own ? row.getNextRow() : row), ArrowUp: () => row.getPrevRow(), Home: () => made.getRows("active")[0], End: () => made.getRows("active").at(-1) };
    const next = steps[event.key]();
    if (!next) return;
    await made.scrollToRow(next, "nearest", false);
    next.getElement().querySelector(CONTROL)?.focus({ preventScroll: true });
  });

  // Tabulator marks its parts as a grid for screen readers; what it leaves open is named here.
  const label_ = (place, label) => {
    place.setAttribute("aria-label", label);
    const holder = place.querySelector(".tabulator-tableholder");
    holder.setAttribute("role", "rowgroup");
    holder.setAttribute("aria-label", `${label}: rows, by arrow keys`);
    place.querySelector(".tabulator-table")?.setAttribute("role", "presentation");
    place.querySelectorAll(".tabulator-col-resize-handle, .tabulator-arrow").forEach((part) => part.setAttribute("aria-hidden", "true"));
  };

  // The height of a grid of some rows: no more than is needed.
  const tall = (count, most, lines = 1) => Math.min(most, count * (lines * LINE + EDGES + 1) + 150);

  return { plain, grid, share, count, tint, isNarrow, tall };
})();
