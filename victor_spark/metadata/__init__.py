"""What a page says about itself: title, authors, dates, site, from its head, structured data and bylines."""
