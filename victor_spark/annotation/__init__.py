"""The web applications: `victor annotate` (store, pages, export), `victor look`, and their server."""
