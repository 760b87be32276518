"""`fathom page` of logs: tables, folders, what is refused with one message."""

import polars as pl
from tests.explorer.item_logs import make_logs
from tests.explorer.runs import write_run
from tests.programs import STATISTICS, run_command
from tests.refusals import refuses


def write_logs(folder):
    folder.mkdir()
    table = make_logs(items=30).select("model", "item", "score", "task", "metric", "group", "prompt")
    for (model,), rows in table.group_by("model", maintain_order=True):
        rows.write_csv(folder / f"{model}.csv")
    return folder


def test_tables_of_scores_become_a_page_beside_them(tmp_path):
    logs = write_logs(tmp_path / "logs")
    done = run_command("page", logs, imports=STATISTICS)
    page = tmp_path / "logs.html"
    assert str(page) in done.stdout and "Fathom: logs" in page.read_text()
    files = sorted(logs.iterdir())
    run_command("page", *files, "--output", tmp_path / "again.html", imports=STATISTICS)
    again = (tmp_path / "again.html").read_text()
    assert "Fathom: alpha.csv and 2 more" in again
    assert len(again) - len(page.read_text()) < 500


def test_a_run_stands_alone(tmp_path):
    logs, run = write_logs(tmp_path / "logs"), write_run(tmp_path / "run", variants=["tf"])
    with refuses(run, "logs"):
        run_command("page", logs, run, imports=STATISTICS)
    assert not list(tmp_path.glob("*.html"))


def test_logs_without_a_score_get_one_message_and_no_page(tmp_path):
    pl.DataFrame({"model": ["a"], "item": ["1"], "score": ["good"]}).write_csv(tmp_path / "table.csv")
    with refuses("table.csv"):
        run_command("page", tmp_path / "table.csv", imports=STATISTICS)
    with refuses("there is no such"):
        run_command("page", tmp_path / "nothing", imports=STATISTICS)
    assert not list(tmp_path.glob("*.html"))


def test_no_page_takes_the_place_of_what_it_is_made_from(tmp_path):
    table = tmp_path / "table.csv"
    pl.DataFrame({"model": ["a", "b"], "item": ["1", "1"], "score": [1, 0]}).write_csv(table)
    content = table.read_bytes()
    with refuses("table.csv", "--output"):
        run_command("page", table, "--output", table, imports=STATISTICS)
    assert table.read_bytes() == content
    for _ in range(2):  # a page of before is replaced
        run_command("page", table, "--output", tmp_path / "page.html", imports=STATISTICS)
