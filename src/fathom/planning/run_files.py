"""What all that names files of a run starts from."""

from collections.abc import Iterable, Sequence

from fathom.config.whole import Config
from fathom.io.run_path import RunPath


class RunFiles:
    """Names of files of a run."""

    def __init__(self, config: Config, results: str) -> None:
        self._config, self.results = config, results

    def _file(self, path: RunPath, **fields: object) -> str:
        return path.of(**fields).under(self.results)

    def _files(self, path: RunPath, places: Iterable[Sequence[object]]) -> list[str]:
        """Return a file for each place: values of the fields of its path, in their order."""
        return [each.under(self.results) for each in path.of_each(places)]
