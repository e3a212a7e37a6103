"""What many pages of one site tell about each of them.

evidence   what a page tells about its site, sums over pages, and what those tell about a page's blocks
decision   own probabilities + evidence → probabilities; the model that is shipped
"""
