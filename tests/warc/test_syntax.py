"""Record headers of any form are read and searched in time proportional to their bytes."""

from victor_spark.warc.headers import ARC, WARC


def test_folded_lines_belong_to_their_field_and_the_first_of_equal_fields_counts() -> None:
    header = WARC.parse(b"WARC/1.0\r\nA: 1\r\n 2\r\nB: 3\r\nA: 4\r\n\t5\r\nContent-Length: 6\r\n\r\n")
    assert header is not None
    assert header.fields == {"a": "1 2", "b": "3", "content-length": "6"}
    assert header.block_length == 6


def test_many_folded_lines_are_read() -> None:
    header = WARC.parse(b"WARC/1.0\r\nA: 1\r\n" + b" 2\r\n" * 200_000 + b"\r\n")
    assert header is not None
    assert header.fields["a"] == "1" + " 2" * 200_000


def test_spaces_around_folds_cost_in_proportion_to_their_number() -> None:
    header = WARC.parse(b"WARC/1.0\r\nA: 1" + b" " * 200_000 + b"x \r\n \r\n\t2\r\n\r\n")
    assert header is not None
    assert header.fields["a"] == "1" + " " * 200_000 + "x 2"


def test_each_line_of_damaged_bytes_is_looked_at_once() -> None:
    damaged = b"\x00a: 1.1.1.1 20200101010101 a " * 200_000
    assert ARC.search.search(damaged) is None
    line = b"http://site.example/ 192.0.2.1 20240229123456 text/html 9\n"
    found = ARC.search.search(damaged + b"\x00" + line)
    assert found is not None
    assert found[0] == line
