"""The closed list of statuses that a record can have, and what counts as a failure."""

from typing import Final

STATUSES: Final = {
    "ok": "cleaned; `text` is set",
    "empty": "html without content",
    "wrong_language": "not in a language of `--lang`",
    "broken_encoding": "the text is damaged and cannot be repaired",
    "not_html": "declared as html, but another format",
    "http_status": "an HTTP status that was not requested (default: only 200)",
    "truncated": "the archive holds a part of the page that has no text",
    "oversize": "longer than `--max-bytes`",
    "corrupt_record": "the archive is damaged here, or the body cannot be decoded",
    "timeout": "cleaning the page took longer than `--page-seconds`, or reading its record did twice",
    "crash": "the page killed two processes that cleaned or read it",
    "out_of_memory": "cleaning or reading the page needed more than `--page-memory`",
    "error": "an unexpected error, which `reason` names",
}
"""Status of a record → its meaning; docs/output.md is made from it."""

FAILURES: Final = ("corrupt_record", "timeout", "crash", "out_of_memory", "error")
"""Statuses that count in the failure budget: the run failed to clean the page."""

ANSWERED: Final = frozenset({"ok", "empty", "wrong_language"})
"""Statuses of pages that were read and segmented without a fault, whether text was kept or not."""
