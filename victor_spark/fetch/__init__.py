"""A polite fetcher: from a list of addresses to a WARC."""

from dataclasses import dataclass

from victor_spark.warc.shard import MAX_PAGE_BYTES


@dataclass(frozen=True)
class Politeness:
    """Limits that keep the load on hosts low.

    `delay`: seconds between a host's response and the next request to it. `n_tries`, `back_off` (seconds):
    how often and when a request is repeated. `parallel`: concurrent requests to all hosts. `longest_wait`: a
    site that asks for a longer wait (seconds) is not fetched.
    """

    delay: float = 1.0
    n_tries: int = 3
    back_off: float = 5.0
    parallel: int = 50
    longest_wait: float = 300.0


@dataclass(frozen=True)
class Limits:
    """Seconds for a whole exchange and for a connection; bytes of a body; whether hosts may be private."""

    seconds: float = 60.0
    connect_seconds: float = 15.0
    max_bytes: int = MAX_PAGE_BYTES
    allow_private: bool = False
