"""Fetches a list of addresses into a WARC file: many hosts in parallel, each at most once per second.

URLS.txt holds one http or https address per line. Obeys robots.txt, follows redirects, and retries after
temporary errors. The same command run again fetches only what the WARC file does not hold yet.

examples:
  victor fetch urls.txt --output pages.warc.gz
  victor fetch urls.txt --output pages.warc.gz --delay 2 --user-agent 'my-corpus (+https://example.org/about)'
  victor clean pages.warc.gz --output out
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from victor_spark import __version__, configuration
from victor_spark.commands import options
from victor_spark.commands.options import Command, Group, option
from victor_spark.errors import EXIT_DONE, EXIT_INCOMPLETE, EXIT_USAGE, InputError, UsageError
from victor_spark.fetch import Limits, Politeness
from victor_spark.logs import log, many, reporter

USER_AGENT: Final = f"victor-spark/{__version__}"
_SHOWN: Final = 10

OPTIONS: Final = (
    option("URLS.txt", "a text file, one address per line", dest="urls"),
    option("--output FILE.warc.gz", "the WARC file to create or append to", required=True),
    Group(
        "politeness",
        option("--user-agent NAME", "sent to the servers; should have a contact address", default=USER_AGENT),
        *(options.of(Politeness, name) for name in ("delay", "n_tries", "back_off")),
    ),
    Group(
        "limits",
        options.of(Politeness, "parallel"),
        *(options.of(Limits, name) for name in ("seconds", "max_bytes", "allow_private")),
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Fetches, and prints how many addresses ended with which status."""
    from victor_spark.fetch import addresses

    output = Path(arguments.output)
    if not output.name.endswith(".warc.gz"):
        raise UsageError(f"--output {output}: the name must end in .warc.gz")
    listed = addresses.read(Path(arguments.urls))
    if n := len(listed.bad):
        log(f"{many(n, 'line')} of {arguments.urls} skipped: {listed.bad[0]}{', …' if n > 1 else ''}")
    limits = configuration.merged(Limits(), {}, vars(arguments))
    polite = configuration.merged(Politeness(), {}, vars(arguments))
    _, is_complete, holds_pages = fetch(listed.urls, output, arguments.user_agent, limits, polite)
    if is_complete and not holds_pages:
        raise InputError("no page was written")
    return EXIT_DONE if is_complete else EXIT_INCOMPLETE


def fetch(
    listed: Sequence[str], output: Path, user_agent: str, limits: Limits, polite: Politeness
) -> tuple[dict[str, tuple[str, str]], bool, bool]:
    """Status and reason of each address, whether all were tried, and whether the WARC holds pages."""
    from victor_spark.fetch import warc_file
    from victor_spark.fetch.crawl import Crawl

    report, is_complete = reporter("fetching", len(listed)), True
    with warc_file.opened(output, user_agent) as warc:
        if warc.n_cut:
            log(f"{output}: removed an incomplete record of {warc.n_cut} bytes at its end")
        crawl = Crawl(warc, polite, lambda: report(len(crawl.ended), ""))
        try:
            asyncio.run(crawl.run(listed, user_agent, limits))
        except KeyboardInterrupt:
            log("stopped; run the same command again to resume", "warning")
            is_complete = False
    for status, n in Counter(status for status, _ in crawl.ended.values()).most_common():
        kind = "HTTP status" if status.isdecimal() else "status"
        log(f"{n:,} address{'es' * (n != 1)} with {kind} {status}")
    failed = [f"  {status}: {url} ({why})" for url, (status, why) in crawl.ended.items() if why]
    for line in failed[:_SHOWN]:
        log(line)
    if len(failed) > _SHOWN:
        log(f"  … and {len(failed) - _SHOWN} more")
    return crawl.ended, is_complete, any(not url.endswith("/robots.txt") for url in warc.known)


_CODES: Final = {
    EXIT_USAGE: "wrong usage, unreadable input or no page written",
    EXIT_INCOMPLETE: "stopped; run the same command again to resume",
}
FETCH: Final = Command(__doc__, OPTIONS, run, codes=_CODES)
