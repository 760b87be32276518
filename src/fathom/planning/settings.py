"""The part of the configuration that each program gets as JSON: other keys re-run nothing."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fathom.config.benchmark import HOW_TO_EMBED, Embedding
from fathom.config.claims import list_conditions
from fathom.config.tuning import Preparation
from fathom.config.whole import Config
from fathom.planning.run_files import find_controls

_UNUSED = {
    "embedding": HOW_TO_EMBED,
    "sentences": {"limit"},
    "layers": {"models", "against"},
    "perplexity": {"texts"},
    "choices": {"questions", "models", "styles"},
}
"""Keys of sections that do not affect the results of programs."""
EMBEDDING_KEYS = {*Embedding.model_fields}
"""All keys of `embedding`, for programs that embed, to which device and speed matter."""


def dump_json(values: Any) -> str:
    """Return values as JSON with sorted keys, so that equal settings are equal text."""
    return json.dumps(values, sort_keys=True)


class Settings:
    """Settings of the programs of a run, as JSON."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def of(self, *sections: str, **parts: set[str]) -> str:
        """Return sections of the configuration, and some keys of others: one bare, several by name."""
        values = {name: self._dump(name) for name in sections}
        values |= {
            name: getattr(self._config, name).model_dump(mode="json", include=keys)
            for name, keys in parts.items()
        }
        return dump_json(values if len(values) > 1 else next(iter(values.values())))

    def of_selection(self) -> str:
        """Return what decides the documents, without titles."""
        domains = {
            name: domain.model_dump(mode="json", exclude={"title", "benchmark"})
            for name, domain in self._config.domains.items()
        }
        others = {"files", "packages", "slice_mb", "splits_by", "grouping", "markup", "near_copies"}
        corpus = self._config.corpus.model_dump(mode="json", by_alias=True, exclude=others)
        return dump_json({"corpus": corpus, "domains": domains})

    def of_sketch(self) -> str:
        """Return what the hashes of documents depend on."""
        return self._config.corpus.grouping.model_dump_json(include={"min_words"})

    def of_groups(self) -> str:
        """Return what groups of documents and their splits depend on."""
        corpus = self._config.corpus.model_dump(mode="json", by_alias=True, include={"splits", "grouping"})
        return dump_json({**corpus, "drops_copies": self._config.corpus.drops_copies})

    def of_card(self) -> str:
        """Return what a benchmark's card and manifest record, without models and their scores."""
        others = {
            *("previous", "models", "scoring", "perplexity", "attribute_rate", "served", "summary"),
            *("targets", "coverage", "choices", "references", "lead_reference", "layers", "lens"),
            *("train_before_test", "examples"),
            *(() if self._config.claims.unused else ("claims",)),
        }
        values = self._config.model_dump(mode="json", by_alias=True, exclude=others)
        del values["corpus"]["slice_mb"]  # results do not depend on it
        values["embedding"] = self._dump("embedding")
        return dump_json(values)

    def of_text_source(self, domain: str) -> str:
        """Return where the training text of a domain comes from."""
        return self._config.models.texts[domain].model_dump_json(exclude={"title"})

    def of_held_out_source(self, domain: str) -> str:
        """Return the source of the text that perplexity is measured on."""
        return self._config.perplexity.texts[domain].model_dump_json(exclude={"title", "valid"})

    def of_order(self, study: str) -> str:
        """Return what the order of domains of a study depends on."""
        section = self._config.models.continual[study]
        values = section.model_dump(include={"base", "evaluation_domain", "candidates", "count", "order"})
        return dump_json(values)

    def of_tokenizer(self, model: str) -> str:
        """Return what the tokenizer of a trained model depends on."""
        return self._config.models.train[model].model_dump_json(include={"vocabulary", "domain", "context"})

    def of_training(self, model: str) -> str:
        """Return what a trained model depends on."""
        return self._config.models.train[model].model_dump_json()

    def of_adaptation(self, model: str) -> str:
        """Return what an adapted model depends on, without other models of the same entry."""
        _, domain, adaptation = self._config.models.adapted[model]
        alone = adaptation.model_copy(update={"paths": [[domain]]})
        # the text is an input with its own file
        unused = {"text"} if alone.list_checkpoints() else {"text", "checkpoints"}
        if not alone.frozen:
            unused.add("frozen")
        return alone.model_dump_json(exclude={"score", "seeds", *unused})

    def of_following(self, others: Mapping[str, Mapping[str, Any]]) -> str:
        """Return what the table of followed models depends on; `others`: keys of points from elsewhere."""
        return dump_json({"summary": self._dump("summary"), "tracks": self._dump_tracks(others)})

    def of_controls(self, others: Mapping[str, Mapping[str, Any]]) -> str:
        """Return what the comparison of controls depends on; see :meth:`of_following`."""
        controls = [
            {"domain": domain, "conditions": conditions}
            for (_, domain), conditions in find_controls(self._config.models).items()
        ]
        values = {"summary": self._dump("summary"), "tracks": self._dump_tracks(others)}
        return dump_json(values | {"controls": controls})

    def of_claims(self) -> str:
        """Return what the claims about adapted models depend on, without their texts and training."""
        studies = [
            {
                "domain": domain,
                "near": self._config.claims.near.get(domain, []),
                "conditions": [each.model_dump() for each in conditions],
            }
            for domain in self._config.benchmark_domains
            for conditions in list_conditions(self._config.models).values()
        ]
        references = self._config.claims.variants
        return dump_json({"summary": self._dump("summary"), "references": references, "studies": studies})

    def of_examples(self) -> str:
        """Return the names that tables of examples show, categories by the variant of their reference."""
        examples, config = self._config.examples, self._config
        categories = {
            domain: {
                variant: named[name] for variant, name in config.name_references(domain) if name in named
            }
            for domain, named in examples.categories.items()
        }
        return examples.model_copy(update={"categories": categories}).model_dump_json()

    def of_figure(self, sections: Iterable[str], texts: Mapping[str, Any]) -> str:
        """Return the sections that affect a figure, and its texts beside its tables."""
        return dump_json({name: self._dump(name) for name in sections} | dict(texts))

    def of_coverage(self) -> str:
        """Return what the programs that measure coverage need, without the choice of domains."""
        return self._of_coverage({"ablation", "others"})

    def of_others(self, domain: str) -> str:
        """Return what the map of others' benchmarks of a domain depends on."""
        others = {domain: self._config.coverage.others[domain]}
        coverage = self._config.coverage.model_copy(update={"others": others})
        changed = self._config.model_copy(update={"coverage": coverage})
        return Settings(changed)._of_coverage({"ablation"})

    def of_correlations(self) -> str:
        """Return what the expansions with several t_c need."""
        return self._of_coverage({"gap_percentile", "others"})

    def _of_coverage(self, unused: set[str]) -> str:
        others = {"benchmarks", "expand", "questions", "evaluation", *unused}
        coverage = self._config.coverage.model_dump(mode="json", exclude=others)
        return dump_json({"coverage": coverage, "embedding": self._dump("embedding")})

    def of_ontology(self, name: str) -> str:
        """Return what the ontology of a set of questions depends on."""
        return dump_json({"questions": self._dump_questions(name, {"categories"})})

    def of_records(self, name: str) -> str:
        """Return what the embedding of records needs."""
        questions = self._dump_questions(name, {"chunks"})
        return dump_json({"questions": questions, "embedding": self._dump("embedding")})

    def of_questions(self, name: str, *others: str) -> str:
        """Return what a set of questions depends on, and other keys of coverage."""
        included = {"bandwidth", "length", "gap_percentile", "device", *others}
        coverage = self._config.coverage.model_dump(mode="json", include=included)
        questions = self._dump_questions(name, {"first", "per_gap", "rounds"})
        values = {"questions": questions, "embedding": self._dump("embedding")}
        return dump_json(values | {"coverage": coverage})

    def of_shown_questions(self) -> str:
        """Return what decides which questions are not asked."""
        return self._config.coverage.evaluation.model_dump_json(include={"shown"})

    def of_answers(self) -> str:
        """Return what the answers of a model depend on, without the other models."""
        return dump_json({"evaluation": self._dump_evaluation(), "scoring": self._dump("scoring")})

    def of_spoken_answers(self, name: str) -> str:
        """Return what the written answers of a model behind a service depend on."""
        evaluation = {**self._dump_evaluation(), "by": "text"}
        return dump_json({"evaluation": evaluation} | self._dump_service(name))

    def of_spoken_choices(self, name: str) -> str:
        """Return what the letters written by a model behind a service depend on."""
        choices = {**self._dump("choices"), "ways": ["text"]}
        return dump_json({"choices": choices} | self._dump_service(name))

    def _dump_evaluation(self) -> dict[str, Any]:
        return self._config.coverage.evaluation.model_dump(mode="json", exclude={"models"})

    def _dump_service(self, name: str) -> dict[str, Any]:
        speaker = self._config.models.speaking[name].model_dump(mode="json")
        return {"speaker": speaker, "served": self._dump("served")}

    def _dump_questions(self, name: str, included: set[str]) -> Any:
        return self._config.coverage.questions[name].model_dump(mode="json", include=included)

    def of_task(self, name: str) -> str:
        """Return what the examples of a task depend on."""
        limits = self._config.train_before_test.limits.model_dump(mode="json")
        summary = {"overlap": self._config.summary.overlap}
        return dump_json({"task": self._dump_task(name), "limits": limits, "summary": summary})

    def of_tuning(self, name: str, preparation: str = "") -> str:
        """Return what the tuning for a task depends on: the full one, or a shorter preparation."""
        section = self._config.train_before_test
        named = {each.name: each for each in section.preparations}
        chosen = named[preparation] if preparation else Preparation()
        lora = section.lora.model_copy(update={"epochs": chosen.epochs or section.lora.epochs})
        values = {"task": self._dump_task(name), "lora": lora.model_dump(mode="json")}
        values["summary"] = {"trim": self._config.summary.trim}
        return dump_json(values | ({"examples": chosen.examples} if preparation else {}))

    def _dump_tracks(self, others: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        return {
            name: [{**point.model_dump(), **({} if point.seed else others[point.model])} for point in track]
            for name, track in self._config.models.tracks.items()
        }

    def _dump(self, section: str) -> Mapping[str, Any]:
        """Return a section under the keys of the configuration, without those that change no result.

        `sentences.limit` decides after sentences are split; sets and styles of choices are inputs.
        """
        values: Mapping[str, Any] = getattr(self._config, section).model_dump(
            mode="json", by_alias=True, exclude=_UNUSED.get(section)
        )
        return values

    def _dump_task(self, name: str) -> Mapping[str, Any]:
        """Return a task without its category, which changes no score."""
        return self._config.train_before_test.tasks[name].model_dump(mode="json", exclude={"category"})
