"""Annotated pages, labels for training, measures, cross-validation by site, reports."""
