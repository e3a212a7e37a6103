"""Hostile and broken pages, each named by its defect, with the status its row should have."""

import codecs
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Final

from sample_crawl import encodings, markup, pages, texts
from sample_crawl.exchange import Exchange, Gold
from sample_crawl.texts import Text

SITE: Final = "broken-pages"
HOST: Final = "http://www.broken-pages.example"
N_NESTED: Final = 50_000
MEGABYTE: Final = 1 << 20
UTF_8: Final = '<meta charset="utf-8">'
HTML: Final = ("Content-Type", "text/html; charset=utf-8")
HTML_BARE: Final = ("Content-Type", "text/html")

PDF: Final = (
    b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
    b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>\nendobj\n"
    b"4 0 obj\n<< /Length 44 >>\nstream\nBT /F1 24 Tf 72 720 Td (Annual report) Tj ET\nendstream\nendobj\n"
    b"trailer\n<< /Root 1 0 R >>\n%%EOF\n"
)
GIF: Final = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"  # one pixel, two colours
    b",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
MISSING: Final = (
    b"<html><head><title>Not found</title></head><body><h1>Not found</h1>"
    b"<p>There is no such page here, but there may be one elsewhere.</p></body></html>"
)
MOVED: Final = (
    b"<html><head><title>Moved</title></head>"
    b'<body>This page has moved <a href="/new">to another place</a>.</body></html>'
)
FRAMESET: Final = (
    b"<html><head><title>Village choir</title></head>"
    b'<frameset cols="180,*"><frame src="menu.htm" name="menu"><frame src="main.htm" name="main"></frameset>'
    b"</html>"
)
XHTML_HEAD: Final = (
    '<meta charset="utf-8" /><script>//<![CDATA[\nif (1 < 2) { document.lang = "cs"; }\n//]]></script>'
)


def middle() -> Exchange:
    """A page whose gzip member is damaged from its first byte: not even the URL can be read."""
    text = _texts()["corrupt-member"]
    gold = Gold(None, None, SITE, "hostile", "corrupt_record", "", "the gzip member can't be inflated")
    return Exchange(_url(text.slug), _html(text).encode(), gold=gold, damage="corrupt")


def last() -> Exchange:
    """The last record of a shard, cut off inside the head element of its page."""
    text = _texts()["truncated-last-record"]
    style = "\n".join(f".c{i} {{ color: #{_noise(i)[:6]}; /* {_noise(i)} */ }}" for i in range(150))
    meta = f"{UTF_8}\n<style>\n{style}\n</style>"
    note = "the shard ends in the middle of this gzip member, before the body of the page"
    gold = _gold(text, "truncated", note)
    return Exchange(_url(text.slug), _html(text, meta=meta).encode(), gold=gold, damage="clipped")


def charsets() -> list[Exchange]:
    """Pages whose declared and real charsets differ, and one page encoded twice."""
    return [
        _page("declared-utf8-is-windows-1250", "declared utf-8, written in windows-1250", charset="cp1250"),
        _page(
            "header-latin1-meta-utf8",
            "the HTTP header says iso-8859-1, the meta element utf-8; it is utf-8",
            headers=[("Content-Type", "text/html; charset=iso-8859-1")],
        ),
        _mojibake(),
        _page(
            "utf-16-bom",
            "utf-16 with a byte order mark",
            charset="utf-16-le",
            meta="",
            headers=[HTML_BARE],
            wire=lambda body: codecs.BOM_UTF16_LE + body,
        ),
        _page(
            "shift-jis-meta-only",
            "Shift_JIS, declared in an old-fashioned meta element alone",
            charset="shift_jis",
            meta='<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">',
            headers=[HTML_BARE],
        ),
        _page(
            "windows-1253-undeclared",
            "windows-1253, declared nowhere",
            charset="cp1253",
            meta="",
            headers=[HTML_BARE],
        ),
    ]


def encoded_bodies() -> list[Exchange]:
    """Transfer and content encodings, true and false ones."""
    chunked, gzip = ("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")
    return [
        _page(
            "chunked-gzip",
            "gzip inside chunks, with an extension and a trailer",
            headers=[HTML, gzip, chunked],
            wire=lambda body: encodings.chunked(encodings.gzipped(body)),
        ),
        _page("brotli", "brotli", headers=[HTML, ("Content-Encoding", "br")], wire=encodings.brotli_stored),
        _page("stale-chunked-header", "says chunked, but the chunks were undone", headers=[HTML, chunked]),
        _page("stale-gzip-header", "says gzip, but was inflated", headers=[HTML, gzip]),
        _page("wrong-content-length", "HTTP Content-Length is 12", headers=[HTML, ("Content-Length", "12")]),
        _oversize(),
    ]


def markup_defects() -> list[Exchange]:
    """Pages that are legal bytes but bad HTML, or HTML made to hurt."""
    megabyte = f'<img alt="" src="data:image/gif;base64,{"R0lGODlh" * (MEGABYTE // 8)}">'
    return [
        _page(
            "nested-50000-tags",
            f"the article stands inside {N_NESTED:,} nested div elements",
            before="<div>" * N_NESTED,
            after="</div>" * N_NESTED,
        ),
        _page("megabyte-attribute", "an attribute of one MiB before the article", before=megabyte),
        _page("nul-bytes", "NUL bytes in the markup and between sentences", wire=_with_nul_bytes),
        _page(
            "xhtml",
            "application/xhtml+xml with a CDATA section",
            meta=XHTML_HEAD,
            headers=[("Content-Type", "application/xhtml+xml; charset=utf-8")],
        ),
        _tag_soup(),
        _answer("frameset", FRAMESET, "empty", "a frameset has no text", headers=[HTML_BARE]),
    ]


