"""From bytes to Document: the public contract, with the models that are shipped."""

import dataclasses
import gzip
import inspect
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from html import escape, unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import victor_spark
from tests.html.pages import HOSTILE, articles, pages
from victor_spark import pipeline
from victor_spark.blocks import LABELS
from victor_spark.document import FORMS, Block, Document
from victor_spark.errors import InputError, ModelError, UsageError
from victor_spark.resources import directory
from victor_spark.settings import Settings
from victor_spark.statuses import STATUSES
from victor_spark.warc import file_types, inputs, reading
from victor_spark.warc.records import Record
from victor_spark.warc.shard import ReadOptions

ALONE = tuple(name for name in victor_spark.cleaners() if name != "template")
"""Cleaners that need nothing but the page."""

SENTENCES = (
    "The council of the town met on Tuesday evening to talk about the old bridge over the river. "
    "Nobody had expected so many people to come, and the room was soon too small for all of them. "
    "After two hours it was decided that the bridge will be repaired before the winter. "
)
MENU = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("Home", "News", "Sport", "Contact"))
ARTICLE = (
    f"<html><head><title>The old bridge</title></head><body><div><ul>{MENU}</ul></div>"
    "<div><h1>The old bridge</h1>"
    f"{''.join(f'<p>{SENTENCES}</p>' for _ in range(6))}</div><div><ul>{MENU}</ul></div></body></html>"
)

FIELDS: dict[str, Any] = {
    "text": str,
    "language": str,
    "language_score": float,
    "status": str,
    "reason": type(None),
    "title": str,
    "url": str,
    "html": str,
    "charset": str,
    "cleaner": str,
    "n_blocks": int,
    "n_kept_blocks": int,
    "p_content": float,
    "expected_f1": float,
}


def cleaned(chosen: Settings, source: str) -> Document:
    """A page cleaned with these settings."""
    return cleaning(chosen)(record(source.encode("utf-8", "replace")))


@cache
def cleaning(chosen: Settings) -> Callable[[Record], Document]:
    """Loads the models of these settings once, not for each page."""
    return pipeline.cleaning(chosen, pipeline.models(chosen))


def record(payload: Any, **fields: Any) -> Record:
    return Record("id", "http://a.example/", "x.warc.gz", 0, 1, payload, **fields)


@pytest.fixture(scope="module")
def clean_record() -> Any:
    return pipeline.cleaning(Settings(), pipeline.models(Settings()))


def consistent(document: Document) -> None:
    """Asserts the properties that the document of any page has."""
    assert document.status in STATUSES
    assert (document.text != "") == (document.status == "ok")
    assert document.reason is not None or document.status == "ok"
    assert document.n_blocks == len(document.blocks) == len(document.kept)
    assert document.n_kept_blocks == sum(block.label != "other" for block in document.blocks)
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end
        end = block.end
        assert unescape(document.html[block.start : block.end]) == block.text
        assert block.label in LABELS
        assert block.p_header + block.p_text + block.p_other == pytest.approx(1)
    for form in FORMS:
        document.render(form).encode("utf-8")
    document.text.encode("utf-8")


def test_a_document_has_the_fields_of_the_contract() -> None:
    document = victor_spark.clean(ARTICLE, "http://a.example/bridge")
    assert {name: type(getattr(document, name)) for name in FIELDS} == FIELDS
    assert (document.status, document.language, document.charset) == ("ok", "en", "utf-8")
    assert (document.title, document.url) == ("The old bridge", "http://a.example/bridge")
    assert 0 < document.p_content <= 1  # type: ignore[operator]
    assert 0 < document.expected_f1 <= 1  # type: ignore[operator]
    consistent(document)


def test_an_article_is_kept_and_its_menus_are_not() -> None:
    document = victor_spark.clean(ARTICLE.encode())
    assert document.text.count("The council of the town") == 6
    assert "Contact" not in document.text
    kept = {block.text for block in document.blocks if block.label == "text"}
    assert SENTENCES.strip() in kept


