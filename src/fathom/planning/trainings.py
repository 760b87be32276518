"""The files of trainings: their text; orders of domains for continual pretraining, and figures of stages."""

from fathom.config.whole import Config
from fathom.planning.run_files import RunFiles


class Texts(RunFiles):
    """Names of the texts that models are trained on."""

    def __init__(self, config: Config, results: str) -> None:
        super().__init__(config, results)
        self._models = config.models
        self._of_questions = config.list_question_texts()

    def list_trained(self) -> list[str]:
        """Return the text of every domain that any model of the run is trained on."""
        trained = {training.domain for training in self._models.train.values()}
        trained |= {adapted.domain for adapted in self._models.adapted.values()}
        return [self.name(domain) for domain in sorted(trained)]

    def find(self, model: str) -> str:
        """Return the text that a model is trained on, or adapted to."""
        if model in self._models.train:
            return self.name(self._models.train[model].domain)
        _, domain, adaptation = self._models.adapted[model]
        changed = self._path(domain, "texts", f"{adaptation.text}.parquet")
        return self.name(domain) if adaptation.text == "as-is" else changed

    def name(self, domain: str) -> str:
        """Return the text of a domain: of its own documents, from elsewhere, or of a set of questions."""
        if domain in self._of_questions:
            chosen, kind = self._of_questions[domain]
            return self._path("questions", chosen, "texts", f"{kind}.parquet")
        kind = "training" if domain in self._models.texts else "texts"
        return self._path("corpus", kind, f"{domain}.parquet")


class Orders(RunFiles):
    """Names of the files of continual pretraining."""

    def compare_domains(self, study: str) -> list[tuple[str]]:
        """Return a study's evaluation domain and those that are compared with it, each as a file's place."""
        measured = self._config.models.continual[study].evaluation_domain
        return [(name,) for name in dict.fromkeys([measured, *self._config.list_compared(study)])]

    def name_means(self, study: str) -> list[str]:
        """Return the mean embeddings of a study's domains, in the order of `compare_domains`."""
        abstracts = self._config.models.continual[study].abstracts
        return [
            self._path("orders", "means", f"{name}.{abstracts}.npy")
            for (name,) in self.compare_domains(study)
        ]

    def find_order(self, track: str) -> str:
        """Return the table of the order of domains that a track of continual pretraining follows."""
        study = track.removeprefix(f"{self._config.models.studies[track].base}+")
        return self._path("orders", f"{study}.parquet")
