"""victor-spark as a step of other people's pipelines: one file a host, which imports the host's package."""


def page(html: str | bytes | bytearray) -> str | bytes:
    """What cleaners take: text without markup is content, too, and never a path or an address."""
    if isinstance(html, bytearray):  # of Spark's toPandas() without Arrow
        return bytes(html)
    return html if isinstance(html, bytes) or "<" in html else html.encode("utf-8", "replace")