def test_paragraphs_are_separated_by_newlines() -> None:
    lines = victor_spark.clean(ARTICLE).text.split("\n")
    assert lines.count(SENTENCES.strip()) == 6


def test_str_and_bytes_of_a_page_give_the_same_document() -> None:
    one, other = victor_spark.clean(ARTICLE), victor_spark.clean(ARTICLE.encode())
    assert (one.text, one.html, one.status) == (other.text, other.html, other.status)


def test_the_charset_declared_in_a_string_is_ignored() -> None:
    page = ARTICLE.replace("<title>", "<meta charset=windows-1251><title>Žluťoučký ")
    assert victor_spark.clean(page).title == "Žluťoučký The old bridge"


@pytest.mark.parametrize("function", [victor_spark.clean, victor_spark.load])
def test_every_option_of_the_pipeline_is_a_keyword_with_its_default(function: Callable[..., Any]) -> None:
    given = inspect.signature(function).parameters
    options = {field.name: field.default for field in dataclasses.fields(Settings)}
    assert {name: each.default for name, each in given.items() if name not in ("html", "url")} == options


def test_a_cleaner_made_once_gives_the_same_documents_also_in_another_process() -> None:
    made = victor_spark.load(
        "victor-2008", 0.4, languages="en,cs", model=directory("models") / "crf/victor-2008"
    )
    clean = pickle.loads(pickle.dumps(made))
    document = clean(ARTICLE, url="http://a.example/bridge")
    assert document.url == "http://a.example/bridge"
    assert document.text == victor_spark.clean(ARTICLE, cleaner="victor-2008", threshold=0.4).text
    assert victor_spark.clean(ARTICLE, languages=["cs"]).status == "wrong_language"


@pytest.mark.parametrize(
    "wrong",
    [
        {"cleaner": "soap"},
        {"threshold": 2},
        {"prefer": "speed"},
        {"cleaner": "kimatu", "prefer": "recall"},
        {"cleaner": "victor+kimatu", "fail_below": 0.5},
        {"languages": "klingon"},
        {"templates": "nowhere.parquet"},
        {"templates": ""},
        {"sites": ""},
        {"model": ""},
        {"lid_model": ""},
    ],
)
def test_a_wrong_option_is_a_value_error_before_the_first_page(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        victor_spark.load(**wrong)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("prefers", "did you mean prefer?"), ("language", "languages?"), ("favor", "choose from cleaner, ")],
)
def test_an_unknown_option_is_a_type_error_that_names_the_options(name: str, hint: str) -> None:
    for function in (victor_spark.load, partial(victor_spark.clean, ARTICLE)):
        with pytest.raises(TypeError, match=f"^unexpected keyword argument '{name}' \\(.*{re.escape(hint)}"):
            function(**{name: "x"})


@pytest.mark.parametrize("wrong", [b"x", [5], ("cs", 3), object()])
def test_an_option_of_another_type_is_a_value_error_that_names_it(wrong: Any) -> None:
    for option in dataclasses.fields(Settings):
        with pytest.raises(ValueError, match=f"^{option.name} must be .*, not "):
            victor_spark.load(**{option.name: wrong})


@pytest.mark.parametrize("names", ["cs, en,", ["cs ", "", "en"], ("CS", "en"), iter(("cs", "en"))])
def test_names_are_read_alike_from_a_text_and_from_a_list(names: Any) -> None:
    assert Settings(languages=names).languages == ("cs", "en")


def test_an_address_that_is_no_str_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="url must be str or None, not bytes"):
        victor_spark.clean(ARTICLE, url=b"http://a.example/")  # type: ignore[arg-type]


def test_a_document_and_its_blocks_are_one_short_line_at_the_prompt() -> None:
    document = victor_spark.clean(ARTICLE * 20)
    assert repr(document).startswith("<Document ok: ")
    assert len(repr(document)) < 200
    assert repr(document.blocks) == f"<{document.n_blocks} blocks>"


def test_the_keywords_of_the_contract() -> None:
    document = victor_spark.clean(html=ARTICLE, url=None, cleaner="victor", threshold=None)
    assert document.url is None
    assert all(isinstance(block, Block) for block in document.blocks)


