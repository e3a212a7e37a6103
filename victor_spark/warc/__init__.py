"""Archives in, records out: the door to FastWARC and warcio, imported nowhere else.

`inputs.resolve` says which shards the arguments mean, `records.read` reads one shard. The rest is theirs:

    inputs    what the arguments mean          records   the loop: shard → page.Record
    kinds     what a file is, by its content   fast      healthy WARC, through FastWARC
    opening   local, http, s3, hdfs: one door  careful   damaged WARC and all ARC, record by record
    bodies    transfer and content encodings   members   one gzip member or zstd frame as a stream
    heads     HTTP heads and WARC fields       resync    where the next record begins
"""
