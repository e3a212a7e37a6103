"""What many pages of one site tell about each of them.

evidence   what a page tells about its site, sums over pages, what those tell about a page's blocks; the model
           that is shipped: own probabilities + evidence → probabilities
table      what is known of many sites, as Parquet
"""