@pytest.mark.parametrize("wrong", [None, 1, ["<p>"], bytearray(b"<p>"), memoryview(b"<p>"), Path("x.html")])
def test_html_that_is_neither_str_nor_bytes_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match=type(wrong).__name__):
        victor_spark.clean(wrong)


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ("https://example.org/", "an address"),
        ("  s3://crawl/a\n", "an address"),
        ("www.example.org/index", "an address"),
        ("page.html", "a path"),
        ("C:\\pages\\Index.HTM", "a path"),
        ("crawl/CC-1.warc.gz", "a path"),
        (__file__, "a path"),
    ],
)
def test_an_address_or_a_path_is_no_page(named: str, what: str) -> None:
    with pytest.raises(InputError, match=f"html is {what}, not a page"):
        victor_spark.clean(named)


@pytest.mark.parametrize(
    "text",
    ["hello", "see https://example.org/ for more", "my page.html", "and/or", "<p>https://example.org/"],
)
def test_a_text_without_tags_is_a_page(text: str) -> None:
    assert victor_spark.clean(text).text == text.removeprefix("<p>")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.7\n1 0 obj", "application/pdf"),
        ("%PDF-1.7 as a string", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "image/png"),
        (gzip.compress(ARTICLE.encode()), "application/gzip"),
    ],
)
def test_a_file_of_another_kind_is_not_html(content: bytes | str, reason: str) -> None:
    document = victor_spark.clean(content)
    assert (document.status, document.reason, document.text) == ("not_html", reason, "")


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_threshold_that_is_no_probability_is_a_usage_error(threshold: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        victor_spark.clean(ARTICLE, threshold=threshold)


def test_an_unknown_cleaner_is_a_usage_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"soap.*victor, victor-2, victor-2008"):
        victor_spark.clean(ARTICLE, cleaner="soap")


@pytest.mark.parametrize(
    "source", ["", b"", " ", "<p></p>", "<frameset><frame src=a></frameset>", b"\x00", "<!--x-->"]
)
def test_a_page_without_text_is_empty(source: str | bytes) -> None:
    document = victor_spark.clean(source)
    assert (document.status, document.reason, document.text) == ("empty", "no text block", "")
    assert (document.p_content, document.n_blocks) == (None, 0)
    consistent(document)


def test_a_page_of_which_nothing_is_kept_is_empty() -> None:
    document = victor_spark.clean(ARTICLE, threshold=0.0)
    assert (document.status, document.reason, document.n_kept_blocks) == ("empty", "no block kept", 0)
    assert document.n_blocks > 10
    consistent(document)


@pytest.mark.parametrize("source", ["<p>&shy;</p>", "<p>\u200b\u200d</p><p>\u200e</p>"])
def test_a_page_whose_kept_blocks_show_nothing_is_empty_and_says_so(source: str) -> None:
    document = victor_spark.clean(source, threshold=1.0)
    assert (document.status, document.reason) == ("empty", "no visible text kept")
    consistent(document)


@given(pages)
@settings(max_examples=60)
def test_no_page_raises_and_every_document_is_consistent(source: str | bytes) -> None:
    assume(not (isinstance(source, str) and file_types.only_named(source)))  # an address is no page
    consistent(victor_spark.clean(source))


@pytest.mark.parametrize(
    "hostile", [*HOSTILE, "\udfff", "<" * 5000, "<b>" * 20_000, "&" * 5000, "\u202e" * 500]
)
def test_an_article_with_something_hostile_before_it_is_cleaned(hostile: str) -> None:
    document = victor_spark.clean(f"<p>{hostile}</p>{ARTICLE}")
    consistent(document)


probability = st.floats(0, 1)


@given(articles, probability, probability)
@settings(max_examples=20)
def test_a_lower_threshold_keeps_a_subset(source: str, one: float, other: float) -> None:
    low, high = (
        victor_spark.clean(ARTICLE + source, threshold=threshold) for threshold in sorted((one, other))
    )
    assert (low.kept <= high.kept).all()
    np.testing.assert_array_equal(low.scores.probabilities, high.scores.probabilities)


