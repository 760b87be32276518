// The parts of the page, each drawn from the chosen benchmark and statistic.
"use strict";

Fathom.sections = (() => {
  const { element, fill, overview, rank, plain, plural, whole, interval, model: name } = Fathom;
  const percent = `${Math.round(overview.confidence * 100)}\u00a0%`; // no break before the sign
  const statisticLabel = () => Fathom.chosen()?.label || "";
  const knows = () => Fathom.isKnowledge();
  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  // What to do next

  const FIRST = 10;

  const settle = (rows, clusters) =>
    Fathom.tables.plain(
      "Models that are not significantly different, and how many pairs would settle it",
      [{ title: "ahead", head: true }, { title: "behind" }, { title: knows() ? "knows less by" : Fathom.isRank() ? "rank is higher by" : "ahead by", number: true }, { title: "pairs needed", number: true }, { title: `${clusters} needed`, number: true }],
      rows.map(([better, worse, gap, pairs, keywords]) => [
        name(better), name(worse), knows() ? `${Fathom.gap(gap)} bits` : Fathom.chosen().aggregate[0] === "mean" ? Fathom.gap(gap) : `${((gap - 1) * 100).toFixed(1)} %`,
        pairs ? whole(pairs) : "taken as equal", keywords ? whole(keywords) : "–",
      ]),
      { hideCaption: true },
    );

  const next = (place) => {
    const benchmark = Fathom.benchmark();
    const found = benchmark.statistics[Fathom.statistic()];
    if (!found) return fill(place, element("p", {}, "No models have been compared yet."));
    const { unsettled, unknown, clusters, judged } = found.advice;
    // among few candidates no rank is as high as the usual limit
    const why = Fathom.isRank() && found.advice.limit < overview.unknownRank ? " (what guessing gives among so few candidates)" : "";
    const drawn = clusters === "documents" ? plural(benchmark.documents, "document") : plural(benchmark.keywords, "keyword");
    const parts = [element("h3", {}, "Which models are not significantly different?")];
    if (found.ranking.length < 2) parts.push(element("p", {}, "One model was scored. Score a second one to compare them."));
    else if (!found.comparisons.length) parts.push(element("p", {}, "No models have been compared yet."));
    else if (!unsettled.length) parts.push(element("p", {}, `All models are significantly different by ${statisticLabel()}.`));
    else {
      parts.push(
        element("p", {}, `By ${statisticLabel()}. With the number of pairs needed, a difference as large as the one seen is found in 80 % of such benchmarks; this one has ${plural(benchmark.kept, "pair")} of ${drawn}. Models that need over ${whole(overview.tooMany)} pairs are taken as equal.`),
        settle(unsettled.slice(0, FIRST), clusters),
        unsettled.length > FIRST && element("details", {}, element("summary", {}, `All ${whole(unsettled.length)}`), settle(unsettled, clusters)),
      );
    }
    if (found.advice.limit === null) return fill(place, parts);
    parts.push(element("h3", {}, "What does no model know?"));
    const limit = whole(found.advice.limit);
    if (!judged) parts.push(element("p", {}, `No keyword has ${overview.fewestPairs} pairs or more, so nothing can be said of one.`));
    else if (!unknown.length) parts.push(element("p", {}, `On every keyword with ${overview.fewestPairs} pairs or more some model has ${knows() ? "more than 0 bits" : `a ${statisticLabel()} of ${limit} or better`}${why}.`));
    else {
      const listed = unknown.slice(0, 12);
      parts.push(
        element("p", {}, `${plural(unknown.length, "keyword")} on which even the best model has ${knows() ? "no more than 0 bits" : `a ${statisticLabel()} above ${limit}`}${why}, of those with ${overview.fewestPairs} pairs or more${unknown.length > listed.length ? `; the first ${listed.length}` : ""}:`),
        element("ul", { class: "chips" }, listed.map(([keyword, pairs, , value]) =>
          element("li", {}, element("a", { href: Fathom.address({ v: "pairs", k: keyword, q: "", f: "" }) }, keyword), ` ${Fathom.score(value)} (${plural(pairs, "pair")})`),
        )),
      );
    }
    fill(place, parts);
  };

  // Every domain and metric

  const RANKED = Object.fromEntries(overview.statistics.map(({ metric: [metric, label], sign, unit }) => [metric, [label, sign, unit]]));
  const BASELINES = Object.fromEntries(overview.baselines.map(([metric, ...rest]) => [metric, rest]));
  const MEASURED = new Set(overview.metrics.map(([, , , metric]) => metric));
  const HIGH = [[RANKED, ""], [BASELINES, "the "]].flatMap(([metrics, article]) => Object.entries(metrics)
    .filter(([metric, [, sign]]) => sign > 0 && MEASURED.has(metric)).map(([, [label]]) => article + label));

  const domains = (place) => {
    const columns = new Map();
    // metrics of several statistics go by the chosen one, or by the first: knowledge has one of its own
    const some = overview.statistics.filter(({ metric: [metric] }) => overview.statistics.filter((each) => each.metric[0] === metric).length > 1);
    const isSeveral = new Set(some.map(({ metric: [metric] }) => metric));
    const [shown, called] = (some.includes(Fathom.chosen()) ? Fathom.chosen() : some[0])?.aggregate || [];
    for (const [domain, variant, model, metric, aggregate, value, low, high] of overview.metrics) {
      const isRank = Object.hasOwn(RANKED, metric);
      if (isSeveral.has(metric) && aggregate !== shown) continue;
      const benchmark = overview.benchmarks.find((each) => each.domain === domain && each.variant === variant);
      const [label, sign, unit] = isRank ? [`${benchmark?.label || variant} ${RANKED[metric][0]}`, ...RANKED[metric].slice(1)] : BASELINES[metric];
      const title = overview.benchmarks.find((each) => each.domain === domain)?.title || domain;
      const key = `${domain} ${isRank ? `0${metric}${overview.benchmarks.indexOf(benchmark)}` : label}`;
      if (!columns.has(key)) columns.set(key, { title, label, sign, isRank, unit, cells: new Map() });
      columns.get(key).cells.set(model, [value, low, high]);
    }
    const kinds = [...columns.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, column]) => column);
    if (!kinds.length) return fill(place, element("p", {}, "Nothing has been summed up yet."));
    const several = new Set(kinds.map((kind) => kind.title)).size > 1;
    const own = kinds.filter(({ isRank }) => isRank);
    const others = kinds.filter(({ isRank }) => !isRank);
    // with several domains one table of all would be too wide to be seen at once
    const split = several && own.length && others.length;
    fill(
      place,
      element("p", {}, `Ranks by ${called || ""}; low is best${HIGH.length ? ` but for ${HIGH.join(" and ")}` : ""}. The darker a cell, the better its place in its column; the best is bold.`),
      heatMap("Models by domain and metric", split ? own : kinds, several),
      split && element("details", {}, element("summary", {}, Object.values(BASELINES).map(([label]) => label).join(", ")), heatMap("Models by domain and baseline", others, several)),
      agreement(),
    );
  };

  const heatMap = (caption, kinds, several) => {
    const order = [...Fathom.order(), ...overview.models.filter((model) => !Fathom.order().includes(model))];
    const rows = order.map((model) => [{ node: name(model), value: model }, ...kinds.map((kind) => heatCell(kind, model))]);
    const columns = kinds.map(({ title, label }) => ({ title: several ? `${title}: ${label}` : label, number: true }));
    return Fathom.tables.plain(caption, [{ title: "model", head: true }, ...columns], rows, { sortable: true, hideCaption: true });
  };

  const heatCell = ({ cells, sign, isRank, unit }, model) => {
    const [value, low, high] = cells.get(model) || [null];
    if (value === null) return { node: "–", value };
    const ordered = [...cells.values()].map(([each]) => each).filter((each) => each !== null).sort((a, b) => sign * (b - a));
    const share = ordered.length > 1 ? 1 - ordered.indexOf(value) / (ordered.length - 1) : 0;
    const shown = isRank ? Fathom.show(unit)(value) : Math.abs(value) >= 10 ? rank(value) : value.toFixed(Math.abs(value) < 1 ? 3 : 2);
    return {
      node: ordered[0] === value ? element("strong", {}, shown, element("span", { class: "hidden" }, " best")) : shown,
      value, tint: Fathom.tables.tint(share), title: low === null ? null : `${percent} interval ${plain(low)} to ${plain(high)}`,
    };
  };

  const agreement = () => {
    const { metric, aggregate, sign } = Fathom.chosen() || overview.statistics[0];
    const series = `${Fathom.benchmark().variant} ${metric[0]}`;
    const rows = overview.correlations.filter(([domain, x, y]) => domain === Fathom.benchmark().domain && [x, y].some((each) => each === series || each.startsWith(`${series} (`)));
    const wanted = rows.find(([, x, y]) => `${x} ${y}`.includes(aggregate[1])) || rows[0];
    // bits per byte are best where they are low: with knowledge they agree if tau is negative
    return wanted && wanted[6] > 2 && element("p", {}, `${Fathom.isRank() ? "Ranks" : capital(Fathom.what())} and bits per byte agree on the order of models with Kendall’s tau = ${(-sign * Number(wanted[3])).toFixed(2)} (${wanted[6]} models).`);
  };

  // Sub-fields

  const subfields = async (place) => {
    const benchmark = Fathom.benchmark();
    const found = await Fathom.keywords();
    const [byBits, isRank, label] = [knows(), Fathom.isRank(), Fathom.chosen()?.metric[1]];
    if (!found.subfields.length) {
      return fill(place, element("p", {}, "This benchmark has no sub-fields: its keywords have no vectors in this run, or no model has been scored."));
    }
    const order = Fathom.order().filter((model) => found.models.includes(model));
    if (order.length < 2) return fill(place, element("p", {}, "Two models are needed: a model is strong or weak against others."));
    const places = order.map((model) => found.models.indexOf(model));
    const show = (value) => (isRank ? `${value.toFixed(2)}×` : `${value > 0 ? "+" : ""}${Fathom.gap(value)}`);
    // where a cell is darkest: at one bit, at a factor of two, else at the largest of all
    const full = byBits || isRank ? 1 : Math.max(...found.subfields.flatMap(([, , gains]) => gains.map(Math.abs))) || 1;
    const rows = found.subfields.map(([label, values, gains, lows, highs, apart], number) => {
      const members = found.keywords.filter((_, index) => found.codes[index] === number);
      const count = found.pairs.reduce((sum, pairs, index) => sum + (found.codes[index] === number ? pairs : 0), 0);
      return [
        { node: element("span", { title: members.join(", ") }, label), value: label },
        { node: `${members.length} / ${whole(count)}`, value: count },
        ...places.map((index) => {
          const gain = gains[index];
          const more = isRank ? Math.log2(gain) : gain;
          const sure = apart[index];
          const shown = `${!sure ? "" : more > 0 ? "▲ " : "▼ "}${show(gain)}`;
          return {
            node: sure ? element("strong", {}, shown) : shown, value: gain,
            tint: Fathom.tables.tint(Math.min(1, Math.abs(more) / full), more > 0 ? "--accent" : "--warm"),
            title: `${byBits ? `${Fathom.bits(values[index])} bits` : `${Fathom.what()} ${Fathom.score(values[index])}`}; ${percent} interval of this number alone ${plain(lows[index])} to ${plain(highs[index])}`,
          };
        }),
      ];
    });
    fill(
      place,
      element("p", {}, "Keywords are grouped by meaning; each group has the name of its two most central keywords. ",
        byBits ? "A cell says how many bits more a model has there than its knowledge on the whole benchmark and the difficulty of the group let expect. "
          : isRank ? "A cell says how many times better a model ranks the targets there than its rank on the whole benchmark and the difficulty of the group let expect. "
            : `A cell says how much better a model’s ${label} is there than that on the whole benchmark and the difficulty of the group let expect. `,
        "▲ and ▼: strong and weak, tested for all sub-fields, models and benchmarks of this page together. ",
        found.subfields.some((row) => row.at(-1).includes(true)) ? "" : "Here none is. ",
        "Intervals hold for each cell alone."),
      Fathom.tables.plain(
        "Strength of models by sub-field",
        [{ title: "sub-field", head: true }, { title: "keywords / pairs", number: true }, ...order.map((model) => ({ title: Fathom.short(model), number: true }))],
        rows, { sortable: true, hideCaption: true },
      ),
    );
  };

  // Two models

  const two = async (place) => {
    const benchmark = Fathom.benchmark();
    const found = await Fathom.keywords();
    const order = Fathom.order().filter((model) => found.models.includes(model));
    if (order.length < 2) return fill(place, element("p", {}, "Two models are needed to compare."));
    const [first, second] = Fathom.two(order);
    const [a, b] = [first, second].map((model) => found.models.indexOf(model));
    const sign = Fathom.chosen()?.sign;
    const points = found.keywords.map((keyword, number) => {
      const [x, y] = [found.values[number][a], found.values[number][b]];
      return { keyword, pairs: found.pairs[number], x, y, lead: sign * (x - y) };
    });
    const ahead = points.filter(({ lead }) => lead > 0).length;
    const better = knows() ? "more bits" : `the ${sign > 0 ? "higher" : "lower"} ${Fathom.what()}`;
    const options = order.map((model) => [model, Fathom.short(model)]);
    const width = Fathom.wide(place);
    const [one, other] = [first, second].map(Fathom.short);
    const text = `One mark for each of ${plural(points.length, "keyword")}: ${one} has ${better} on ${ahead}, ${other} on ${points.filter(({ lead }) => lead < 0).length}.`;
    const lists = element("div");
    fill(
      place,
      Fathom.chooseTwo(options, first, second),
      describeTwo(first, second, `${one} has ${better} on ${ahead} of ${plural(points.length, "keyword")}.`),
      element("div", { class: "columns" },
        element("figure", {}, Fathom.charts.scatter(points, { first: one, second: other, width, text }),
          element("figcaption", {}, `${Fathom.charts.fits(one, other, width) ? "" : `The first is ${one}, the second ${other}. `}A mark is a keyword, the larger the more pairs it has; ${sign > 0 ? "below" : "above"} the dashed line, and filled, ${one} is ahead.`)),
        lists),
    );
    const [data, rivals] = await Promise.all([Fathom.pairs(), knows() ? Fathom.rivals() : null]);
    if (data && (rivals || Fathom.isRank())) fill(lists, [[first, second], [second, first]].map((models) => mostDifferent(data, models, rivals)));
  };

  const describeTwo = (first, second, keywords) => {
    const rows = Fathom.benchmark().statistics[Fathom.statistic()]?.comparisons || [];
    const row = rows.find(([better, worse]) => [first, second].includes(better) && [first, second].includes(worse));
    if (!row) return element("p", {}, keywords);
    const [better, worse, difference, low, high, p, adjusted, apart] = row;
    const format = (number) => (number < 0.001 ? "< 0.001" : `= ${number.toFixed(3)}`);
    const alone = low !== null && !Number.isNaN(low) && (low > 0 || high < 0); // the interval is that of two models alone
    const corrected = adjusted === null ? "" : `; p ${format(adjusted)} for all comparisons together`;
    const sure = low === null ? "" : ` (${percent} interval ${Fathom.gap(low)} to ${Fathom.gap(high)}, p ${format(p)}${corrected})`;
    return element(
      "p", {}, element("strong", {}, name(better)), ` is ahead of `, element("strong", {}, name(worse)),
      ` by ${Fathom.gap(difference)} in ${statisticLabel()}${sure}: `,
      apart ? "they are apart. " : alone ? "apart if these two alone are compared, not significantly different among all models. " : "they are not significantly different. ",
      keywords,
    );
  };

  // The pairs on which one model is furthest ahead of another: by bits if there are rivals, else by the factor of ranks.
  const mostDifferent = ({ texts, count, of, leftOut }, [ahead, behind], rivals) => {
    const value = (model, place) => (rivals ? rivals.bits(model, place) : of(model)[place]);
    const lead = (place) => (rivals ? value(ahead, place) - value(behind, place) : Math.log(value(behind, place) / value(ahead, place)));
    const gaps = Float64Array.from({ length: count }, (_, place) => (leftOut.has(place) ? 0 : lead(place) || 0));
    const least = Math.max(0, gaps.toSorted()[Math.max(0, count - 200)]); // those that could be shown
    const places = Array.from(gaps.keys())
      .filter((place) => gaps[place] > 0 && gaps[place] >= least)
      .sort((a, b) => gaps[b] - gaps[a] || a - b);
    // one sentence may belong to several keywords
    const seen = new Set();
    const distinct = places.filter((place) => {
      const text = texts.prompts[place] + texts.targets[place];
      return !seen.has(text) && seen.add(text);
    });
    const rows = distinct.slice(0, 6).map((place) => [
      element("a", { href: Fathom.address({ p: texts.ids[place] }) },
        Fathom.pairsPart.completion(texts.prompts[place], texts.targets[place], 120)),
      ...[ahead, behind].map((model) => (rivals ? Fathom.bits : whole)(value(model, place))),
    ]);
    const [one, other] = [ahead, behind].map(Fathom.short);
    const caption = `${one} is furthest ahead here`;
    if (!rows.length) return element("p", {}, `${one} is nowhere ahead.`);
    return Fathom.tables.plain(caption, [{ title: "pair", head: true }, { title: one, number: true }, { title: other, number: true }], rows);
  };

  // Keywords

  const keywords = async (place) => {
    const benchmark = Fathom.benchmark();
    const found = await Fathom.keywords();
    if (!found.keywords.length) return fill(place, element("p", {}, "No model has been scored on these keywords yet."));
    const order = Fathom.order().filter((model) => found.models.includes(model));
    const places = order.map((model) => found.models.indexOf(model));
    const show = Fathom.score;
    const rows = found.keywords.map((keyword, number) => {
      const row = { index: number, keyword, pairs: found.pairs[number], subfield: found.subfields[found.codes[number]]?.[0] || "" };
      places.forEach((index, column) => (row[`m${column}`] = found.values[number][index]));
      return row;
    });
    const holder = element("div", { class: "grid" });
    const header = ["keyword", "pairs", "sub-field", ...order];
    const collect = () => [header, rows.map((row) => [row.keyword, row.pairs, row.subfield, ...order.map((_, column) => row[`m${column}`])])];
    fill(
      place,
      element("p", {}, `${knows() ? "Mean knowledge in bits" : Fathom.isRank() ? "Geometric mean rank" : `Mean ${Fathom.what()}`} of each model on the pairs of each keyword. A keyword opens its pairs.`),
      element("div", { class: "controls" }, Fathom.downloadButton(`${benchmark.id.replace("/", ".")}.keywords.csv`, collect)),
      holder,
    );
    const width = Fathom.tables.share(holder, 278, order.length);
    const [named, grouped] = [Math.max(200, Math.min(360, holder.clientWidth - width * order.length - 358)), 260];
    const own = Fathom.tables.isNarrow(holder) ? 150 : named;
    const lines = Fathom.tables.count([[found.keywords, own], [found.subfields.map(([label]) => label), grouped]]);
    Fathom.tables.grid(holder, {
      label: `Keywords of ${benchmark.title}, ${benchmark.label}`,
      rows,
      lines,
      height: Fathom.tables.tall(rows.length, 480, lines),
      columns: [
        { field: "keyword", title: "keyword", width: own, show: (value) => element("a", { href: Fathom.address({ v: "pairs", k: value, q: "", f: "" }) }, value) },
        { field: "pairs", title: "pairs", number: true, width: 78, show: whole },
        ...order.map((model, column) => ({ field: `m${column}`, title: Fathom.short(model), number: true, width, show })),
        { field: "subfield", title: "sub-field", width: grouped },
      ],
    });
  };

  return { next, domains, subfields, two, keywords };
})();
