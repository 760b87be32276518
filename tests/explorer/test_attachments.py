"""What a page shows beside its own charts: which figures are inside it, and their captions."""

from fathom.explorer import data
from fathom.explorer.run import Run
from fathom.figures.catalogue import CATALOGUE


def collect_figures(folder, names):
    """Return the figures and images of a run that has figures of these names."""
    figures = [folder / f"{name}.png" for name in names]
    for path in figures:
        path.write_bytes(b"12345678")
    return data.collect_figures(Run("run", [], figures=figures))


def test_figures_that_repeat_others_with_another_statistic_are_the_first_to_be_linked(tmp_path, monkeypatch):
    names = [f"ai.metrics.all.{name}" for name in ("median", "trimmed_mean")]
    monkeypatch.setattr(data, "FIGURE_BYTES", 33)
    found, images = collect_figures(tmp_path, [*names, "ai.model-ranks", "ai.targets.gpt2", "plain"])
    assert [each["name"] for each in found if not each["image"]] == ["ai.metrics.all.median.png"]
    assert len(images) == 4


def test_figures_have_title_and_caption_by_section_and_unknown_ones_their_name(tmp_path):
    names = ["cs.AI.following.gpt2+cs.AI+cond-mat", "courses.radar", "my plot"]
    found, _ = collect_figures(tmp_path, names)
    assert [each["section"] for each in found] == ["Models", "Questions", "Other"]
    assert found[0]["title"].endswith("cs.AI · gpt2+cs.AI+cond-mat") and "cs.AI" in found[0]["caption"]
    assert found[2]["title"] == "my plot" and not found[2]["caption"]
    assert all("{" not in each["caption"] for each in found)


def test_every_figure_of_the_catalogue_has_a_section_of_the_page(tmp_path):
    stems = {}
    for figure in CATALOGUE.values():
        parts = {part: next(iter(figure.values.get(part, ["x"]))) for part in figure.parts}
        stems[figure.pattern.format(**parts)] = figure
    found, _ = collect_figures(tmp_path, stems)
    assert {each["name"]: each["section"] for each in found} == {
        f"{stem}.png": figure.section for stem, figure in stems.items()
    }
