// The first screen: the answer, what its words mean, what to mind, the ranking.
"use strict";

Fathom.answer = (() => {
  const { element, fill, overview, score, plural, whole, select, interval, model: name } = Fathom;
  const percent = `${Math.round(overview.confidence * 100)}\u00a0%`; // no break before the sign
  const statisticLabel = () => Fathom.chosen()?.label || "";

  const answer = () => {
    const benchmark = Fathom.benchmark();
    const choices = [];
    if (overview.benchmarks.length > 1) {
      const options = overview.benchmarks.map((each) => [each.id, each.label ? `${each.title}: ${each.label}` : each.title]);
      choices.push(select(Fathom.isItems ? "Task" : "Benchmark", options, benchmark.id, (id) => Fathom.set({ b: id, p: "", k: "" })));
    }
    if (Object.keys(benchmark?.statistics || {}).length > 1) {
      const known = overview.statistics.filter((each) => Object.hasOwn(benchmark.statistics, each.name));
      // what stands beside knowledge is what the papers measure
      const group = !Fathom.isItems && known[0].metric[0] === "bits" ? "the papers’ metrics" : "";
      const options = known.map((each, place) => [each.name, each.label, place ? group : ""]);
      choices.push(select("By", options, Fathom.statistic(), (id) => Fathom.set({ s: id })));
    }
    fill(Fathom.find("choices"), choices);
    drawMissing();
    if (!benchmark) {
      fill(Fathom.find("answer-title"), "This run has no completion benchmark; what it has follows.");
      return;
    }
    const found = benchmark.statistics[Fathom.statistic()];
    fill(Fathom.find("answer-title"), ...Fathom.sentence(found?.answer || benchmark.answer));
    fill(Fathom.find("further"), Fathom.sentence(found?.further || []));
    if (!Fathom.isItems) {
      drawTerms(benchmark, found);
      fill(Fathom.find("cautions"), found && caution(benchmark, found));
    }
    fill(Fathom.find("details"), (found?.details || []).map((each) => element("p", {}, Fathom.sentence(each))));
    if (Fathom.isItems) {
      fill(Fathom.find("facts"), `${found.facts.join(" · ")}.`);
      return void drawPictures(benchmark, found);
    }
    if (found && !found.advice.disagreements.length) {
      const said = isMeasured(benchmark) ? "Bits per byte put the models in the same order." : "Bits per byte were not measured.";
      if (found.ranking.length > 1) Fathom.find("details").append(element("p", {}, said));
    }
    drawOthers(benchmark);
    drawFacts(benchmark);
    drawPictures(benchmark, found);
  };

  // What the words of the first screen mean, where they first stand.
  const drawTerms = (benchmark, found) => {
    // beside knowledge the others are named in few words, unless they contradict each other
    const named = found && (!Fathom.isKnowledge() || found.details.some((pieces) => pieces.some(([text, isName]) => !isName && /\brank/.test(text))));
    const orders = named ? overview.statistics.map(({ name: order }) => benchmark.statistics[order]).filter(Boolean) : [];
    const terms = [...new Map([...(found?.terms || []), ...orders.flatMap((each) => each.terms.slice(0, 1)), ...overview.variants])];
    fill(Fathom.find("terms"), terms.map(([term, meaning], place) => [place ? "; " : "", element("dfn", {}, term), `: ${meaning}`]).flat(), terms.length && ".");
  };

  // What to mind beside the answer: sizes of vocabularies, and each conflict with bits per byte.

  const isMeasured = ({ domain }) => overview.metrics.some(([of, , , metric]) => of === domain && metric === "bits_per_byte");
  const FEW = 3;
  const manner = () => `by ${Fathom.what()}`;

  const caution = (benchmark, { advice, vocabularies, ranking }) => {
    const parts = [];
    if (vocabularies.length) parts.push(element("p", {}, Fathom.sentence(vocabularies)));
    const { disagreements } = advice;
    if (disagreements.length) {
      const pairs = (ranking.length * (ranking.length - 1)) / 2;
      const apart = disagreements.filter((each) => each[3]).length;
      const sure = apart === disagreements.length ? "" : apart ? `; ${whole(apart)} of these ${apart === 1 ? "is" : "are"} significantly different ${manner()}` : `; none of these is significantly different ${manner()}`;
      const items = conflicts(disagreements);
      const heading = pairs === 1
        ? "Bits per byte reverse the order of the two models"
        : `Bits per byte reverse the order of ${whole(disagreements.length)} of ${whole(pairs)} pairs of models${sure}`;
      parts.push(items.length > FEW
        ? element("details", {}, element("summary", {}, heading), element("ul", {}, items))
        : element("div", {}, element("p", {}, `${heading}:`), element("ul", {}, items)));
    }
    return parts.length && element("aside", { class: "note", "aria-label": "What to mind" }, parts);
  };

  // Bits per byte with as many digits as tell a model's own from the others', two at least.
  const writeBits = (own, others) => {
    const digits = [2, 3, 4, 5].find((each) => others.every((other) => other.toFixed(each) !== own.toFixed(each))) || 6;
    return (value) => value.toFixed(digits);
  };

  // One line for each model: which ones it is ahead of by what is chosen, and they of it by bits per byte.
  const conflicts = (disagreements) => {
    const lines = new Map();
    for (const each of disagreements) lines.set(each[0], [...(lines.get(each[0]) || []), each]);
    return [...lines].map(([model, found]) => {
      const [own] = found[0][2];
      const bits = writeBits(own, found.map(([, , [, value]]) => value));
      const others = found.map(([, other, [, value], apart, certain], place) => {
        const unsure = [!apart && `${Fathom.isRank() ? "ranks" : Fathom.what()} not significantly different`, !certain && "intervals of bits per byte overlap"].filter(Boolean);
        return [place ? ", " : "", ...Fathom.sentence([[other, true]]), ` (${[bits(value), ...unsure].join("; ")})`];
      });
      return element(
        "li", {}, ...Fathom.sentence([[model, true]]), ` (${bits(own)} bits per byte) is ahead ${manner()}, but by bits per byte `,
        others.flat(), found.length === 1 ? " is." : " are.",
      );
    });
  };

  // The answers of other domains, each a link to its own.
  const drawOthers = (benchmark) => {
    const first = new Map();
    for (const each of overview.benchmarks) if (!first.has(each.domain)) first.set(each.domain, each);
    first.delete(benchmark.domain);
    if (!first.size) return;
    const items = [...first.values()].map((each) => {
      const { answer: pieces, further = [] } = each.statistics[Fathom.statistic()] || Object.values(each.statistics)[0] || each;
      return element("li", {}, Fathom.sentence(pieces), " ", Fathom.sentence(further), further.length ? " " : "", element("a", { href: Fathom.address({ b: each.id, p: "", k: "" }) }, `Show ${each.title}`));
    });
    Fathom.find("details").append(
      element("details", { open: first.size < 4 }, element("summary", {}, "In other domains"), element("ul", {}, items)),
    );
  };

  const day = (date) => element("span", { class: "whole" }, date);

  const drawFacts = (benchmark) => {
    const out = benchmark.pairs - benchmark.kept;
    const facts = [
      `${benchmark.label} benchmark of ${plural(benchmark.kept, "pair")}, ${plural(benchmark.keywords, "keyword")}, ${plural(benchmark.documents, "document")}`,
      benchmark.dates.length ? ["texts from ", day(benchmark.dates[0]), " to ", day(benchmark.dates[1])] : "texts without a date",
      plural(benchmark.models.length, "model"),
    ];
    if (out) facts.push(`${plural(out, "further pair")} left out, as ${out === 1 ? "it occurs" : "they occur"} in training text`);
    const [words, of] = benchmark.heldOut;
    if (words) facts.push(`${Fathom.whole(words)} of ${plural(of, "held-out word")} left out of perplexity, as they occur in training text`);
    fill(Fathom.find("facts"), ...facts.flatMap((fact, place) => [place ? " · " : "", fact].flat()), ".");
  };

  const drawMissing = () => {
    if (!overview.missing.length) return;
    fill(
      Fathom.find("missing"),
      element(
        "aside", { class: "note", "aria-label": "What is missing" },
        element("h2", {}, Fathom.isItems ? "What was left out or put together" : "This run is not complete"),
        element("ul", {}, overview.missing.map((each) => element("li", {}, each))),
      ),
    );
  };

  const drawPictures = (benchmark, found) => {
    const points = findFluency(benchmark, found);
    Fathom.find("pictures").classList.toggle("two", points.length > 0);
    drawRanking(found);
    drawFluency(points);
  };

  const drawRanking = (found) => {
    const place = Fathom.find("ranking");
    if (!found) return fill(place);
    const rows = found.ranking;
    const knows = Fathom.isKnowledge();
    const has = ([, , low]) => !knows || low === null || low > 0;
    const best = rows[0][0];
    const apart = new Set(
      found.comparisons.filter(([better, , , , , , , is]) => is && better === best).map(([, worse]) => worse),
    );
    const compared = found.comparisons.length > 0;
    const leaders = new Set(rows.filter(has).map(([model]) => model).filter((model) => model === best || (compared && !apart.has(model))));
    const what = knows ? "knowledge, bits" : Fathom.isItems ? statisticLabel() : `${statisticLabel()} of the author’s word`;
    const label = `${what}, with ${percent} intervals; further ${found.low ? "left" : "right"} is better`;
    const most = knows && found.ceiling !== null ? ` of at most ${score(found.ceiling)} bits` : "";
    const text = `Ranking of ${plural(rows.length, "model")}, best first: ${rows.map(([model, value]) => `${Fathom.short(model)} ${score(value)}`).join("; ")}${most}. The table below has the same numbers.`;
    const lines = knows ? [[0, "nothing"], ...(most ? [[found.ceiling, "always sure"]] : [])] : [];
    const chart = Fathom.charts.ranking(rows, { label, width: Fathom.wide(place), leaders, text, lines });
    const several = rows.length > 1 && rows.some(([, , , , letters]) => letters);
    const table = Fathom.tables.plain(
      `Models by ${statisticLabel()}`,
      [
        { title: "place", number: true }, { title: "model", head: true }, { title: knows ? "bits" : Fathom.isRank() ? "rank" : statisticLabel(), number: true },
        { title: `${percent} interval`, number: true }, { title: "groups" },
      ],
      rows.map(([model, value, low, high, letters], number) => [
        number + 1, name(model), score(value), interval(low, high, score), letters,
      ]),
    );
    fill(
      place, chart,
      several && element("figcaption", {}, "Models joined by a bar, that is with a letter in common, are not significantly different. Bars and letters hold for all comparisons together, intervals for each alone."),
      Fathom.numbers(table),
    );
  };

  // Knowledge beside how well a model predicts the field's text, where both were measured.
  const findFluency = (benchmark, found) => {
    if (!found || !Fathom.isKnowledge()) return [];
    const rows = overview.metrics.filter(([domain, , , metric, , value]) => domain === benchmark.domain && metric === "bits_per_byte" && value !== null);
    const measured = new Map(rows.map(([, , model, , , ...values]) => [model, values]));
    return found.ranking.filter(([model]) => measured.has(model)).map(([model, value, low, high]) => ({
      model, value, low: low ?? value, high: high ?? value, interval: [low, high], bytes: measured.get(model),
    }));
  };

  const drawFluency = (points) => {
    const place = Fathom.find("fluency");
    if (!points.length) return fill(place);
    const digits = (value) => value.toFixed(3);
    const text = `Knowledge and bits per byte of ${plural(points.length, "model")}: ${points.map(({ model, value, bytes }) => `${Fathom.short(model)} ${score(value)} and ${digits(bytes[0])}`).join("; ")}. The table below has the same numbers.`;
    const table = Fathom.tables.plain(
      "Knowledge and bits per byte by model",
      [{ title: "model", head: true }, ...["bits", `${percent} interval`, "bits per byte", `${percent} interval`].map((title) => ({ title, number: true }))],
      points.map(({ model, value, interval: [low, high], bytes: [own, ...ends] }) => [
        name(model), score(value), interval(low, high, score), digits(own), interval(...ends, digits),
      ]),
    );
    fill(
      place,
      element("h2", {}, "How the field sounds"),
      element("p", {}, "Bits per byte say how well a model predicts the field’s own prose, whether or not it knows its words."),
      Fathom.charts.fluency(points, { width: Fathom.wide(place), text, label: `↑ knowledge, bits, with ${percent} intervals; bits per byte of held-out text: further right is more fluent` }),
      Fathom.numbers(table),
    );
  };

  return answer;
})();
