"""Scores pages with trained models: feature sets, CRF and trees, model files, decisions, explanations."""
