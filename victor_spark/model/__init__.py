"""The CRF: features, bins and template, model, dense decoding, training. The door to python-crfsuite."""
