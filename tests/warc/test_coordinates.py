"""A table of coordinates gives just the records it names, each once, in any form of the table."""

import gzip
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.warc import flaky, making
from tests.warc.flaky import Site
from victor_spark.errors import InputError
from victor_spark.warc import coordinates
from victor_spark.warc.inputs import resolve
from victor_spark.warc.reading import read
from victor_spark.warc.shard import Shard

SHARD = making.shard(making.responses(60))
OTHER = making.shard([making.warc(making.http(making.page(n)), number=n) for n in range(100, 140)])
PACKED = {"č 1.warc.gz": SHARD, "deep/other.warc.gz": OTHER}
Rows = list[tuple[str, int, int]]


def rows(*numbers: tuple[str, int]) -> Rows:
    return [(name, PACKED[name].offsets[n], PACKED[name].lengths()[n]) for name, n in numbers]


def table(
    rows: Rows, names: tuple[str, str, str] = tuple(n[0] for n in coordinates.COLUMNS.values())
) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.table({"url": ["x"] * len(rows), **dict(zip(names, map(list, columns), strict=True))})


def write_parquet(path: Path, rows: Rows) -> None:
    pq.write_table(table(rows), path)


def write_csv(path: Path, rows: Rows) -> None:
    pyarrow.csv.write_csv(table(rows), path)


