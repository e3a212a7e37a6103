"""The metadata that a page states: title, authors, dates, site; from its head, JSON-LD and bylines.

evidence   the tags that state something, found in the source
json_ld    the objects of JSON-LD
statements candidates for a field, from JSON-LD, `meta` and marked elements
extract    the choice of one value for each field
dates      dates and times as pages write them; names: names of authors as pages write them
"""
