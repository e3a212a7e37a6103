"""How the sample crawl is made: texts → pages of five invented sites → WARC shards and gold."""
