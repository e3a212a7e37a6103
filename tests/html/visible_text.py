"""The visible text of canonical HTML, found by another parser: slow, and written independently of ours."""

from html.parser import HTMLParser


class _Events(HTMLParser):
    """Notes what the standard library's parser sees, one (kind, content) after the other."""

    # Newer Pythons read some elements as raw text; canonical HTML has none left.
    CDATA_CONTENT_ELEMENTS = ()
    RCDATA_CONTENT_ELEMENTS = ()

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.events: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base class's signature
        self.events.append(("start", tag))

    def handle_endtag(self, tag: str) -> None:
        self.events.append(("end", tag))

    def handle_data(self, data: str) -> None:
        kind, text = self.events[-1] if self.events else ("", "")
        if kind == "text":
            self.events[-1] = ("text", text + data)
        else:
            self.events.append(("text", data))


def runs(html: str) -> list[str]:
    """The runs of text between tags, trimmed, without those of white space alone and without titles."""
    parser = _Events()
    parser.feed(html)
    parser.close()
    events = [("", ""), *parser.events, ("", "")]
    found = []
    for (before, tag), (kind, text), (after, _) in zip(events, events[1:], events[2:], strict=False):
        is_title = before == "start" and tag == "title" and after == "end"
        if kind == "text" and text.strip() and not is_title:
            found.append(text.strip())
    return found