@given(source=articles)
@settings(max_examples=30, deadline=None)
def test_preferring_precision_keeps_no_more_and_preferring_recall_no_less(source: str) -> None:
    """The headline apart, which is added where the text below it is kept and does not repeat it."""
    pages = [cleaned(Settings(prefer=prefer), source) for prefer in ("precision", None, "recall")]
    kept = [page.kept if (added := page.scores.headline) is None else page.kept & ~added for page in pages]
    assert not (kept[0] & ~kept[1]).any()
    assert not (kept[1] & ~kept[2]).any()


def test_the_preference_changes_the_text_of_the_sample_crawl(root: Path) -> None:
    pages = [
        each
        for shard in inputs.resolve([str(root / "sample" / "crawl-00000.warc.gz")])
        for each in reading.read(shard, ReadOptions())
    ]

    def n_kept(prefer: str) -> int:
        clean = pipeline.cleaning(Settings(prefer=prefer), pipeline.models(Settings(prefer=prefer)))
        return sum(clean(page).n_kept_blocks for page in pages)

    assert n_kept("precision") < n_kept("recall")


def test_a_page_below_the_expected_f1_asked_for_is_dropped_with_the_figure() -> None:
    sure = cleaned(Settings(fail_below=0.5), ARTICLE)
    assert sure.status == "ok"
    dropped = cleaned(Settings(fail_below=1.0), ARTICLE)
    assert (dropped.status, dropped.text) == ("empty", "")
    assert dropped.expected_f1 == sure.expected_f1
    assert dropped.reason == f"expected F1 {sure.expected_f1:.2f}, below 1"


@pytest.mark.parametrize(
    "wrong",
    [
        {"prefer": "speed"},
        {"prefer": "recall", "threshold": 0.5},
        {"fail_below": 1.5},
        {"max_list_share": -0.1},
    ],
)
def test_wishes_that_mean_nothing_are_usage_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        pipeline.models(Settings(**wrong))


def test_the_threshold_is_the_papers_rule() -> None:
    document = victor_spark.clean(ARTICLE, threshold=0.3)
    assert [block.label != "other" for block in document.blocks] == [
        block.p_other < 0.3 for block in document.blocks
    ]


@pytest.mark.parametrize("cleaner", ALONE)
def test_every_cleaner_gives_a_document(cleaner: str) -> None:
    document = victor_spark.clean(ARTICLE, cleaner=cleaner)
    assert (document.cleaner, document.status) == (cleaner, "ok")
    assert document.text.count("The council of the town") >= 1
    consistent(document)


