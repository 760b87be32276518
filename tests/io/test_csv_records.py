"""Records of CSV with the lines that they begin at."""

from fathom.io.csv_records import scan_csv


def test_records_come_with_the_lines_that_they_begin_at():
    text = 'a,b\n"one\ntwo",3\n\nlast,"x ""y"""'
    assert list(scan_csv(text)) == [(1, ["a", "b"]), (2, ["one\ntwo", "3"]), (4, []), (5, ["last", 'x "y"'])]


def test_a_broken_quote_ends_with_the_line_where_it_opens():
    for broken in ('a,b\n1,"2\n3,4\n', 'a,b\n1,"2"x\n3,4\n'):
        *_, (line, fault) = scan_csv(broken)
        assert line == 2 and isinstance(fault, str) and fault.startswith("not CSV: ")
