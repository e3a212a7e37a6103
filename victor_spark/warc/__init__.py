"""Reads shards: archives in, page records out.

`inputs.resolve` finds the shards of the arguments; `reading.read` reads one of them.

    shard          Shard, ReadOptions, Attempt: the input of a task, and how it is read
    inputs         arguments → shards, also through lists of paths and tables of records (coordinates)
    storage        opens, looks up and lists files; with http_files (web servers) and remote_files (retries)
    file_types     kind of a file or payload by its first bytes and its name; crawls
    compression    gzip, zstd, lz4, brotli: detects and decompresses

    reading        shard → records.Record, of all its records or of those that a task reads
    readers        one record, or one compressed member, and the damage after it
    boundaries     where records begin and end in damaged bytes
    source         a shard's bytes as streams: the file, a part of it, one gzip member or zstd frame
    records        Record, and raw record → Record; with headers (WARC, ARC, HTTP) and http_body (encodings)
"""
