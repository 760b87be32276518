"""What a page shows beside its own charts: which figures are inside it, and their captions."""

from fathom.explorer import attachments


def test_figures_that_repeat_others_with_another_statistic_come_last(tmp_path, monkeypatch):
    (tmp_path / "figures").mkdir()
    names = [
        "ai.metrics.all.median",
        "ai.metrics.all.trimmed_mean",
        "ai.model-ranks",
        "ai.targets.gpt2",
        "plain",
    ]
    for name in names:
        (tmp_path / "figures" / f"{name}.png").write_bytes(b"12345678")
    monkeypatch.setattr(attachments, "FIGURE_BYTES", 33)
    found, images = attachments.collect_figures(tmp_path)
    assert [each["name"] for each in found] == [f"{name}.png" for name in (*names[1:], names[0])]
    assert [bool(each["image"]) for each in found] == [True] * 4 + [False] and len(images) == 4
    captions = [each["caption"] for each in found]
    assert captions[0] == "By every metric: ai · all · trimmed mean" and captions[3] == "plain"


def test_names_with_dots_stay_whole_in_captions(tmp_path):
    (tmp_path / "figures").mkdir()
    names = (
        "cs.AI.following.gpt2+cs.AI+cond-mat",
        "choices.options.letter",
        "cs.AI.paths.gpt2.geometric_mean",
    )
    for name in names:
        (tmp_path / "figures" / f"{name}.png").write_bytes(b"1")
    found, _ = attachments.collect_figures(tmp_path)
    assert sorted(each["caption"] for each in found) == [
        "Multiple choice: options.letter",
        "Over training: cs.AI · gpt2+cs.AI+cond-mat",
        "Paths of adaptation: cs.AI · gpt2 · geometric mean",
    ]
