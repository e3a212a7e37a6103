"""Html in a column of a DataFrame, of Spark or of pandas: a pandas UDF, and the same for pandas.

For archives, use `victor clean`: html does not enter the JVM, and a page that crashes costs its row only.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa

import victor_spark
from victor_spark import tables
from victor_spark.adapters import page
from victor_spark.extractors.victor import NAME

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column

FIELDS: Final = ("text", "status", "reason", "language", "title", "expected_f1")
"""Columns of the pages table that are fields of the result."""


def clean_columns(
    html: "pd.Series[Any]", url: "pd.Series[Any] | None" = None, cleaner: str = NAME, **options: Any
) -> "pd.DataFrame":
    """FIELDS of each page, null where `html` (str or bytes) is; `options`: those of `victor_spark.load`."""
    import pandas as pd

    clean = victor_spark.load(cleaner, **options)
    urls = [None] * len(html) if url is None else [None if pd.isna(one) else one for one in url]
    rows = []
    for content, address in zip(html, urls, strict=True):
        document = None if pd.isna(content) else clean(page(content), address)
        row = [getattr(document, name, None) for name in FIELDS]
        rows.append(row if document is None or document.status == "ok" else [None, *row[1:]])
    return pd.DataFrame(rows, columns=list(FIELDS), index=html.index)


def clean_udf(cleaner: str = NAME, **options: Any) -> "Callable[..., Column]":
    """A function of columns, html (string or binary) and optionally url, whose result is a struct of FIELDS.

    Executors need victor-spark. `options` are those of `victor_spark.load`; wrong ones raise its errors here.
    """
    import pandas as pd
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined] # not in its stubs
    from pyspark.sql.pandas.types import from_arrow_schema  # unlike a text, needs no session

    victor_spark.load(cleaner, **options)

    def clean(html: pd.Series, url: pd.Series = None) -> pd.DataFrame:  # type: ignore[assignment] # for Spark
        return clean_columns(html, url, cleaner, **options)

    kinds = from_arrow_schema(pa.schema([tables.PAGES.field(name) for name in FIELDS]))
    # Otherwise, Spark would clean twice what a filter of the result keeps: before the filter and after it.
    return cast("Callable[..., Column]", pandas_udf(clean, kinds).asNondeterministic())
