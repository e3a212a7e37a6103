"""Evidence for a page's blocks from the other pages of its site.

evidence   a page's contribution to its site, the sums over pages, and the evidence for a block; the model
           that is shipped: own probabilities + evidence → probabilities
table      the sums of many sites, as Parquet
"""
