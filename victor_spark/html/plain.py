"""Plain text as a page with one block per line, so that all code for blocks works on text too."""

from typing import Final

from victor_spark.html.charset import decode

MIME_TYPE: Final = "text/plain"
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\x00": None})


def as_html(source: bytes, charset: str | None) -> tuple[str, str | None]:
    """A text as html, with a paragraph per line that is not blank, and the charset of the text."""
    text, found = decode(source, charset)
    lines = (line.strip() for line in text.translate(_ESCAPES).splitlines())
    paragraphs = "".join(f"<p>{line}</p>\n" for line in lines if line)
    return f"<!DOCTYPE html><html><head></head><body>{paragraphs}</body></html>", found
