"""Bodies are decoded unchanged for any header, up to the limit."""

import gzip
import random
import zlib
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.warc import making
from victor_spark.warc import compression, http_body

LIMIT = 1 << 20
PAGE = making.page(1)
PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
MEMBERS = {"gzip": gzip.compress, "zstd": zstandard.compress}
payloads = st.binary(max_size=4000).map(lambda noise: b"<html>" + noise)


def decoded(raw: bytes, *encodings: str, transfer: tuple[str, ...] = ()) -> http_body.Body:
    return http_body.decode(raw, encodings, transfer, limit=LIMIT)


@given(payload=payloads, encodings=st.lists(st.sampled_from(sorted(PACKERS)), max_size=3))
def test_stacked_encodings_come_off_in_reverse_order(payload: bytes, encodings: list[str]) -> None:
    packed = payload
    for name in encodings:
        packed = PACKERS[name](packed)
    assert decoded(packed, *encodings) == http_body.Body(payload)


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 98_272, LIMIT])
def test_a_body_much_longer_than_it_is_packed_is_decoded_whole(encoding: str, size: int) -> None:
    payload = (b"<p>the same line again" * (size // 20))[:size]
    assert decoded(PACKERS[encoding](payload), encoding) == http_body.Body(payload)


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_body_of_many_megabytes_in_a_few_packed_kilobytes_is_decoded_whole(encoding: str) -> None:
    payload = b"<p>" + b"a" * (9 << 20)
    packed = PACKERS[encoding](payload)
    assert len(packed) < len(payload) // 900
    assert http_body.decode(packed, (encoding,), (), limit=len(payload)) == http_body.Body(payload)


@given(payload=payloads)
def test_deflate_without_zlib_head_is_inflated_too(payload: bytes) -> None:
    assert decoded(making.raw_deflate(payload), "deflate").payload == payload


@given(payload=payloads, size=st.integers(1, 500))
def test_chunks_are_joined(payload: bytes, size: int) -> None:
    assert decoded(making.chunked(payload, size), transfer=("chunked",)) == http_body.Body(payload)


def test_chunks_are_joined_before_the_encoding_is_undone() -> None:
    assert decoded(making.chunked(gzip.compress(PAGE)), "gzip", transfer=("chunked",)).payload == PAGE
    assert decoded(making.chunked(gzip.compress(PAGE)), transfer=("gzip", "chunked")).payload == PAGE
    twice = making.chunked(gzip.compress(brotli.compress(PAGE)))
    assert decoded(twice, "br", transfer=("gzip", "chunked")).payload == PAGE


def test_chunk_heads_may_have_extensions_and_bare_newlines() -> None:
    raw = b"6;name=value\n<html>\n7 \r\n</html>\r\n0\r\nTrailer: yes\r\n\r\n"
    assert decoded(raw, transfer=("chunked",)) == http_body.Body(b"<html></html>")


def test_the_length_of_a_chunk_may_begin_with_any_number_of_zeros() -> None:
    raw = b"%020x\r\n<html>\r\n%0300x\r\n</html>\r\n%020x\r\n\r\n" % (6, 7, 0)
    assert decoded(raw, transfer=("chunked",)) == http_body.Body(b"<html></html>")


@pytest.mark.parametrize("encoding", sorted(PACKERS))
def test_a_stale_content_encoding_leaves_a_plain_body_alone(encoding: str) -> None:
    assert decoded(PAGE, encoding) == http_body.Body(PAGE)
    assert decoded(b"just words without any tag", encoding) == http_body.Body(b"just words without any tag")


def test_a_plain_body_whose_first_letters_are_a_head_of_zlib_is_left_alone() -> None:
    assert decoded(b"x marks the spot", "deflate") == http_body.Body(b"x marks the spot")


@pytest.mark.parametrize("encoding", ["br", "deflate"])
def test_a_plain_page_with_control_characters_is_left_alone(encoding: str) -> None:
    page = b" <html>\x01\x02" + PAGE
    assert decoded(page, encoding) == http_body.Body(page)


def test_a_stale_chunked_header_leaves_a_plain_body_alone() -> None:
    assert decoded(PAGE, transfer=("chunked",)) == http_body.Body(PAGE)


def test_gzip_is_undone_where_no_header_announces_it() -> None:
    assert decoded(gzip.compress(PAGE)) == http_body.Body(PAGE)
    assert decoded(gzip.compress(gzip.compress(PAGE)), "gzip") == http_body.Body(PAGE)


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip"])
def test_bytes_after_the_end_of_a_body_cost_nothing(encoding: str) -> None:
    assert decoded(PACKERS[encoding](PAGE) + b"\0\0rubbish", encoding) == http_body.Body(PAGE)


@pytest.mark.parametrize("declared", [(), ("gzip",), ("br",)])
def test_zstd_is_undone_where_no_header_or_a_wrong_one_announces_it(declared: tuple[str, ...]) -> None:
    assert decoded(zstandard.compress(PAGE), *declared) == http_body.Body(PAGE)


def test_gzip_announced_as_deflate_is_undone() -> None:
    assert decoded(gzip.compress(PAGE), "deflate") == http_body.Body(PAGE)


def test_unknown_encodings_are_passed_over() -> None:
    assert decoded(PAGE, "identity", "utf-8", "none") == http_body.Body(PAGE)


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip"])
def test_a_short_cut_body_keeps_the_part_that_inflates(encoding: str) -> None:
    packed = PACKERS[encoding](PAGE)
    body = decoded(packed[: len(packed) // 2], encoding)
    assert (body.truncated, body.problem) == (True, None)
    assert PAGE.startswith(body.payload)
    assert len(body.payload) > len(PAGE) // 4


@pytest.mark.parametrize("encoding", sorted(PACKERS))
def test_a_cut_body_keeps_the_part_that_inflates(encoding: str) -> None:
    page = making.page(1, n_words=40_000)
    packed = PACKERS[encoding](page)
    body = decoded(packed[: len(packed) // 2], encoding)
    assert body.truncated
    assert body.problem is None
    assert len(body.payload) > len(page) // 10
    assert page.startswith(body.payload)


def test_a_body_damaged_in_its_middle_keeps_the_part_before() -> None:
    page = making.page(1, n_words=5_000)
    body = decoded(making.spoilt(gzip.compress(page)), "gzip")
    assert body.truncated
    assert len(body.payload) > len(page) // 4
    assert body.payload[:1000] == page[:1000]


def test_no_part_of_a_long_damaged_body_is_there_twice() -> None:
    """It is decoded in steps, and after an error again from its beginning."""
    page = making.page(1, n_words=60_000)
    packed = bytearray(gzip.compress(page))
    damage = 5 * compression._BODY_STEP + 12_000
    before = zlib.decompressobj(wbits=31).decompress(packed[: damage - 100])
    assert damage > compression._STEP
    packed[damage : damage + 16] = bytes(16)
    body = decoded(bytes(packed), "gzip")
    assert body.truncated
    assert body.payload.startswith(before)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_a_body_of_which_nothing_inflates_is_a_problem(encoding: str) -> None:
    magic = {"gzip": b"\x1f\x8b\x08\x00", "zstd": b"\x28\xb5\x2f\xfd"}.get(encoding, b"")
    body = decoded(magic + b"\xff\x07\xff" * 40, encoding)
    assert body.problem is not None
    assert body.payload == b""


def test_a_chunked_body_without_its_last_chunk_is_truncated() -> None:
    assert decoded(making.chunked(PAGE, last=""), transfer=("chunked",)) == http_body.Body(
        PAGE, truncated=True
    )
    cut = decoded(making.chunked(PAGE, 50)[:120], transfer=("chunked",))
    assert cut.truncated
    assert PAGE.startswith(cut.payload)


def test_a_chunked_body_may_be_cut_at_any_byte_also_within_a_chunk_head() -> None:
    raw = making.chunked(PAGE, 50)
    for size in range(raw.index(b"<"), len(raw) - len("\r\n")):
        cut = decoded(raw[:size], transfer=("chunked",))
        assert cut.truncated, size
        assert PAGE.startswith(cut.payload)


def test_a_packed_body_without_its_last_chunk_is_truncated() -> None:
    """Also where all that arrived inflates: further members may be missing."""
    raw = making.chunked(gzip.compress(PAGE), last="")
    assert decoded(raw, "gzip", transfer=("chunked",)) == http_body.Body(PAGE, truncated=True)


def test_wrong_chunk_heads_keep_the_rest_of_the_body() -> None:
    assert decoded(b"6\r\n<html>and more than six</html>", transfer=("chunked",)).payload == (
        b"<html>and more than six</html>"
    )


@pytest.mark.parametrize("encoding", sorted(PACKERS))
def test_a_bomb_stops_at_the_limit(encoding: str) -> None:
    bomb = PACKERS[encoding](b"<html>" + bytes(20 * LIMIT))
    body = decoded(bomb, encoding)
    assert body.oversize
    assert len(body.payload) <= LIMIT + 1


def test_a_bomb_within_a_bomb_stops_at_the_limit() -> None:
    assert decoded(gzip.compress(gzip.compress(bytes(20 * LIMIT))), "gzip", "gzip").oversize


@given(parts=st.lists(payloads, min_size=1, max_size=9), encoding=st.sampled_from(sorted(MEMBERS)))
def test_a_body_of_several_members_holds_the_content_of_all(parts: list[bytes], encoding: str) -> None:
    packed = b"".join(map(MEMBERS[encoding], parts))
    assert decoded(packed, encoding) == http_body.Body(b"".join(parts))


@pytest.mark.parametrize("encoding", sorted(MEMBERS))
@pytest.mark.parametrize("tail", [b"", b"\x00" * 99], ids=["", "padded"])
def test_a_cut_member_costs_none_before_it(encoding: str, tail: bytes) -> None:
    packed = MEMBERS[encoding](PAGE) + MEMBERS[encoding](b"more")[:-6] + tail
    body = decoded(packed, encoding)
    assert body.truncated
    assert body.payload.startswith(PAGE)


class Counted:
    """A decompressor that counts the bytes it is given, gives, and copies from behind a member's end."""

    n_bytes = 0

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def decompress(self, packed: bytes, *arguments: int) -> bytes:
        part: bytes = self._inner.decompress(packed, *arguments)
        Counted.n_bytes += len(packed) + len(part) + len(self._inner.unused_data)
        return part

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    """Counts what zlib does for a body."""
    real = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", lambda wbits: Counted(real(wbits)))
    monkeypatch.setattr(Counted, "n_bytes", 0)
    return Counted


@pytest.mark.parametrize("size", [0, 1, 3000])
def test_many_members_cost_in_proportion_to_their_bytes(counted: type[Counted], size: int) -> None:
    work = []
    for n_members in (1000, 2000):
        packed = gzip.compress(b"<" * size) * n_members
        counted.n_bytes = 0
        assert decoded(packed, "gzip").payload == (b"<" * size * n_members)[: LIMIT + 1]
        work.append(counted.n_bytes / n_members)
    assert work[1] <= 1.05 * work[0]


def test_many_frames_and_chunks_are_all_there() -> None:
    assert decoded(zstandard.compress(b"a") * 50_000, "zstd") == http_body.Body(b"a" * 50_000)
    empty = b"\x50\x2a\x4d\x18\x00\x00\x00\x00"  # a skippable frame
    assert decoded(zstandard.compress(PAGE) + empty * 50_000, "zstd") == http_body.Body(PAGE)
    assert decoded(empty + zstandard.compress(PAGE), "zstd") == http_body.Body(PAGE)
    assert decoded(b"1\r\na\r\n" * 50_000 + b"0\r\n\r\n", transfer=("chunked",)) == http_body.Body(
        b"a" * 50_000
    )


@pytest.mark.parametrize("size", [6_000, 200_000])
def test_a_damaged_frame_keeps_the_part_decoded_before(size: int) -> None:
    page = (PAGE * (size // len(PAGE) + 1))[:size]
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(page)
    for broken in (packed[:-1] + bytes([packed[-1] ^ 1]), packed + b"\r\n"):
        body = decoded(broken, "zstd")
        assert body.truncated
        assert page.startswith(body.payload)
        assert len(page) - len(body.payload) <= 64


def test_a_long_gzip_head_is_passed_over() -> None:
    name = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 100_000 + b"\x00"
    assert decoded(name + gzip.compress(PAGE)[10:], "gzip") == http_body.Body(PAGE)


def test_more_than_four_declared_encodings_are_a_problem() -> None:
    packed = PAGE
    for _ in range(4):
        packed = gzip.compress(packed)
    assert decoded(packed, "gzip", "x-gzip", transfer=("gzip", "gzip", "chunked")) == http_body.Body(PAGE)
    for n_encodings in (5, 20_000):
        body = decoded(packed, *["gzip"] * n_encodings)
        assert body == http_body.Body(b"", problem=f"{n_encodings} declared encodings, more than 4")


def test_all_layers_share_one_budget(counted: type[Counted]) -> None:
    packed = b"<" * (LIMIT - 5000)
    for _ in range(6):  # each as long as the next
        packed = gzip.compress(packed, compresslevel=0)
    packed = gzip.compress(packed)
    assert len(packed) < LIMIT // 50
    assert decoded(packed, *["gzip"] * 4).oversize
    assert counted.n_bytes < 5 * LIMIT


@given(noise=st.binary(max_size=2000), encodings=st.lists(st.sampled_from([*PACKERS, "chunked"]), max_size=3))
def test_no_body_raises(noise: bytes, encodings: list[str]) -> None:
    body = decoded(noise, *encodings, transfer=("chunked",))
    assert len(body.payload) <= LIMIT + 1


def test_a_page_is_useless_without_visible_text() -> None:
    assert not http_body.holds_text(b"")
    assert not http_body.holds_text(b"<html><head><title>" + b"a" * 100 + b"</title></head><body><p>Hi")
    assert not http_body.holds_text(b"<script>" + b"var a = 1;" * 100)
    assert not http_body.holds_text(b"<!-- " + b"words " * 100)
    assert http_body.holds_text(b"<p>" + b"words " * 20)
    assert http_body.holds_text(b"<p>Hi</p></body></html>\n")


def test_little_of_a_damaged_body_is_decoded_byte_by_byte() -> None:
    class Counted(bytes):
        n_read = 0

        def __getitem__(self, span: Any) -> Any:
            Counted.n_read += 1
            return super().__getitem__(span)

    packed = bytearray(zlib.compress(bytes(random.Random(0).choices(range(64), k=200_000))))
    packed[60_000] ^= 0xFF
    content = compression.inflated_bytes(Counted(packed), "zlib", 1 << 20)
    assert content.error
    assert Counted.n_read < 17_000
