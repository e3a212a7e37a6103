"""A polite fetcher: a list of addresses in, a WARC out."""
