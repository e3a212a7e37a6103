"""Evidence for a page's blocks from the other pages of its site.

evidence   what a page tells about its site, sums over pages, what those tell about a page's blocks; the model
           that is shipped: own probabilities + evidence → probabilities
table      what is known of many sites, as Parquet
"""
