"""The file of `victor explain`: a page with blocks coloured by their labels, and the reasons for them.

It is self-contained, runs no script of the page and loads nothing.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from victor_spark import resources
from victor_spark.annotation import frame
from victor_spark.blocks import LABELS, OTHER, Bool, labels
from victor_spark.document import Document
from victor_spark.html.canonical import style_sheets
from victor_spark.model import files as model_files
from victor_spark.model.explanation import Explanation, explain
from victor_spark.roles import ROLES

_POLICY: Final = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'\">"
)
"""Only the script with this hash runs, in a saved file too."""


def page(document: Document, models: Mapping[str, bytes], *, name: str, markup: str, nonce: str = "") -> str:
    """The html document: the page as it looks, each block coloured by its label, with the reasons.

    Scripts, addresses and all other active content are removed, as in the annotation tool. `models` are those
    that cleaned the page; `markup` is its source, for the style sheets.
    """
    trained = [content for model, content in models.items() if model.startswith("crf/")]
    weighed = len(trained) == 1 and document.n_blocks > 0  # the features of a single CRF have weights
    why = explain(model_files.from_bytes(trained[0]), document.columns) if weighed else None
    blocks = list(zip(document.columns.start.tolist(), document.columns.end.tolist(), strict=True))
    tooltips = json.dumps(_tooltips(document, why), ensure_ascii=False, allow_nan=False)
    tooltips = tooltips.replace("<", "\\u003c")
    metadata = "\n".join(f"{name}: {value} (from {source})" for name, value, source in facts(document))
    shown = {"Text": document.text, "Markdown": document.render("markdown"), "Metadata": metadata}
    script = hashlib.sha256(frame.text_of_file("explained.js").encode()).digest()
    bar = resources.template(Path(__file__).with_name("explained.html"))
    return frame.render(
        document.html,
        blocks,
        styles=frame.harmless_sheet(style_sheets(markup)),
        kind="explained",
        nonce=nonce,
        title=f"{name}, explained",
        head=_POLICY.format(b64encode(script).decode()),
        before=bar.render(name=name, title=document.title or "", verdict=verdict(document), shown=shown),
        after=f'<script type="application/json" id="victor-blocks">{tooltips}</script>',
    )


def facts(document: Document) -> Iterator[tuple[str, str, str]]:
    """The fields of the page's metadata that have a value: name, value as text, source of the value."""
    for name, source in document.metadata.sources.items():
        value = getattr(document.metadata, name)
        yield name, value if isinstance(value, str) else ", ".join(value), source


def verdict(document: Document) -> str:
    """The result for the page in one line."""
    parts = [document.status + (f" ({document.reason})" if document.reason else "")]
    parts.append(f"{document.n_kept_blocks} of {document.n_blocks} blocks kept")
    if document.expected_f1 is not None:
        parts.append(f"expected F1 {document.expected_f1:.2f}")
    content = 1.0 - document.scores.probabilities[:, OTHER]
    by_probability = document.kept & ~_headline(document)
    lowest, highest = content[by_probability].min(initial=1.0), content[~document.kept].max(initial=0.0)
    if document.n_kept_blocks and highest <= lowest + 1e-9:  # no dropped block is likelier content
        parts.append(f"kept blocks have P(content) ≥ {lowest:.2f}")
    return ", ".join([*parts, f"cleaner {document.cleaner}"])


def _headline(document: Document) -> Bool:
    """Blocks that are kept as the headline only."""
    headline = document.scores.headline
    return np.zeros_like(document.kept) if headline is None else document.kept & headline


def _tooltips(document: Document, explanation: Explanation | None) -> list[dict[str, Any]]:
    own = labels(document.scores, document.kept).tolist()
    probabilities = np.round(document.scores.probabilities, 3).tolist()
    shares = document.columns.template_share.tolist()
    of_blocks, headline = document.blocks.roles.tolist(), _headline(document).tolist()
    tooltips = []
    for block, (label, p) in enumerate(zip(own, probabilities, strict=True)):
        one: dict[str, Any] = {"label": LABELS[label], "role": ROLES[of_blocks[block]], "p": p}
        if headline[block]:
            one["headline"] = True
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
