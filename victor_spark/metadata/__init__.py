"""The metadata that a page states: title, authors, dates, site; from its head, JSON-LD and bylines."""
