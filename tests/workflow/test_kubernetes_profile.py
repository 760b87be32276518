"""The profile for Kubernetes: what Snakemake and its plug-ins for S3 and Kubernetes take."""

import yaml
from tests.plans import ROOT

from fathom.planning.model_memory import read_cards

SETTINGS = yaml.safe_load((ROOT / "workflow" / "profiles" / "kubernetes" / "config.yaml").read_text())
RESOURCES = SETTINGS["default-resources"]
OF_PLUGINS = {"kubernetes-namespace"}


def test_every_key_is_an_option_of_snakemake_or_of_a_plug_in():
    from snakemake.cli import get_argument_parser

    known = {name.lstrip("-") for each in get_argument_parser()._actions for name in each.option_strings}
    assert {*SETTINGS} - known == OF_PLUGINS


def test_gpus_are_asked_for_as_the_executor_wants():
    # without a manufacturer it refuses; without `scale: 0` it sets no limits, and Kubernetes does
    assert (RESOURCES["gpu_manufacturer"], RESOURCES["scale"]) == ("'nvidia'", 0)
    (card,) = read_cards(RESOURCES["gpu_cards"].strip("'"))
    assert card.megabytes > 0


def test_jobs_share_no_file_system():
    assert SETTINGS["shared-fs-usage"] == "none"
    assert SETTINGS["default-storage-prefix"].startswith("s3://")
