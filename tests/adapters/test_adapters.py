"""The examples of docs/pipelines.md run with the packages they are for, in environments of their own.

Also those of docs/coming-from.md: the same job with other tools and with victor-spark.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyspark
import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.spark.crawl import Response, write_warc
from tests.test_readme import blocks
from tests.versions.environments import UnavailableError, environment
from victor_spark.adapters.dataframe import clean_columns, clean_udf
from victor_spark.errors import UsageError

pytestmark = pytest.mark.timeout(900)

DATATROVE: Final = ("datatrove==0.10.1", "orjson", "faust-cchardet", "python-magic", "warcio")
# Curator asks for torch and more, which its html extraction does not import.
CURATOR: Final = (
    [
        "ray[data,default]>=2.57",
        "loguru",
        "justext",
        "lxml_html_clean",
        "pycld2",
        "trafilatura==2.0.0",
        "beautifulsoup4",
    ],
    ["--no-deps", "nemo-curator==1.4.0", "cosmos-xenna==0.2.0"],
)
PEERS: Final = ("trafilatura==2.3.1", "justext==3.0.2", "lxml_html_clean")
PAGE: Final = blocks(ROOT, "html")[0]
ADDRESS: Final = "https://harbour.example/ferry"
FIRST: Final = "The island ferry is back\nAfter three weeks in dry dock the ferry left the harbour on Monday"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the examples read: an archive, pages in a DataFrame, a page."""
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "crawl").mkdir()
    responses = [Response(ADDRESS, PAGE.encode()), Response(f"{ADDRESS}/empty", b"<title>Nothing</title>")]
    write_warc(tmp_path / "crawl" / "pages.warc.gz", responses)
    table = pd.DataFrame({"url": [ADDRESS, None, None, None], "html": [PAGE, None, "page.html", "<p>"]})
    table.to_parquet(tmp_path / "html.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def example(about: str, page: str = "docs/pipelines.md") -> str:
    """The Python example that imports this."""
    (found,) = (source for source in blocks(ROOT, "python", page) if about in source)
    return found


def run(source: str, name: str = "", installs: Iterable[Iterable[str]] = ()) -> str:
    """The stdout of a program in its own process (and environment)."""
    try:
        python = environment(name, installs)
    except UnavailableError as error:
        pytest.skip(str(error))
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    Path("example.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [python, "example.py"], env=variables, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.adapters
def test_a_step_of_datatrove_keeps_the_text_and_facts_of_pages_and_drops_those_without(here: Path) -> None:
    run(example("victor_spark.adapters.datatrove"), "datatrove-0.10.1", [DATATROVE])
    (line,) = (here / "cleaned" / "00000.jsonl").read_text(encoding="utf-8").splitlines()
    document = json.loads(line)
    assert document["text"].startswith(FIRST)
    assert (document["metadata"]["url"], document["metadata"]["language"]) == (ADDRESS, "en")
    assert document["metadata"]["expected_f1"] > 0.9
    assert document["metadata"]["title"].startswith("The island ferry")


@pytest.mark.adapters
def test_datatrove_passes_the_address_and_refuses_an_unknown_form(here: Path) -> None:
    source = (
        "from datatrove.data import Document\n"
        "from victor_spark.adapters.datatrove import VictorExtractor\n"
        "html = '<p>Read <a href=/more>the whole long story of the goat</a> on the ferry, if you like.</p>'\n"
        "if __name__ == '__main__':\n"
        "    page = Document(html, 'a', metadata={'url': 'https://harbour.example/ferry'})\n"
        "    print([one.text for one in VictorExtractor(form='markdown').run([page])])\n"
        "    try:\n"
        "        VictorExtractor(form='markdwon')\n"
        "    except ValueError as error:\n"
        "        print(error)\n"
    )
    printed = run(source, "datatrove-0.10.1", [DATATROVE])
    assert "](https://harbour.example/more)" in printed
    assert "unknown format 'markdwon'" in printed


@pytest.mark.adapters
def test_nemo_curator_extracts_pages_with_the_algorithm(here: Path) -> None:
    source = example("victor_spark.adapters.nemo_curator") + (
        "import json\n"
        "records = stage.iterator.iterate('crawl/pages.warc.gz')\n"
        "print(json.dumps([stage.extractor.extract(record) for record in records]))\n"
    )
    full, empty = json.loads(run(source, "nemo-curator-1.4.0", CURATOR).splitlines()[-1])
    assert full["text"].startswith(FIRST.replace("\n", "\n\n"))
    assert (full["url"], empty) == (ADDRESS, None)


@pytest.mark.adapters
@pytest.mark.parametrize("tool", ["trafilatura import", "resiliparse", "justext"])
def test_other_tools_do_the_same_job_as_victor_beside_them(here: Path, tool: str) -> None:
    examples = blocks(ROOT, "python", "docs/coming-from.md")
    (position,) = (n for n, source in enumerate(examples) if tool in source and "sparkcc" not in source)
    theirs, ours = (run(source, "peers", [PEERS]) for source in examples[position : position + 2])
    assert "three weeks in dry dock" in theirs
    assert "three weeks in dry dock" in ours


@pytest.mark.spark
def test_a_udf_of_spark_and_its_twin_of_pandas_give_a_row_for_every_page(
    spark: SparkSession, here: Path
) -> None:
    names: dict[str, Any] = {}
    assert spark
    source = example("clean_udf").replace("html.parquet", f"{here}/html.parquet")
    exec(compile(source, "pipelines.md", "exec"), names)
    by_spark = names["cleaned"].drop("url").toPandas()
    exec(compile(example("clean_columns"), "pipelines.md", "exec"), names)
    by_pandas = names["cleaned"]
    assert by_pandas["status"].tolist() == ["ok", None, "ok", "empty"]
    assert by_pandas["text"][0].startswith(FIRST)
    assert by_pandas["text"][1:].tolist() == [None, "page.html", None]
    pd.testing.assert_frame_equal(by_spark, by_pandas[list(by_spark.columns)])


@pytest.mark.spark
def test_a_page_is_cleaned_once_also_if_its_result_is_filtered(spark: SparkSession) -> None:
    """Spark calls a deterministic function before a filter of its result and again after it."""
    pages = spark.createDataFrame([(PAGE, ADDRESS), ("<p>", ADDRESS)], "html string, url string")
    clean = clean_udf()
    kept = pages.select(clean("html", "url").alias("page")).where("page.status = 'ok'").select("page.text")
    plan: Any = kept._jdf.queryExecution()
    assert plan.executedPlan().toString().count("EvalPython") == 1
    assert [row.text.startswith(FIRST) for row in kept.collect()] == [True]


@pytest.mark.spark
@pytest.mark.skipif(pyspark.__version__ < "4", reason="Spark 3.5 has no names for arguments")
def test_columns_may_be_named_as_in_python(spark: SparkSession) -> None:
    pages = spark.createDataFrame([(PAGE, ADDRESS)], "html string, url string")
    (row,) = pages.select(clean_udf()("html", url="url").alias("page")).collect()
    assert row.page.status == "ok"


def test_the_function_can_be_made_before_there_is_a_session() -> None:
    """As at the head of a module."""
    source = "from victor_spark.adapters.dataframe import clean_udf\nclean_udf()\nprint('made')"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "made\n"


def test_a_column_of_another_type_is_an_error_that_names_the_type() -> None:
    with pytest.raises(TypeError, match="html must be bytes or str, not int"):
        clean_columns(pd.Series([5]))


def test_html_as_spark_gives_it_to_pandas_without_arrow_is_cleaned() -> None:
    """A binary column is then one of bytearrays."""
    found = clean_columns(pd.Series([bytearray(PAGE.encode()), PAGE.encode()]))
    assert found["text"][0].startswith(FIRST)
    assert found["text"][0] == found["text"][1]


def test_wrong_options_of_the_udf_raise_where_it_is_made() -> None:
    with pytest.raises(UsageError, match="no cleaner 'victr'"):
        clean_udf("victr")
