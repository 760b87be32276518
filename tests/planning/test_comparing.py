"""What a comparison shows, and dry runs of the comparison of any models on any domains."""

from types import SimpleNamespace

from tests.planning.test_outputs import VALUES, outputs
from tests.plans import count_jobs, plan
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.planning.comparing import Comparing
from fathom.planning.targets import Targets


def comparing(score, **changes):
    """Return what is compared where a model is tuned for chat if its name begins so."""
    known = {"base_of": "", "family": "f", "parameters": 0, "tokens": 0, "cutoff": ""}
    entries = {name: SimpleNamespace(kind="chat" if name.startswith("chat") else "base", **known)
               for name in (each.removesuffix("@chat") for each in score)}  # fmt: skip
    needs = SimpleNamespace(find_shape=lambda name: None)
    models = {**VALUES["models"], "score": score}
    found = outputs(models=models, **changes)
    return Comparing(read_config(VALUES | {"models": models} | changes, "test"), entries, needs, found)


def test_base_and_chat_models_are_drawn_apart_and_all_where_that_is_another_group():
    chat = ["chat-a", "chat-a@chat", "chat-b"]
    found = comparing(["a", "b", *chat])
    assert found.groups == {"base": ["tiny", "a", "b"], "chat": chat,
                            "all": ["tiny", "gpt2+near", "a", "b", *chat]}  # fmt: skip
    every = Targets(found._config, found._outputs, found).list_compared()
    figures = [path for path in every if ".metrics." in path]
    assert len(figures) == 3 * 4
    assert "results/demo/figures/near.metrics.chat.median.png" in figures
    # two base models and an adapted one: no correlation over two
    assert list(comparing(["a"]).groups) == ["all"]
    assert comparing([]).groups == {}


def test_base_and_chat_models_stand_together_where_three_bases_have_a_chat_model():
    found = comparing(["a", "b", "c", "chat-a", "chat-b", "chat-c", "chat-c@chat"])

    def list_figures():
        every = Targets(found._config, found._outputs, found).list_compared()
        return [path for path in every if ".base-and-chat." in path]

    for name in "ab":
        found._entries[f"chat-{name}"].base_of = name
    assert list_figures() == []
    found._entries["chat-c"].base_of = "c"
    assert "results/demo/figures/near.base-and-chat.trimmed_mean.png" in list_figures()
    assert len(list_figures()) == 4


def test_by_references_base_models_with_a_chat_model_are_drawn_apart_too():
    found = comparing(
        ["a", "b", "c", "d", "chat-a", "chat-b", "chat-c"],
        references={"near": {"expert": "e.csv", "claude": "c.csv"}},
    )
    for name in "ab":
        found._entries[f"chat-{name}"].base_of = name
    assert found.reference_groups == found.groups
    found._entries["chat-c"].base_of = "c"
    assert found.groups["base"] == ["tiny", "a", "b", "c", "d"] and "paired" not in found.groups
    assert found.reference_groups == found.groups | {"paired": ["a", "b", "c"]}
    every = Targets(found._config, found._outputs, found).list_compared()
    groups = [path.split(".")[-3] for path in every if ".references." in path]
    assert groups[::4] == ["base", "chat", "all", "paired"] and len(groups) == 4 * 4
    assert not any(".metrics.paired." in path for path in every)


def test_ranks_are_divided_by_dates_where_documents_and_models_have_them():
    corpora = {
        "arxiv": {"source": "arxiv"},
        "jsonl": {"source": "jsonl", "files": ["a.jsonl"]},
        "table": {"source": "table", "files": ["a.csv"]},
        "folder": {"source": "folder", "files": ["a"]},
        "docstrings": {"source": "docstrings"},
    }
    divided = {}
    for name, corpus in corpora.items():
        found = comparing(["old", "new"], corpus=corpus, dump="dump")
        found._entries["old"].cutoff = "2017-12-31"
        figures = Targets(found._config, found._outputs, found).list_compared()
        divided[name] = (found.cutoffs, [path for path in figures if ".dates." in path])
    drawn = ["results/demo/figures/near.dates.png"]
    assert divided == dict.fromkeys(
        ["arxiv", "jsonl", "table"], ({"old": "2017-12-31"}, drawn)
    ) | dict.fromkeys(["folder", "docstrings"], ({}, []))


def test_any_models_are_compared_on_any_domains():
    models = "models=[toy-gpt2+plotting, Qwen2-1.5B, Qwen2-1.5B-Instruct, gpt2]"
    domains = "domains=[machine-learning, plotting, sklearn.cluster]"
    done = plan(models, domains, targets="compare")
    jobs = count_jobs(done)
    assert jobs["score_model"] == 4 and jobs["make_pairs"] == 6
    assert (jobs["train_model"], jobs["adapt_model"]) == (1, 1)
    assert "sklearn.cluster/scores/tfidf/Qwen2-1.5B.parquet" in done.stdout
    assert (jobs["plot_chat_models"], jobs["plot_sizes"]) == (1, 3)
    assert jobs["plot_metrics"] == 3 and "plot_adapted" not in jobs
    assert '"chat_pairs": [["Qwen2-1.5B-Instruct", "Qwen2-1.5B", "qwen2"]]' in done.stdout
    # 200 steps of 8 x 128 tokens, then 80
    assert '["toy-gpt2+plotting", "gpt2", "base", 1146880, 286720]' in done.stdout
    # gpt2's last day is known, but docstrings have no date
    assert "split_by_date" not in jobs and "plot_dates" not in jobs
    # the page waits for the comparison only, not for figures of adapted models
    assert jobs["write_explorer"] == 1 and "plot_targets" not in jobs
    with refuses("toy-gpt2?"):
        plan("models=[toy-gpt]", targets="compare")
