"""A polite fetcher: from a list of addresses to a WARC."""

from dataclasses import dataclass

from victor_spark.configuration import n_bytes, positive, seconds, setting
from victor_spark.warc.shard import MAX_PAGE_BYTES


@dataclass(frozen=True)
class Politeness:
    """Limits that keep the load on hosts low.

    `delay`: seconds between a host's response and the next request to it. `n_tries`, `back_off` (seconds):
    how often and when a request is repeated. `parallel`: concurrent requests to all hosts. `longest_wait`: a
    site that asks for a longer wait (seconds) is not fetched.
    """

    delay: float = setting(1.0, "--delay S", "seconds between requests to a host, at least", seconds)
    n_tries: int = setting(3, "--tries N", "tries per address", positive)
    back_off: float = setting(5.0, "--back-off S", "wait before the second try, then doubled", seconds)
    parallel: int = setting(50, "--parallel N", "parallel requests over all hosts", positive)
    longest_wait: float = 300.0


@dataclass(frozen=True)
class Limits:
    """Seconds for a whole exchange and for a connection; bytes of a body; whether hosts may be private."""

    seconds: float = setting(60.0, "--timeout S", "seconds per page", seconds)
    connect_seconds: float = 15.0
    max_bytes: int = setting(MAX_PAGE_BYTES, "--max-bytes SIZE", "largest page", n_bytes)
    allow_private: bool = setting(
        False, "--allow-private", "allow addresses of this machine and of private networks", None
    )
