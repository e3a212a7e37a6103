"""Site templates: mined from many pages of one site, applied to any page of it (Foschini's thesis).

tokens     texts as symbols
mine       texts of one site → a sample of them → templates
repeats    repeated strings of a site, and which of them are templates
patterns   templates as regular expressions, and mutable patterns
matcher    templates + text → intervals: one automaton over token symbols
table      the published table: read, check, update, compare; idioms of many sites left out
coverage   which characters of a page's blocks templates cover; which kept blocks stay, and what is cut out
site       a table + pages → marked before the cleaner, and their templates removed after it

The cleaner `template` is in extractors.template; `rendering.shown` cuts the templates out of the text.
"""
