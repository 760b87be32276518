"""The end of `fathom demo`."""

from tests.figures.rank_summaries import make_summary

from fathom.commands.main import main
from fathom.planning import starting


def test_the_demo_names_its_page_once_after_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "10")
    started = []
    monkeypatch.setattr(starting, "start_snakemake", lambda words: started.append(words) or 0)
    folder = tmp_path / "results" / "demo"
    folder.mkdir(parents=True)
    make_summary(folder / "summary.csv", ["toy-gpt2"])
    (folder / "index.html").touch()
    main(["demo", "--cores", "2"])
    assert ["fetch" in words for words in started] == [True, False]
    said = capsys.readouterr().out
    assert said.count("results/demo/index.html") == 1 and said.index("toy-gpt2") < said.index("index.html")
