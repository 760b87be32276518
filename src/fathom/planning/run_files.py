"""What all that names files of a run starts from."""

from fathom.config.whole import Config


class RunFiles:
    """Names of files of a run.

    Parameters
    ----------
    config : Config
        The whole configuration.
    results : str
        Folder of the run's results.
    """

    def __init__(self, config: Config, results: str) -> None:
        self._config, self.results = config, results

    def _path(self, *parts: str) -> str:
        """Return the path of a file of the run."""
        return "/".join([self.results, *parts])