def write_tsv_gz(path: Path, rows: Rows) -> None:
    lines = [
        "warc_filename\twarc_record_offset\twarc_record_length",
        *("\t".join(map(str, row)) for row in rows),
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two shards."""
    for name, packed in PACKED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(packed.content)
    return tmp_path


def found(*inputs: str | Path, base_url: str | None = None) -> Rows:
    """(name, offset, length) of the records that the inputs stand for, in the order they are read."""
    records = [
        record for shard in resolve([str(one) for one in inputs], base_url=base_url) for record in read(shard)
    ]
    assert [record.status for record in records] == [None] * len(records)
    return [(r.warc_filename, r.warc_record_offset, r.warc_record_length) for r in records]


@pytest.mark.parametrize("write", [write_parquet, write_csv, write_tsv_gz])
@pytest.mark.parametrize("name", ["records.dat", "records.csv"])
def test_its_records_are_read_each_once_file_by_file(
    folder: Path, write: Callable[[Path, Rows], None], name: str
) -> None:
    wanted = rows(
        *[("č 1.warc.gz", n) for n in (0, 1, 7, 40, 59)], *[("deep/other.warc.gz", n) for n in (3, 39)]
    )
    mixed = [*wanted, *wanted[2:4]]
    random.Random(1).shuffle(mixed)
    write(folder / name, [wanted[0], *mixed])
    assert found(folder / name) == wanted


def test_integers_that_a_program_wrote_as_floats_are_read(folder: Path) -> None:
    """pandas has no missing integers: a table with missing values elsewhere has offsets such as 17.0."""
    ((name, offset, length),) = wanted = rows(("č 1.warc.gz", 5))
    head = "warc_filename,warc_record_offset,warc_record_length"
    (folder / "t.csv").write_text(f"{head}\n{name},{offset}.0,{length}.0\n", encoding="utf-8")
    assert found(folder / "t.csv") == wanted
    (folder / "t.csv").write_text(f"{head}\n{name},{offset}.5,{length}\n", encoding="utf-8")
    with pytest.raises(InputError, match="a damaged table of records"):
        found(folder / "t.csv")


def test_short_column_names_do_as_well(folder: Path) -> None:
    pq.write_table(table(rows(("č 1.warc.gz", 5)), ("filename", "offset", "length")), folder / "t.parquet")
    assert found(folder / "t.parquet") == rows(("č 1.warc.gz", 5))


def test_filenames_belong_to_the_base_url_if_there_is_one(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "t.parquet"
    write_parquet(elsewhere, rows(("č 1.warc.gz", 5)))
    assert found(elsewhere, base_url=str(folder)) == rows(("č 1.warc.gz", 5))


def test_tables_that_overlap_name_a_record_once(folder: Path) -> None:
    parts = folder / "parts"
    parts.mkdir()
    numbers = (range(10), range(5, 20), range(3, 12))
    for number, part in enumerate(numbers):
        write_parquet(parts / f"{number}.parquet", rows(*[("č 1.warc.gz", n) for n in part]))
    wanted = rows(*[("č 1.warc.gz", n) for n in range(20)])
    assert found(parts, base_url=str(folder)) == wanted
    assert sorted(found(*sorted(parts.iterdir()), base_url=str(folder))) == wanted
    assert found(parts / "*.parquet", parts, base_url=str(folder)) == wanted


@pytest.mark.parametrize("whole_first", [True, False])
def test_a_file_named_whole_and_by_its_records_is_refused(folder: Path, whole_first: bool) -> None:
    write_parquet(folder / "t.parquet", rows(("deep/other.warc.gz", 5)))
    inputs = [str(folder / "deep" / "other.warc.gz"), str(folder / "t.parquet")]
    with pytest.raises(InputError, match="is an input twice: as a file, and in a table of records"):
        resolve(inputs if whole_first else inputs[::-1])


def test_many_records_of_a_file_are_several_shards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinates, "N_RECORDS", 25)
    write_parquet(folder / "t.parquet", rows(*[("č 1.warc.gz", n) for n in range(60)]))
    shards = resolve([str(folder / "t.parquet")])
    assert [len(shard.records) for shard in shards] == [25, 25, 10]
    assert [shard.start for shard in shards] == [SHARD.offsets[n] for n in (0, 25, 50)]
    assert len(found(folder / "t.parquet")) == 60


def test_shards_hold_a_bounded_number_of_bytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = SHARD.lengths()
    monkeypatch.setattr(coordinates, "N_BYTES", 4 * max(lengths))
    write_parquet(folder / "t.parquet", rows(*[("č 1.warc.gz", n) for n in range(60)]))
    sizes = [[length for _, length in shard.records] for shard in resolve([str(folder / "t.parquet")])]
    assert [length for one in sizes for length in one] == lengths[:60]
    assert all(sum(one) <= 4 * max(lengths) for one in sizes)
    assert all(sum(one) + after[0] > 4 * max(lengths) for one, after in pairwise(sizes))
    monkeypatch.setattr(coordinates, "N_BYTES", 1)  # every record is longer
    assert [len(shard.records) for shard in resolve([str(folder / "t.parquet")])] == [1] * 60


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_a_record_is_read_as_from_the_whole_shard(tmp_path: Path, packing: str) -> None:
    packed = making.shard(making.responses(9), packing)
    (tmp_path / "x").write_bytes(packed.content)
    path = str(tmp_path / "x")
    whole = list(read(Shard(path, None, "warc")))
    picks = tuple(zip(packed.offsets, packed.lengths(), strict=False))
    for chosen in (picks, picks[3:4], picks[8:], picks[::2]):
        shard = Shard(path, None, "warc", records=chosen)
        assert list(read(shard)) == [
            record for record in whole if (record.warc_record_offset, record.warc_record_length) in chosen
        ]


def test_only_the_records_in_a_range_of_it_are_read(folder: Path) -> None:
    picks = tuple(zip(SHARD.offsets, SHARD.lengths(), strict=False))
    shard = Shard(
        str(folder / "č 1.warc.gz"), None, "warc", start=picks[10][0], end=picks[20][0], records=picks
    )
    assert [record.warc_record_offset for record in read(shard)] == [offset for offset, _ in picks[10:20]]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ((SHARD.offsets[4] + 7, 300), "no gzip member begins here"),
        ((SHARD.offsets[4], 40), ""),
        ((len(SHARD.content) + 5, 300), "behind the end of the file"),
    ],
)
def test_a_coordinate_that_is_no_records_is_one_row_with_its_reason(
    folder: Path, record: tuple[int, int], reason: str
) -> None:
    good = tuple(zip(SHARD.offsets, SHARD.lengths(), strict=False))
    picks = tuple(sorted([*good[2:4], record, *good[6:8]]))
    records = list(read(Shard(str(folder / "č 1.warc.gz"), None, "warc", records=picks)))
    assert [r.warc_record_offset for r in records] == [offset for offset, _ in picks]
    (bad,) = [r for r in records if r.status is not None]
    assert (bad.status, bad.warc_record_offset) == ("corrupt_record", record[0])
    assert (bad.reason or "").startswith(reason)


def test_a_length_that_reaches_into_the_next_record_reads_one(folder: Path) -> None:
    shard = Shard(str(folder / "č 1.warc.gz"), None, "warc", records=((SHARD.offsets[3], 5000),))
    assert [(r.warc_record_offset, r.warc_record_length) for r in read(shard)] == [
        (SHARD.offsets[3], SHARD.lengths()[3])
    ]


@pytest.fixture
def site() -> Iterator[Site]:
    """A server with a shard of 60 records of which the 31st is a megabyte long."""
    records = making.responses(60)
    records[30] = making.warc(making.http(bytes(random.Random(1).randbytes(1 << 20))), number=30)
    with flaky.served(Site({"/a.warc.gz": making.shard(records).content})) as site:
        yield site


def test_of_a_remote_file_near_records_are_fetched_together_and_far_ones_apart(site: Site) -> None:
    whole = list(read(Shard(f"{site.url}/a.warc.gz", None, "warc")))
    site.asked.clear()
    picks = tuple((whole[n].warc_record_offset, whole[n].warc_record_length) for n in (5, 6, 9, 40))
    records = list(read(Shard(f"{site.url}/a.warc.gz", None, "warc", records=picks)))
    assert [(r.warc_record_offset, r.warc_record_length) for r in records] == list(picks)
    assert site.asked == [(0, 1), (picks[0][0], sum(picks[2])), (picks[3][0], sum(picks[3]))]


def test_a_table_that_lacks_a_column_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"warc_filename": ["x"], "where": [1]}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("warc_filename,where\nx,1\n")
    (tmp_path / "u.csv").write_text("x.warc.gz,1,2\n")
    for name, has in (("t.parquet", "warc_filename, where"), ("t.csv", "warc_filename, where")):
        with pytest.raises(InputError) as caught:
            resolve([str(tmp_path / name)])
        assert (
            str(caught.value)
            == f"{tmp_path}/{name}: a table without the column warc_record_offset (it has: {has})"
        )
    with pytest.raises(InputError, match=r"u\.csv: a table without the column warc_filename"):
        resolve([str(tmp_path / "u.csv")])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,-1,5", "row 2: warc_record_offset is -1"),
        ("x,1,0", "row 2: warc_record_length is 0"),
        ("x,,5", "row 2: warc_record_offset is None"),
        (",1,5", "row 2: warc_filename is None"),
        ("x,one,5", "a damaged table of records"),
        ("x,1", "a damaged table of records"),
    ],
)
def test_a_row_that_makes_no_sense_is_named(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "t.csv").write_text(f"warc_filename,warc_record_offset,warc_record_length\ny,0,7\n{row}\n")
    with pytest.raises(InputError) as caught:
        resolve([str(tmp_path / "t.csv")])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_rows_of_a_run_name_its_records_except_those_of_shards_that_could_not_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A row of such a shard has neither offset nor length; its table may hold no other row."""
    page = tmp_path / "page.html"
    page.write_bytes(making.page(1))
    for name, lines in {
        "a": ["empty.warc.gz,,", "x.warc.gz,7,8"],
        "b": [f"{page},0,100", "y.warc,,"],
        "c": ["z,,"],
    }.items():
        head = "warc_filename,warc_record_offset,warc_record_length"
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]))
    found = resolve([str(tmp_path / f"{name}.csv") for name in "abc"][:2])
    assert [(Path(one.path).name, one.kind, one.records) for one in found] == [
        ("x.warc.gz", "warc", ((7, 8),)),
        ("page.html", "html", ((0, 100),)),
    ]
    assert [record.payload for record in read(found[1])] == [making.page(1)]
    assert [message.rpartition("/")[2] for message in caplog.messages] == [
        "a.csv: rows without offset and length left out: 1",
        "b.csv: rows without offset and length left out: 1",
    ]
    with pytest.raises(InputError, match=r"c\.csv: the table has no rows"):
        resolve([str(tmp_path / "c.csv")])