@pytest.mark.parametrize("cleaner", ALONE)
def test_no_cleaner_raises_on_odd_pages(cleaner: str) -> None:
    for source in ("", "a", "<p>漢字", "<table>" * 50, ARTICLE[: len(ARTICLE) // 2], *HOSTILE):
        document = victor_spark.clean(source, cleaner=cleaner)
        assert document.status != "error", (source, document.reason)


def test_cleaners_are_named_before_and_after_use() -> None:
    script = """
import victor_spark
before = victor_spark.cleaners()
victor_spark.clean("<p>a</p>")
import victor_spark.extractors
from victor_spark import cleaners
assert before == victor_spark.cleaners() == cleaners()
assert set(before) >= set(victor_spark.extractors.CLEANERS)
print(*before)
"""
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=_root()
    )
    assert {"victor", "victor-2008"} <= set(shown.stdout.split())


def _root() -> Path:
    return Path(victor_spark.__file__).parent.parent


def test_the_package_has_no_other_lazy_attributes() -> None:
    with pytest.raises(AttributeError, match="washers"):
        victor_spark.washers  # noqa: B018


def test_a_record_with_a_status_keeps_it(clean_record: Any) -> None:
    document = clean_record(record(None, status="http_status", reason="404", http_charset="utf-8"))
    assert (document.status, document.reason, document.text) == ("http_status", "404", "")
    assert document.url == "http://a.example/"
    consistent(document)


def test_a_record_without_payload_is_an_error(clean_record: Any) -> None:
    assert clean_record(record(None)).status == "error"


def test_an_unexpected_error_is_a_status_with_the_error_as_reason(clean_record: Any) -> None:
    document = clean_record(record(object()))
    assert document.status == "error"
    assert "Error" in document.reason
    assert clean_record(record(ARTICLE.encode())).status == "ok"


def test_the_charset_of_the_header_is_used(clean_record: Any) -> None:
    payload = ARTICLE.replace("<title>", "<title>Žluťoučký kůň úpí ").encode("windows-1250")
    document = clean_record(record(payload, http_charset="windows-1250"))
    assert (document.charset, document.title) == ("windows-1250", "Žluťoučký kůň úpí The old bridge")


def test_settings_and_models_can_be_sent_to_other_processes() -> None:
    given_settings = Settings("victor-2008", 0.4)
    models = pipeline.models(given_settings)
    assert pickle.loads(pickle.dumps((given_settings, models))) == (given_settings, models)
    assert all(isinstance(model, bytes) for model in models.values())


def test_equal_pages_give_equal_documents(clean_record: Any) -> None:
    one, other = clean_record(record(ARTICLE.encode())), clean_record(record(ARTICLE.encode()))
    assert one.text == other.text
    assert list(one.blocks) == list(other.blocks)


def test_a_missing_or_foreign_model_is_refused_before_the_first_page(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere"):
        pipeline.models(Settings(model=str(tmp_path / "nowhere")))
    (tmp_path / "weights.npz").write_bytes(b"something else")
    with pytest.raises(ModelError) as raised:
        pipeline.models(Settings(model=str(tmp_path)))
    assert len(str(raised.value).splitlines()) == 1


def test_another_language_than_those_wanted_is_a_status() -> None:
    settings_ = Settings(languages=("cs",))
    document = pipeline.cleaning(settings_, pipeline.models(settings_))(record(ARTICLE.encode()))
    assert (document.status, document.text, document.language) == ("wrong_language", "", "en")
    assert document.n_blocks > 10
    consistent(document)


def test_a_document_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        victor_spark.clean(ARTICLE).text = "other"  # type: ignore[misc]


def text_record(text: str) -> Record:
    return record(text.encode(), http_charset="utf-8", content_mime_type="text/plain")


def test_the_lines_of_a_plain_text_are_its_blocks_and_all_are_kept() -> None:
    text = "Přívoz & loď <b>\n\n  odplouvá v sedm hodin ráno, kdy nad vodou ještě leží mlha  \nKONEC"
    czech = Settings(languages=("cs",))
    document = pipeline.cleaning(czech, pipeline.models(czech))(text_record(text))
    assert (document.status, document.language, document.cleaner) == ("ok", "cs", "none")
    assert document.text.splitlines() == [line.strip() for line in text.splitlines() if line.strip()]
    assert document.n_blocks == document.n_kept_blocks == 3
    assert document.title is None
    wanted = Settings(languages=("de",))
    assert pipeline.cleaning(wanted, pipeline.models(wanted))(text_record(text)).status == "wrong_language"


def test_a_plain_text_without_a_line_is_empty(clean_record: Any) -> None:
    document = clean_record(text_record(" \n\x00\n"))
    assert (document.status, document.reason) == ("empty", "no text block")


STORY = (
    "The ferry to the island leaves at seven in the morning, when the fog still lies on the water, and it "
    "comes back at six. In winter it doesn't run at all, so the islanders keep flour & coal for four months."
)


def drawn(*works: dict[str, str], body: str = "<div id=app></div>") -> str:
    """A page that scripts draw; its JSON-LD describes articles."""
    stated = json.dumps([{"@type": "Article", **work} for work in works]).replace("</", "<\\/")
    script = f"<script type='application/ld+json'>{stated}</script>"
    return f"<html><head><title>Late ferry</title>{script}</head><body>{body}</body></html>"


@pytest.mark.parametrize(
    "page",
    [
        drawn({"articleBody": STORY}),
        drawn({"text": STORY}),
        drawn({"articleBody": f"<p>{STORY}</p><script>draw()</script>"}),
        drawn({"articleBody": f"&lt;p&gt;{STORY}&lt;/p&gt;"}),
        drawn({"articleBody": STORY}, body="<noscript>Please enable JavaScript to read this.</noscript>"),
        drawn({"articleBody": STORY}, body="<noscript><img src='/pixel' alt=''></noscript>"),
    ],
    ids=["body", "text", "html", "escaped html", "request for scripts", "pixel"],
)
def test_the_text_of_a_page_that_scripts_draw_is_that_of_its_json_ld(page: str) -> None:
    document = victor_spark.clean(page)
    assert (document.status, document.reason, document.text) == ("ok", "text from JSON-LD", STORY)
    assert (document.title, document.cleaner) == ("Late ferry", "none")
    assert [document.html[block.start : block.end] for block in document.blocks] == [
        escape(STORY, quote=False)
    ]


REQUEST = (
    "To read this page, please turn on scripts in the settings of your browser, and then load it again. "
)
SOFT_REQUEST = "\u00ad".join(
    2 * "This page needs JavaScript, and this browser has turned it off for a reason. "
)
HIDDEN = "".join(f"<p><i>One. <span style='display:none'>{SENTENCES[:70]}</span></i></p>" for _ in range(9))


@settings(deadline=None)
@example(drawn({"articleBody": STORY}, body=f"<p>{REQUEST}</p>"))
@example(drawn({"articleBody": STORY}, body=f"<p>{REQUEST}</p><p>No JavaScript?</p>"))
@example(drawn({"articleBody": STORY}, body=f"<p>{4 * REQUEST}</p>"))
@example(drawn({"articleBody": STORY}, body=f"<p>{SOFT_REQUEST}</p>"))
@example(HIDDEN)
@example(ARTICLE)
@given(pages | articles)
def test_the_part_of_a_text_that_the_first_of_two_passes_makes_is_enough_for_the_status(
    page: str | bytes,
) -> None:
    chosen, read = Settings(), record(page.encode("utf-8", "replace") if isinstance(page, str) else page)
    first = pipeline.cleaning(chosen, shipped(), write=pipeline.telling_text)(read)
    whole = cleaning(chosen)(read)
    assert (first.status, first.reason, first.text != "") == (whole.status, whole.reason, whole.text != "")
    assert np.array_equal(first.kept, whole.kept)
    if page == ARTICLE:
        assert len(first.text) < len(whole.text)


@cache
def shipped() -> dict[str, bytes]:
    return pipeline.models(Settings())


def test_the_headline_stands_once_above_the_text_of_json_ld_and_the_work_is_that_named_like_the_page() -> (
    None
):
    fog = {"headline": "Fog", "articleBody": 2 * STORY}
    for stated in (STORY, f"<h1>Late Ferry!</h1><p>{STORY}"):
        text = victor_spark.clean(drawn(fog, {"headline": "Late ferry", "text": stated})).text
        assert (text.casefold().count("late ferry"), text.splitlines()[-1]) == (1, STORY)


@pytest.mark.parametrize(
    "page",
    [
        drawn({"articleBody": f"{STORY} …"}),
        drawn({"articleBody": f"<p>{STORY} [...]</p><a>Read more</a>"}),
        drawn({"articleBody": "The ferry is late."}),
        drawn({"headline": "Fog", "articleBody": STORY}, {"headline": "Coal", "articleBody": 2 * STORY}),
        drawn({"articleBody": "\ufffd ".join(STORY)}),
    ],
    ids=["teaser", "html teaser", "short", "two articles", "lost letters"],
)
def test_a_page_whose_json_ld_has_no_whole_text_stays_empty(page: str) -> None:
    assert (victor_spark.clean(page).status, victor_spark.clean(page).reason) == ("empty", "no text block")


def test_json_ld_is_not_asked_where_the_page_has_text_or_its_text_is_in_another_language() -> None:
    assert victor_spark.clean(drawn({"articleBody": 2 * STORY}, body=f"<p>{STORY}")).reason is None
    assert victor_spark.clean(drawn({"articleBody": STORY}), languages=("cs",)).status == "empty"
