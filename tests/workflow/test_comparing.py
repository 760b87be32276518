"""Dry runs of the comparison of any models on any domains."""

from tests.workflow.test_dry_runs import JOB, plan


def test_any_models_are_compared_on_any_domains():
    models = "models=[gpt2-small+plotting, Qwen2-1.5B, Qwen2-1.5B-Instruct, gpt2]"
    domains = "domains=[machine-learning, plotting, sklearn.cluster]"
    done = plan("-p", "compare", "--config", "run=plan", models, domains)
    assert done.returncode == 0, done.stderr + done.stdout
    jobs = JOB.findall(done.stdout)
    assert jobs.count("score_model") == 4 and jobs.count("make_pairs") == 6
    assert (jobs.count("train_model"), jobs.count("adapt_model")) == (1, 1)
    assert "sklearn.cluster/scores/tfidf/Qwen2-1.5B.parquet" in done.stdout
    assert (jobs.count("plot_chat_models"), jobs.count("plot_sizes")) == (1, 3)
    assert "--pair Qwen2-1.5B-Instruct Qwen2-1.5B qwen2" in done.stdout
    # 400 steps of 16 x 128 tokens, then 200
    assert "--model gpt2-small+plotting gpt2 base 2605056 1228800 " in done.stdout
    assert (jobs.count("split_by_date"), jobs.count("plot_dates")) == (1, 3)
    # the page waits for the comparison only, not for figures of adapted models
    assert jobs.count("write_explorer") == 1 and "plot_targets" not in jobs
    assert "--cutoff gpt2 2017-12-31 --settings" in done.stdout
    wrong = plan("compare", "--config", "run=plan", "models=[gpt2-smal]")
    assert wrong.returncode == 1 and "did you mean gpt2-small?" in wrong.stderr + wrong.stdout
