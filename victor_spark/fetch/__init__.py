"""A polite fetcher: from a list of addresses to a WARC."""
