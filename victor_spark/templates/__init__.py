"""Site templates: mined from many pages of one site, applied to any page of it (Foschini's thesis).

sites      which site a page belongs to, and which of its pages are mined
tokens     texts as symbols
mine       texts of one site → templates: repeats, selection, patterns
matcher    templates + text → intervals: one automaton over token symbols
table      the published table: read, check, update, compare; idioms of many sites left out
coverage   table + page → which characters of its blocks templates cover, and what is left of these

The cleaner `template` and the template step after other cleaners are in extractors.template.
"""
