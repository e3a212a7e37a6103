"""Writes an html file that shows why a page was cleaned as it was: each block is coloured by its label.

Point at a block to see its probabilities, stage by stage, and the features with the largest weights. The file
is self-contained; it runs no script of the page and loads nothing. The page's metadata are printed with their
sources.

examples:
  victor explain page.html                       writes page.explained.html
  victor explain page.html --output why.html --cleaner victor-2008
  victor explain page.html --fail-below 0.6 || echo "the model is unsure of this page"
  victor explain page.html --url http://example.org/a --templates templates.parquet
"""

import argparse
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark import pipeline, resources
from victor_spark.annotation import frame
from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT, labels
from victor_spark.commands import clean_options
from victor_spark.commands.clean import read_page
from victor_spark.commands.clean_options import CLEANER, LANGUAGE, MAX_BYTES, TEMPLATES, URL
from victor_spark.commands.options import Command, Group, option
from victor_spark.document import Document
from victor_spark.errors import EXIT_BUDGET, EXIT_DONE, InputError
from victor_spark.html.canonical import style_sheets
from victor_spark.html.charset import decode
from victor_spark.model import files as model_files
from victor_spark.model.explanation import Explanation, explain
from victor_spark.roles import ROLES
from victor_spark.spark.request import CleanRequest
from victor_spark.warc import storage
from victor_spark.warc.records import Record

OPTIONS: Final = (
    option("PAGE", "an html page; - is stdin", dest="inputs", nargs=1),
    option("--output FILE", "default: NAME.explained.html, here"),
    CLEANER,
    TEMPLATES,
    LANGUAGE,
    Group("the page", URL, MAX_BYTES),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    request = clean_options.request(arguments)
    name, record = read_page(request, arguments.url)
    if record.status is not None or record.payload is None:
        raise InputError(f"{name}: {record.status or 'error'} ({record.reason})")
    shown = "page" if name == "stdin" else Path(storage.public(arguments.inputs[0], arguments.inputs[0])).stem
    path = Path(arguments.output or f"{shown}.explained.html")
    document = write(path, record, request, name=name)
    print(f"{name}: {verdict(document)}\n{path}")
    for field, source in document.metadata.sources.items():
        print(f"  {field}: {getattr(document.metadata, field)!r:.200} (from {source})")
    is_unsure = request.cleaning.fail_below is not None and document.status != "ok"
    return EXIT_BUDGET if is_unsure else EXIT_DONE


def write(path: Path, record: Record, request: CleanRequest, *, name: str) -> Document:
    """Writes the file of a page that was read, and returns its document."""
    models = pipeline.models(request.cleaning)
    document = pipeline.cleaning(request.cleaning, models)(record)
    markup, _ = decode(record.payload or b"", record.http_charset)
    trained = [content for model, content in models.items() if model.startswith("crf/")]
    weighed = len(trained) == 1 and document.n_blocks > 0  # the features of a single CRF have weights
    why = explain(model_files.from_bytes(trained[0]), document.columns) if weighed else None
    with resources.written(path):
        content = page(document, why, name=name, sheets=style_sheets(markup))
        path.write_text(content, encoding="utf-8")
    return document


def page(
    document: Document, explanation: Explanation | None, *, name: str, sheets: Sequence[str] = ()
) -> str:
    """The file: the page, each block coloured by its label, with the reasons; `sheets` are its style sheets.

    Scripts, addresses and all other active content is removed, as in the annotation tool.
    """
    blocks = list(zip(document.columns.start.tolist(), document.columns.end.tolist(), strict=True))
    tooltips = json.dumps(_tooltips(document, explanation), ensure_ascii=False, allow_nan=False)
    tooltips = tooltips.replace("<", "\\u003c")
    bar = _BAR.format(
        name=escape(name), verdict=escape(verdict(document)), title=escape(document.title or "")
    )
    return frame.render(
        document.html,
        blocks,
        styles=frame.harmless_sheet(sheets),
        script="explained.js",
        css="explained.css",
        title=f"{name}, explained",
        head=_POLICY,
        before=bar,
        after=f'<script type="application/json" id="victor-blocks">{tooltips}</script>',
    )


def verdict(document: Document) -> str:
    """The result for the page in one line."""
    parts = [document.status + (f" ({document.reason})" if document.reason else "")]
    parts.append(f"{document.n_kept_blocks} of {document.n_blocks} blocks kept")
    if document.expected_f1 is not None:
        parts.append(f"expected F1 {document.expected_f1:.2f}")
    content = 1.0 - document.scores.probabilities[:, OTHER]
    lowest, highest = content[document.kept].min(initial=1.0), content[~document.kept].max(initial=0.0)
    if document.n_kept_blocks and highest <= lowest + 1e-9:  # no dropped block has a higher one
        parts.append(f"kept are blocks with P(content) ≥ {lowest:.2f}")
    return ", ".join([*parts, f"cleaner {document.cleaner}"])


def _tooltips(document: Document, explanation: Explanation | None) -> list[dict[str, Any]]:
    """The content of the tooltip of each block."""
    own = labels(document.scores, document.kept).tolist()
    probabilities = np.round(document.scores.probabilities, 3).tolist()
    shares = document.columns.template_share.tolist()
    of_blocks = document.blocks.roles.tolist()
    tooltips = []
    for block, (label, p) in enumerate(zip(own, probabilities, strict=True)):
        one: dict[str, Any] = {"label": LABELS[label], "role": ROLES[of_blocks[block]]}
        one["p"] = [p[HEADER], p[TEXT], p[OTHER]]
        if shares[block]:
            one["template"] = round(shares[block], 2)
        if explanation is not None:
            one["chain"] = round(float(explanation.chain[block]), 3)
            if explanation.first is not None:
                one["first"] = round(float(explanation.first[block]), 2)
            for key, effects in (("why", explanation.first_effects), ("last", explanation.last_effects)):
                one[key] = [
                    [each.name, float(f"{each.value:.4g}"), round(each.effect, 2)] for each in effects[block]
                ]
        tooltips.append(one)
    return tooltips


_POLICY: Final = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
)
_BAR: Final = """
<div id="victor-bar" role="status">
<b>{name}</b> <span>{title}</span><br>{verdict}
<div><i class="victor-header">header</i> <i class="victor-text">text</i>
<i class="victor-other">other: dropped</i>
<span>Point at a block, or use j and k, to see the reasons.</span></div>
</div>
<div id="victor-why" hidden></div>
"""


EXPLAIN: Final = Command(
    __doc__, OPTIONS, run, codes={EXIT_BUDGET: "the page's expected F1 is below --fail-below"}
)
