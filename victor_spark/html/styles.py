"""The style sheets inside a page: what canonical HTML leaves out and a reader's eye wants back."""

from resiliparse.parse.html import HTMLTree

from victor_spark.html.canonical import capped
from victor_spark.parser.parse import beyond_budget


def sheets(markup: str) -> list[str]:
    """The text of the page's `style` elements, in document order (those for print alone left out).

    None of a page beyond the budget of a tree: the parser library has no such budget.
    """
    if beyond_budget(markup.encode("utf-8", "replace")) is not None:
        return []
    document = HTMLTree.parse(capped(markup)).document
    if not document:
        return []
    found = document.query_selector_all("style")
    return [element.text or "" for element in found if (element.getattr("media") or "").strip() != "print"]
