"""The style sheets inside a page: what canonical HTML leaves out and a reader's eye wants back."""

from resiliparse.parse.html import HTMLTree

from victor_spark.html.canonical import capped


def sheets(markup: str) -> list[str]:
    """The text of the page's `style` elements, in document order (those for print alone left out)."""
    document = HTMLTree.parse(capped(markup)).document
    if not document:
        return []
    found = document.query_selector_all("style")
    return [element.text or "" for element in found if (element.getattr("media") or "").strip() != "print"]
