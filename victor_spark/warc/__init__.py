"""Reads shards: archives in, page records out. The only package that imports FastWARC.

`inputs.resolve` finds the shards of the arguments; `reading.read` reads one of them.

    shard          Shard, ReadOptions, Attempt: what a task reads, and how
    inputs         arguments → shards, also through lists of paths and tables of records (coordinates)
    storage        opens, looks up and lists files; with http_files (web servers) and remote_files (retries)
    file_types     kind of a file or payload by its first bytes and its name; crawls
    compression    gzip, zstd, lz4, brotli: detects and decompresses

    reading        the loop: shard → records.Record; ranges: which of its records a task reads
    readers        FastWARC for healthy WARC, our own reader for damage and ARC
    boundaries     where records begin and end in damaged bytes
    source         a shard's bytes as streams: the file, a part of it, one gzip member or zstd frame
    records        Record, and raw record → Record; with headers (WARC, ARC, HTTP) and http_body (encodings)
"""
