"""The closed list of statuses that a record can have, and what counts as a failure."""

from typing import Final

_ANSWERED, _FAILURE, _OTHER = "answered", "failure", "other"

STATUSES: Final = {
    "ok": (_ANSWERED, "cleaned; `text` is set"),
    "empty": (_ANSWERED, "html without content"),
    "wrong_language": (_ANSWERED, "not in a language of `--lang`"),
    "broken_encoding": (_OTHER, "the text is damaged and cannot be repaired"),
    "not_html": (_OTHER, "declared as html, but another format"),
    "http_status": (_OTHER, "an HTTP status that was not requested (default: only 200)"),
    "truncated": (_OTHER, "the archive holds a part of the page that has no text"),
    "oversize": (_OTHER, "longer than `--max-bytes`"),
    "corrupt_record": (_FAILURE, "the archive is damaged here, or the body cannot be decoded"),
    "timeout": (_FAILURE, "cleaning took longer than `--page-seconds`, or reading the record did twice"),
    "crash": (_FAILURE, "the page killed two processes that cleaned or read it"),
    "out_of_memory": (_FAILURE, "cleaning or reading the page needed more than `--page-memory`"),
    "error": (_FAILURE, "an unexpected error, which `reason` names"),
}
"""Status of a record → its kind and its meaning; docs/output.md is made from it."""

FAILURES: Final = tuple(name for name, (kind, _) in STATUSES.items() if kind == _FAILURE)
"""Statuses that count in the failure budget: the run failed to clean the page."""

ANSWERED: Final = frozenset(name for name, (kind, _) in STATUSES.items() if kind == _ANSWERED)
"""Statuses of pages that were read and segmented without a fault, whether text was kept or not."""
