"""Reads shards: archives in, page records out. The only package that imports FastWARC.

`inputs.resolve` finds the shards of the arguments; `records.read` reads one of them.

    shard          Shard, ReadOptions, Attempt: what a task reads, and how
    inputs         arguments → shards; with path_lists (lists of paths) and coordinates (tables of records)
    storage        opens, looks up and lists files; with http_files, fsspec_files and remote_files (retries)
    file_types     kind of a file or payload by its first bytes; compression: gzip, zstd, lz4

    records        the loop: shard → page.Record; ranges: which of its records a task reads
    readers        FastWARC for healthy WARC, our own reader for damage and ARC
    boundaries     where records begin and end in damaged bytes; members: one gzip member or zstd frame
    source         a shard's bytes; Damage and the errors of reading
    page_records   raw record → page record; with headers (WARC, ARC, HTTP) and http_body (encodings)
"""
