"""The files of trainings: their text; orders of domains for continual pretraining, and figures of stages."""

from itertools import product

from fathom.config.whole import Config
from fathom.io import paths
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
        changed = self._file(paths.CHANGED_TEXTS, domain=domain, text=adaptation.text)
        return self.name(domain) if adaptation.text == "as-is" else changed

    def name(self, domain: str) -> str:
        """Return the text of a domain: of its own documents, from elsewhere, or of a set of questions."""
        if domain in self._of_questions:
            chosen, kind = self._of_questions[domain]
            return self._file(paths.QUESTION_TEXTS, set=chosen, kind=kind)
        path = paths.TRAINING_TEXTS if domain in self._models.texts else paths.TEXTS
        return self._file(path, domain=domain)

    def name_held_out(self, domain: str) -> str:
        """Return the text whose split adapt-test perplexity is measured on."""
        elsewhere = domain in self._config.perplexity.texts
        return self._file(paths.HELD_OUT_TEXTS if elsewhere else paths.TEXTS, domain=domain)


class Orders(RunFiles):
    """Names of the files of continual pretraining."""

    def name_means(self, study: str) -> list[str]:
        """Return the mean embeddings of a study's evaluation domain and of those compared with it."""
        section = self._config.models.continual[study]
        domains = dict.fromkeys([section.evaluation_domain, *self._config.list_compared(study)])
        return self._files(paths.MEAN_VECTORS, product(domains, [section.abstracts]))

    def find_order(self, track: str) -> str:
        """Return the table of the order of domains that a track of continual pretraining follows."""
        study = track.removeprefix(f"{self._config.models.studies[track].base}+")
        return self._file(paths.ORDER, study=study)