def no_pages() -> list[Exchange]:
    """Answers that are no page: errors, redirects, other types, nothing at all."""
    location = ("Location", f"{HOST}/new")
    robots = b"User-agent: *\nDisallow: /private/\n"
    pdf, plain, image = "application/pdf", "text/plain", "image/gif"
    return [
        _answer("missing", MISSING, "http_status", "404 with an html body", line="404 Not Found"),
        _answer(
            "redirect",
            MOVED,
            "http_status",
            "301 with an html body",
            line="301 Moved Permanently",
            headers=[HTML, location],
        ),
        _answer("pdf-declared-html", PDF, "not_html", "a PDF declared text/html"),
        _answer("gif-declared-html", GIF, "not_html", "a picture declared text/html", headers=[HTML_BARE]),
        _answer("empty-body", b"", "empty", "no body at all", headers=[HTML, ("Content-Length", "0")]),
        Exchange(f"{HOST}/report.pdf", PDF, headers=(("Content-Type", pdf),)),
        Exchange(f"{HOST}/dot.gif", GIF, headers=(("Content-Type", image),)),
        Exchange(f"{HOST}/robots.txt", robots, headers=(("Content-Type", plain),)),
    ]


def cut_by_the_crawler() -> list[Exchange]:
    """Pages marked WARC-Truncated: one cut below its article, one before its body begins."""
    useful = _page("warc-truncated-useful", "WARC-Truncated: length, cut below the article")
    useless = _page("warc-truncated-useless", "WARC-Truncated: length, cut before the body")
    gold = _gold(_texts()["warc-truncated-useless"], "truncated", useless.gold.note if useless.gold else "")
    return [
        replace(useful, body=useful.body[: useful.body.index(b"<footer")], truncated="length"),
        replace(useless, body=useless.body[: useless.body.index(b"</style")], truncated="length", gold=gold),
    ]


def _texts() -> dict[str, Text]:
    return {text.slug: text for text in texts.read("hostile")}


def _url(name: str) -> str:
    return f"{HOST}/{name}.html"


def _gold(text: Text, status: str, note: str) -> Gold:
    main = texts.gold(text) if status == "ok" else ""
    return Gold(_url(text.slug), text.fields["language"], SITE, "hostile", status, main, note)


def _html(text: Text, *, meta: str = UTF_8, before: str = "", after: str = "") -> str:
    return pages.fill(
        "hostile",
        language=text.fields["language"],
        meta=meta,
        title=escape(text.title, quote=False),
        before=before,
        body=markup.body(text.body, markup.modern),
        after=after,
    )


def _page(
    name: str,
    note: str,
    *,
    charset: str = "utf-8",
    meta: str = UTF_8,
    headers: Sequence[tuple[str, str]] = (HTML,),
    before: str = "",
    after: str = "",
    wire: Callable[[bytes], bytes] = bytes,
) -> Exchange:
    """A page that a good reader can still clean; `wire` is what happens to its bytes."""
    text = _texts()[name]
    body = wire(_html(text, meta=meta, before=before, after=after).encode(charset))
    return Exchange(_url(name), body, tuple(headers), gold=_gold(text, "ok", note))


def _answer(
    name: str,
    body: bytes,
    status: str,
    note: str,
    *,
    line: str = "200 OK",
    headers: Sequence[tuple[str, str]] = (HTML,),
) -> Exchange:
    """An answer that becomes a row without text."""
    gold = Gold(_url(name), None, SITE, "hostile", status, "", note)
    return Exchange(_url(name), body, tuple(headers), line, gold)


def _mojibake() -> Exchange:
    text = _texts()["mojibake"]
    body = encodings.encoded_twice(_html(text)).encode("utf-8")
    gold = _gold(text, "ok", "utf-8 encoded twice: valid, but rubbish until the second encoding is undone")
    return Exchange(_url("mojibake"), body, gold=gold)


def _oversize() -> Exchange:
    """Eleven MiB of paragraphs in eleven kilobytes."""
    bomb = b"<html><body>" + b"<p>boom</p>".ljust(1024) * (11 * 1024) + b"</body></html>"
    headers = [HTML, ("Content-Encoding", "gzip")]
    note = "11 MiB when inflated, above the default cap of 10 MiB"
    return _answer("gzip-bomb", encodings.gzipped(bomb), "oversize", note, headers=headers)


def _tag_soup() -> Exchange:
    text = _texts()["tag-soup"]
    body = "\n<P>".join(markup.inline(line) for block in text.body for line in block.lines)
    html = pages.fill("hostile.tag-soup", title=text.title, body=body)
    gold = _gold(text, "ok", "unclosed, misnested and doubled tags, an attribute without its end quote")
    return Exchange(_url("tag-soup"), html.encode(), (HTML_BARE,), gold=gold)


def _with_nul_bytes(body: bytes) -> bytes:
    return body.replace(b"</p>\n<p>", b"</p>\0\n\0<p class='\0'>").replace(b". ", b".\0 ")


def _noise(seed: int) -> str:
    """Hexadecimal digits that don't compress."""
    return hashlib.sha256(str(seed).encode()).hexdigest()
