"""The tools that victor is timed beside: each a function from a record to its text."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import TypeAlias

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding

from victor_spark import pipeline
from victor_spark.settings import Settings
from victor_spark.warc.records import Record

Tool: TypeAlias = Callable[[Record], str | None]


def ours() -> Mapping[str, Tool]:
    """Our cleaners, with their models loaded; and the best one with its pages as Markdown."""
    return {
        "victor": _cleaner("victor"),
        "victor, text and Markdown": _cleaner("victor", "markdown"),
        "victor-2008": _cleaner("victor-2008"),
    }


def peers() -> Mapping[str, Tool]:
    """The others; a line on stderr for one that isn't installed."""
    tools: dict[str, Tool] = {"resiliparse, main content": _resiliparse}
    try:
        trafilatura = importlib.import_module("trafilatura")
    except ImportError:
        print("without trafilatura: pip install 'victor-spark[peers]'", file=sys.stderr)
        return tools
    tools["trafilatura"] = lambda record: trafilatura.extract(record.payload)
    return tools


def _cleaner(name: str, form: str = "text") -> Tool:
    settings = Settings(cleaner=name)
    clean = pipeline.cleaning(settings, pipeline.models(settings))
    return lambda record: clean(record).render(form)


def _resiliparse(record: Record) -> str:
    payload = record.payload or b""
    html = bytes_to_str(payload, detect_encoding(payload))
    return extract_plain_text(html, main_content=True)
