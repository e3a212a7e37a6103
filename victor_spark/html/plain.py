"""Plain text as a page: one block a line, so that whatever reads blocks reads text as well."""

from typing import Final

from victor_spark.html.charset import decode

MIME_TYPE: Final = "text/plain"
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\x00": None})


def as_html(source: bytes, charset: str | None) -> tuple[str, str | None]:
    """A text as html, a paragraph for each line that isn't blank, and the charset it was decoded with."""
    text, found = decode(source, charset)
    lines = (line.strip() for line in text.translate(_ESCAPES).splitlines())
    paragraphs = "".join(f"<p>{line}</p>\n" for line in lines if line)
    return f"<!DOCTYPE html><html><head></head><body>{paragraphs}</body></html>", found
