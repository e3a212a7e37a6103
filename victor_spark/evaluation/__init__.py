"""Annotated pages, labels for training, measures, cross-validation by site, and the quality gate."""
