"""Site templates: mined from many pages of one site, applied to any page of it (Foschini's thesis).

tokens     texts as symbols
mine       texts of one site → a sample of them → templates
repeats    repeated strings of a site, and which of them are templates
patterns   templates as regular expressions, and mutable patterns
matcher    templates + text → intervals: one automaton over token symbols
table      the published table: read, check, update, compare; idioms of many sites left out
coverage   table + page → which characters of its blocks templates cover, and the blocks without them

The cleaner `template` and the template step after other cleaners are in extractors.template.
"""
