"""The annotation web application: store, pages, server and export."""
