"""Site templates: mined from many pages of one site, applied to any page of it (Foschini's thesis).

mine      texts of one site → templates        tokens, suffixes, repeats, cutoff, selection, twins
matcher   templates + text → intervals         one automaton over token symbols
table     the published artefact: write, read, update with a second crawl, diff
sites     which site a page belongs to
sample    which pages of a large site are looked at
views     what templates are looked for in, and which characters of a page's blocks they cover
lookup    table + page → the page that knows what the templates of its site cover
trimming  what is left of blocks without that
across    the second-level filter: strings that many sites share are idioms, no templates
"""
