"""One request: what decides rows is compared and stored, options of the command line reach their fields."""

import argparse
from dataclasses import fields, replace

import pytest

from victor_spark.commands import clean, options
from victor_spark.errors import UsageError
from victor_spark.request import Budget, CleanRequest, RowOptions, SparkOptions
from victor_spark.settings import Settings
from victor_spark.spark import run_record


def config(request: CleanRequest) -> dict[str, object]:
    return run_record.config(request, models={}, inputs={})


def test_requests_are_equal_where_no_field_that_decides_rows_differs() -> None:
    one = CleanRequest(inputs=("a",), output="out")
    same = replace(
        one,
        output="other",
        budget=Budget("0", "0"),
        spark=SparkOptions(engine="rdd"),
        rows=RowOptions(target_file_size=1000),
    )
    assert one == same
    assert hash(one) == hash(same)
    assert config(one) == config(same)
    for group in (replace(one, cleaning=Settings(threshold=0.3)), replace(one, rows=RowOptions(html=True))):
        assert one != group
        assert config(one) != config(group)


def test_every_option_sets_a_field_and_every_field_has_its_option() -> None:
    request = CleanRequest()
    found = options.flat(clean.CLEAN.options)
    known = [
        field.name for group in (*clean.TABLES, "sites", "spark") for field in fields(getattr(request, group))
    ]
    assert len(set(known)) == len(known)
    assert {one.dest for one in found} == {
        *known,
        "inputs",
        "output",
        "base_url",
        "format",
        "url",
        "links",
        "images",
        "emphasis",
    }


def test_what_is_given_goes_over_what_is_built_in() -> None:
    parser = argparse.ArgumentParser()
    options.add(parser, clean.CLEAN.options)
    words = ["a.warc.gz", "--lang", "cs,SK", "--all-statuses", "--no-sandbox", "--max-bytes", "2M", "--html"]
    request = clean.requested(parser.parse_args([*words, "--wave-bytes", "1K"]))
    assert request.inputs == ("a.warc.gz",)
    assert request.cleaning.languages == ("cs", "sk")
    assert request.reading.statuses == tuple(range(100, 600))
    assert request.reading.max_bytes == 2 << 20
    assert (request.limits.sandbox, request.limits.page_seconds) == (False, 20.0)
    assert (request.rows.html, request.rows.blocks, request.rows.columns) == (True, False, ("html",))
    assert request.spark.wave_bytes == 1024


def test_an_option_for_rows_is_refused_by_its_name() -> None:
    parser = argparse.ArgumentParser()
    options.add(parser, clean.CLEAN.options)
    arguments = parser.parse_args(["page.html", "--page-memory", "100"])
    with pytest.raises(UsageError, match="--page-memory needs --output OUT"):
        clean.refuse(arguments, "needs --output OUT", *clean.FOR_ARCHIVES)