def test_tables_that_are_empty_or_broken_are_named(tmp_path: Path) -> None:
    pq.write_table(table(rows(("č 1.warc.gz", 0))), tmp_path / "t.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:200])
    pq.write_table(table(rows(("č 1.warc.gz", 0))).slice(1), tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"cut\.parquet: a damaged table of records"):
        resolve([str(tmp_path / "cut.parquet")])
    with pytest.raises(InputError, match=r"none\.parquet: the table has no rows"):
        resolve([str(tmp_path / "none.parquet")])


def test_of_two_lengths_of_a_record_the_longer_one_counts(folder: Path) -> None:
    """The shorter one would cut the page."""
    ((name, offset, length),) = rows(("č 1.warc.gz", 7))
    write_csv(folder / "short.csv", [(name, offset, length - 60)])
    write_csv(folder / "both.csv", [(name, offset, length), (name, offset, length - 60)])
    read_tables = [coordinates.read(str(folder / name)) for name in ("short.csv", "both.csv")]
    for tables in (read_tables, read_tables[::-1], read_tables[1:]):
        shards = coordinates.shards(tables, [lambda name: str(folder / name)] * len(tables))
        assert [record.payload for shard in shards for record in read(shard)] == [making.page(7)]


def test_the_coordinates_of_a_record_that_is_no_page_give_none_of_its_member(tmp_path: Path) -> None:
    request = making.warc(b"GET / HTTP/1.1\r\n\r\n", kind="request")
    content = gzip.compress(request + making.responses(1)[0])
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    assert [record.payload for record in read(Shard(str(path), None, "warc"))] == [making.page(0)]
    assert list(read(Shard(str(path), None, "warc", records=((0, len(content)),)))) == []
