"""A cleaned page as one self-contained html file: each block coloured by its label, with the reasons."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any, Final

import numpy as np

from victor_spark.annotation import frame
from victor_spark.blocks import HEADER, LABELS, OTHER, TEXT, labels
from victor_spark.document import Document
from victor_spark.model.explanation import Explanation
from victor_spark.roles import ROLES


def page(
    document: Document, explanation: Explanation | None, *, name: str, sheets: Sequence[str] = ()
) -> str:
    """The file's content; `sheets` are the page's own style sheets.

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
