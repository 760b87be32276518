"""A gated model of the hub stops a run before its first job, and names all that cannot be fetched."""

import json

from tests.end_to_end.project import copy_project, run_snakemake
from tests.programs import MODELS, find_python
from tests.tables import write_models

from fathom.planning.rehearsal.hub_stub import serve_hub


def test_what_cannot_be_had_is_said_before_the_first_job(tmp_path):
    folder = copy_project(tmp_path)
    names = ("open", "gated", "gone")
    write_models(folder / "config" / "hub.tsv", *({"name": name, "source": f"org/{name}"} for name in names))
    models = {"registry": "config/hub.tsv", "score": list(names)}
    path = folder / "config" / "refused.yaml"
    domains = {"linear": {"categories": ["sklearn.linear_model"]}}
    values = {"run": "refused", "domains": domains, "pairs": {"tokenizer": "open"}, "models": models}
    path.write_text(json.dumps(values))
    with serve_hub() as hub:
        for name in names[:2]:
            hub.add(f"org/{name}", {"config.json": b"{}"})
        hub.gated.add("org/gated")
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0", "HF_HOME": str(folder / "hub")}
        python = find_python(MODELS, **online)
        done = run_snakemake(
            folder, "-c1", "--configfile", path, "--", "fetch", python=python, code=1, **online
        )
    assert "org/gated is gated" in done.stderr
    assert "org/gone is not on the hub" in done.stderr
    assert "org/open" not in done.stderr
    assert not list((folder / "results" / "refused").rglob("fetch_model/*.log"))
    assert not any(
        "/resolve/" in path or "/tree/" in path for _, path, _ in hub.asked
    )  # no file was asked for
