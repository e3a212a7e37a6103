r"""Packs victor-spark for clusters on which it is not installed. DIST gets three files:

  victor-env.tar.gz  for --archives of spark-submit: this Python with all packages except Spark; executors
                     need no Python, but the same kind of system (docs/deploy.md)
  victor-spark.zip   for --py-files: executors need this version of Python and the packages
  clean.py           the job

examples:
  victor package --output dist
  spark-submit --master yarn --deploy-mode cluster --archives dist/victor-env.tar.gz#env \
      --conf spark.pyspark.python=./env/bin/python dist/clean.py s3://bucket/warc.paths --output hdfs:///out
  spark-submit --master spark://master:7077 --py-files dist/victor-spark.zip dist/clean.py warc.paths \
      --output /shared/clean
"""

import argparse
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final

from victor_spark.commands.options import Command, option
from victor_spark.configuration import names
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

OPTIONS: Final = (
    option("--output DIST", "directory to write to", default="dist"),
    option("--extras NAME,NAME", "extras to include, such as s3,gs", names, default="s3"),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from victor_spark import packing

    folder = Path(arguments.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {ARCHIVE: packing.pack_environment(folder / ARCHIVE, frozenset(arguments.extras))}
        sizes[ZIP] = packing.pack_zip(folder / ZIP)
        (folder / JOB).write_text(_JOB, encoding="utf-8")
    except PackageNotFoundError as error:
        wanted = f"pip install 'victor-spark[{','.join(['executors', *arguments.extras])}]'"
        raise UsageError(f"{error.name} is not installed here: {wanted}, or name other --extras") from error
    except FileExistsError as error:
        raise OutputError(f"{folder} is a file; --output is a directory") from error
    except OSError as error:
        raise OutputError(f"{folder}: {error}") from error
    for name, n_bytes in sizes.items():
        print(f"{folder / name}: {n_bytes / 1e6:.0f} MB")
    print(folder / JOB)
    return EXIT_DONE


PACKAGE: Final = Command(__doc__, OPTIONS, run)
