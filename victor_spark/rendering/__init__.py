"""The forms of a cleaned page: structure as columns, and Markdown, HTML, TEI and text made from it."""
