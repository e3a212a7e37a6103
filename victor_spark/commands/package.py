"""Packs victor-spark for clusters that don't have it.

DIST gets victor-env.tar.gz, for the --archives of spark-submit: this Python, the packages of victor-spark and
its extras that are installed here, its kernels, conf/ and models/. Executors need the same kind of system
(Linux, processor, C library no older), but no Python. Spark itself is left out. And victor-spark.zip, for
--py-files: victor-spark alone with its kernels, conf/ and models/, where executors have this version of
Python and the packages. And clean.py, the job.
"""

import argparse
import shutil
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final

from victor_spark.errors import EXIT_DONE, OutputError, UsageError

ARCHIVE: Final = "victor-env.tar.gz"
ZIP: Final = "victor-spark.zip"
JOB: Final = "clean.py"
_JOB: Final = '''\
"""`victor clean` under spark-submit."""

import sys

from victor_spark.cli import main

sys.argv[1:1] = ["clean"]
sys.exit(main())
'''

EXAMPLES: Final = """\
examples:
  victor package --output dist
  spark-submit --master yarn --deploy-mode cluster --archives dist/victor-env.tar.gz#env \\
      --conf spark.pyspark.python=./env/bin/python dist/clean.py s3://bucket/warc.paths --output hdfs:///out
  spark-submit --master spark://master:7077 --py-files dist/victor-spark.zip dist/clean.py warc.paths \\
      --output /shared/clean
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--output", metavar="DIST", default="dist", help="a directory (default: dist)")
    parser.add_argument(
        "--extras", metavar="NAME,NAME", default="s3", help="optional parts, such as s3,gs (default: s3)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from victor_spark.packing import archives

    folder = Path(arguments.output)
    extras = frozenset(filter(None, arguments.extras.split(",")))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {
            ARCHIVE: archives.pack_environment(folder / ARCHIVE, extras),
            ZIP: archives.pack_zip(folder / ZIP),
        }
        (folder / JOB).write_text(_JOB, encoding="utf-8")
    except PackageNotFoundError as error:
        raise UsageError(f"{error.name} isn't installed here: nothing to pack it from") from error
    except (OSError, shutil.Error) as error:
        raise OutputError(f"{folder}: {error}") from error
    for name, n_bytes in sizes.items():
        print(f"{folder / name}: {n_bytes / 1e6:.0f} MB")
    print(folder / JOB)
    return EXIT_DONE
