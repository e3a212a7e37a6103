"""The annotation web application: its store, its pages, its server and what leaves it as gold."""
