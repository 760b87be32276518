"""What a page shows beside its own charts: which figures are inside it, and their captions."""

from fathom.explorer import attachments
from fathom.figures.catalogue import CATALOGUE


def write_figures(run, names):
    (run / "figures").mkdir()
    for name in names:
        (run / "figures" / f"{name}.png").write_bytes(b"12345678")


def test_figures_that_repeat_others_with_another_statistic_are_the_first_to_be_linked(tmp_path, monkeypatch):
    names = [f"ai.metrics.all.{name}" for name in ("median", "trimmed_mean")]
    write_figures(tmp_path, [*names, "ai.model-ranks", "ai.targets.gpt2", "plain"])
    monkeypatch.setattr(attachments, "FIGURE_BYTES", 33)
    found, images = attachments.collect_figures(tmp_path)
    assert [each["name"] for each in found if not each["image"]] == ["ai.metrics.all.median.png"]
    assert len(images) == 4


def test_figures_have_title_and_caption_by_section_and_unknown_ones_their_name(tmp_path):
    write_figures(tmp_path, ["cs.AI.following.gpt2+cs.AI+cond-mat", "courses.radar", "my plot"])
    found, _ = attachments.collect_figures(tmp_path)
    assert [each["section"] for each in found] == ["Models", "Questions", "Other"]
    assert found[0]["title"].endswith("cs.AI · gpt2+cs.AI+cond-mat") and "cs.AI" in found[0]["caption"]
    assert found[2]["title"] == "my plot" and not found[2]["caption"]
    assert all("{" not in each["caption"] for each in found)


def test_every_figure_of_the_catalogue_has_a_section_of_the_page(tmp_path):
    stems = {}
    for figure in CATALOGUE.values():
        parts = {part: next(iter(figure.values.get(part, ["x"]))) for part in figure.parts}
        stems[figure.pattern.format(**parts)] = figure
    write_figures(tmp_path, stems)
    found, _ = attachments.collect_figures(tmp_path)
    assert {each["name"]: each["section"] for each in found} == {
        f"{stem}.png": figure.section for stem, figure in stems.items()
    }
