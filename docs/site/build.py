"""Builds the documentation site: build/site/VERSION/, beside the versions that are there.

python docs/site/build.py         needs docs/site/requirements.txt

build/site/ can be opened as files or served by any web server; its pages load nothing from other hosts.
"""

import json
import logging
import re
import sys
from pathlib import Path
from typing import Final

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT: Final = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from victor_spark import __version__  # noqa: E402 - needs the path

_VERSION: Final = re.compile(r"\d+\.\d+.*")
_GO: Final = (
    '<!doctype html><meta charset="utf-8"><title>victor-spark</title>'
    '<meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">{0}</a>\n'
)


def main(folder: str = "build/site") -> int:
    """Builds the current version; 1 if a link, an anchor or a name leads nowhere."""
    site = ROOT / folder  # an absolute folder stays as it is
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site / __version__))
    try:
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    except Abort:
        return 1
    finally:
        config.plugins.on_shutdown()
    found = [path.name for path in site.iterdir() if path.is_dir() and _VERSION.fullmatch(path.name)]
    found.sort(key=lambda name: [int(number) for number in re.findall(r"\d+", name)], reverse=True)
    versions = [
        {"version": name, "title": name, "aliases": ["latest"] if name == found[0] else []} for name in found
    ]
    (site / "versions.json").write_text(json.dumps(versions, indent=1), encoding="utf-8")
    (site / "index.html").write_text(_GO.format(found[0]), encoding="utf-8")
    print(site / __version__ / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
