"""victor-spark as a step of other pipelines: each file is for one of them, and imports its package."""


def page(html: str | bytes | bytearray) -> str | bytes:
    """The page for a cleaner. Text without markup is content; it is never taken as a path or an address."""
    if isinstance(html, bytearray):  # of Spark's toPandas() without Arrow
        return bytes(html)
    return html.encode("utf-8", "replace") if isinstance(html, str) and "<" not in html else html
