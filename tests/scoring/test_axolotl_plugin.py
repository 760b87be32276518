"""The plug-in in Axolotl's own plug-in manager: from the configuration to a Trainer's callback."""

from types import SimpleNamespace

import pytest
from tests.refusals import refuses
from tests.scoring.test_domain_rank import PAIRS

from fathom.scoring.domain_rank import DomainRankCallback

base = pytest.importorskip("axolotl.integrations.base", reason="Axolotl is not installed")


def test_the_plug_in_attaches_the_callback_that_the_configuration_describes(tmp_path):
    from axolotl.integrations.config import merge_input_args
    from axolotl.utils.dict import DictDefault

    PAIRS.write_parquet(tmp_path / "pairs.parquet")
    manager = base.PluginManager.get_instance()
    manager.register("fathom.scoring.axolotl_plugin.DomainRankPlugin")
    (plugin,) = manager.plugins.values()
    assert isinstance(plugin, base.BasePlugin)
    assert "fathom" in merge_input_args()[1].model_fields
    handler = SimpleNamespace(callbacks=[])
    trainer = SimpleNamespace(callback_handler=handler, add_callback=handler.callbacks.append)
    pairs = str(tmp_path / "pairs.parquet")
    manager.post_trainer_create(DictDefault({"fathom": {"pairs": pairs, "every": 7}}), trainer)
    (callback,) = trainer.callback_handler.callbacks
    assert isinstance(callback, DomainRankCallback)
    with refuses("fathom.pairs"):
        manager.post_trainer_create(DictDefault({}), trainer)
