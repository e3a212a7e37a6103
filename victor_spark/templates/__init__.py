"""Site templates: mined from many pages of one site, applied to any page of it (Foschini's thesis).

mine      texts of one site → templates        tokens, suffixes, repeats, cutoff, selection, twins
matcher   templates + text → intervals         one automaton over token symbols
table     the published artefact: write, read, update with a second crawl, diff
across    the second-level filter: strings that many sites share are idioms, no templates
"""
