"""Knowledge of a domain in trainings by Axolotl, whose `plugins` name `DomainRankPlugin` of this module."""

from typing import Any

from pydantic import BaseModel

from fathom.errors import InputError
from fathom.scoring.domain_rank import DomainRankCallback


class DomainRankOptions(BaseModel):
    """The plug-in's addition to Axolotl's configuration.

    `fathom`: parameters of :class:`fathom.scoring.domain_rank.DomainRankCallback`: `pairs`, `every` and
    others.
    """

    fathom: dict[str, Any] = {}


def __getattr__(name: str) -> Any:
    """Make the plug-in, whose base class is Axolotl's; without Axolotl this module can still be imported."""
    if name != "DomainRankPlugin":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from axolotl.integrations.base import BasePlugin  # type: ignore[import-not-found]

    class DomainRankPlugin(BasePlugin):  # type: ignore[misc]
        """Attaches a callback to the Trainer that Axolotl makes."""

        def get_input_args(self) -> str:
            """Return where the plug-in's part of the configuration is described."""
            return f"{__name__}.{DomainRankOptions.__name__}"

        def post_trainer_create(self, cfg: Any, trainer: Any) -> None:
            """Attach the callback."""
            if not (cfg.fathom or {}).get("pairs"):
                raise InputError("no pairs are given", "Axolotl's configuration", "name a file: fathom.pairs")
            DomainRankCallback(**cfg.fathom).attach(trainer)

    return DomainRankPlugin
