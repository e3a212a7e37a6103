"""Each kernel gives the same results compiled and as plain Python: its twin is made from the same source."""

import importlib
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import pairwise, product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import victor_html
import victor_spark.kernels
from tests.documents import document
from tests.html.pages import articles, blocks_of, pages, same, soup, strings
from tests.model.conftest import rows_of
from victor_html.elements import ELEMENTS
from victor_html.parse import beyond_budget, parse
from victor_spark.blocks import Blocks, Bool
from victor_spark.html.canonical import by_library, canonical
from victor_spark.html.characters import properties
from victor_spark.html.segment import segment
from victor_spark.kernels import code_points, memory_views, num, text_of
from victor_spark.langid.normalise import folding_table
from victor_spark.langid.repair import beginnings
from victor_spark.model import revision, surroundings, weights
from victor_spark.model.decision import WIDE
from victor_spark.rendering.markdown import markdown
from victor_spark.rendering.structure import Structure
from victor_spark.sites import evidence

ELSEWHERE = {
    "ngrams": "langid's business",
    "matching": "evaluation's",
    "repeats": "proved in tests/templates",
    "tokens": "proved in tests/templates",
}
KERNELS = (
    "assemble",
    "blocks",
    "content",
    "context",
    "crf",
    "decision",
    "letters",
    "listings",
    "markup",
    "sites",
    "source",
    "statements",
    "surroundings",
    "trees",
)
PARSE = ("tokenizer", "construction", "serializer")
RENDERING = ("walk", "markdown_writer")

a_few = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def from_source(name: str, package: ModuleType = victor_spark) -> ModuleType:
    """The module `<package>.<name>` once more, under another name, from its .py file."""
    path = Path(str(package.__file__)).parent.joinpath(*name.split(".")).with_suffix(".py")
    loader = SourceFileLoader("uncompiled_" + name.replace(".", "_"), str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


def compiled(name: str) -> ModuleType:
    """The kernel as the package uses it; skips where that is no compiled code, or older than its source."""
    folders = {**dict.fromkeys(PARSE, "victor_html"), **dict.fromkeys(RENDERING, "victor_spark.rendering")}
    kernel = importlib.import_module(f"{folders.get(name, 'victor_spark.kernels')}.{name}")
    if str(kernel.__file__).endswith(".py") or name in victor_spark.kernels.uncompiled():
        pytest.skip(f"the kernel {name} is not compiled here, or outdated: nothing to compare")
    return kernel


@pytest.fixture(scope="module")
def slow() -> dict[str, ModuleType]:
    """The uncompiled twins; html/ and model/ modules that use them instead of the compiled ones."""
    twins = {name: from_source(f"kernels.{name}") for name in KERNELS}
    twins["segment"] = from_source("html.segment")
    twins["html.listings"] = from_source("html.listings")
    twins["html.listings"].__dict__.update(kernel=twins["listings"])
    own = {name: twins[name] for name in ("markup", "content")}
    twins["segment"].__dict__.update(own, listings=twins["html.listings"])
    twins["canonical"] = from_source("html.canonical")
    twins["parse"] = from_source("parse", victor_html)
    twins["parse"].__dict__.update({name: from_source(name, victor_html) for name in PARSE})
    twins["canonical"].__dict__.update(kernel=twins["source"])
    twins["rendering.structure"] = from_source("rendering.structure")
    twins["rendering.structure"].__dict__.update(Walk=from_source("rendering.walk").Walk)
    twins["markdown"] = from_source("rendering.markdown")
    twins["markdown"].__dict__.update(Writer=from_source("rendering.markdown_writer").Writer)
    twins["model.surroundings"] = from_source("model.surroundings")
    twins["model.surroundings"].__dict__.update(kernel=twins["surroundings"], of_blocks=twins["blocks"])
    twins["model.weights"] = from_source("model.weights")
    twins["model.weights"].__dict__.update(kernel=twins["blocks"])
    twins["model.revision"] = from_source("model.revision")
    own = {name: twins[name] for name in ("context", "surroundings")}
    twins["model.revision"].__dict__.update(own, kernel=twins["crf"])
    for twin in twins.values():
        if hasattr(twin, "views"):
            twin.__dict__.update(views=victor_spark.kernels.memory_views)
    return twins


def test_every_kernel_is_compared(package: Path) -> None:
    sources = {path.stem for path in (package / "kernels").glob("[!_]*.py")} - {"num"}
    assert sources - set(ELSEWHERE) == set(KERNELS)


@given(source=pages | articles)
@a_few
def test_rendering(slow: dict[str, ModuleType], source: str | bytes) -> None:
    for name in RENDERING:
        compiled(name)
    page = document(source if isinstance(source, str) else source.decode("utf-8", "replace"))
    twin, mine = (
        made(page.html, page.columns, page.kept, markup=page.markup)
        for made in (slow["rendering.structure"].Structure, Structure)
    )
    assert mine.nodes.tolist() == twin.nodes.tolist()
    assert mine.values == twin.values
    assert markdown(mine, page.title) == slow["markdown"].markdown(twin, page.title)


@given(source=pages)
@a_few
def test_markup_and_content(slow: dict[str, ModuleType], source: str | bytes) -> None:
    compiled("markup")
    compiled("content")
    html = canonical(source).html
    assert same(slow["segment"].segment(html), segment(html))


@given(html=strings)
@a_few
def test_markup_of_what_is_not_canonical(slow: dict[str, ModuleType], html: str) -> None:
    """Also where the scan is given what it doesn't expect."""
    compiled("markup")
    assert same(slow["segment"].segment(html), segment(html))


@given(source=strings)
@a_few
def test_canonical_html_by_the_library(slow: dict[str, ModuleType], source: str) -> None:
    compiled("source")
    markup = source.encode("utf-8", "replace").decode()
    assert slow["canonical"].by_library(markup) == by_library(markup)


@given(source=strings | soup)
@a_few
def test_parse(slow: dict[str, ModuleType], source: str) -> None:
    for name in PARSE:
        compiled(name)
    markup = source.encode("utf-8", "replace")
    by_source, by_kernels = slow["parse"].parse(markup), parse(markup)
    assert by_source.html == by_kernels.html
    np.testing.assert_array_equal(by_source.elements, by_kernels.elements)


@given(source=strings | soup)
@a_few
def test_a_page_beyond_its_budget(
    slow: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    markup = source.encode("utf-8", "replace")
    for module in (slow["parse"], sys.modules["victor_html.parse"]):
        monkeypatch.setattr(module, "_STEPS", -1_000_000)
    assert slow["parse"].beyond_budget(markup) == beyond_budget(markup) is not None


@given(html=soup)
@a_few
def test_preclean_of_what_is_not_serialised(slow: dict[str, ModuleType], html: str) -> None:
    assert slow["source"].drop_textless(html) == compiled("source").drop_textless(html)


def assembled(kernel: ModuleType, blocks: Blocks, kept: Bool) -> str:
    """The kept text."""
    columns = (
        blocks.points,
        blocks.text_start,
        blocks.text_end,
        blocks.paragraph,
        blocks.space_before,
        blocks.white_space,
        blocks.listing,
        blocks.left_out.view(np.uint8),
        blocks.gaps,
        blocks.gap_ends,
        kept.view(np.uint8),
        properties(),
    )
    return text_of(kernel.assemble(*map(memoryview, columns), 0, len(blocks)))


@given(source=articles, choice=st.randoms(use_true_random=False))
@a_few
def test_assemble(slow: dict[str, ModuleType], source: str, choice: "st.random.Random") -> None:
    blocks = blocks_of(source)
    if len(blocks):
        kept = np.array([choice.random() < 0.6 for _ in range(len(blocks))])
        assert assembled(slow["assemble"], blocks, kept) == assembled(compiled("assemble"), blocks, kept)


_EDGES = b"\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xed\xef\xf0\xf3\xf4\xf5\xff"
utf8_parts = st.sampled_from([_EDGES[i : i + 1] for i in range(len(_EDGES))]) | st.sampled_from(
    ["é".encode(), "漢".encode(), "𝄞".encode(), b"a", b"a" * 125, b"<", b"<iframe", b"<iframE", b"<if"]
)


@given(source=st.lists(utf8_parts, max_size=12).map(b"".join))
def test_source(slow: dict[str, ModuleType], source: bytes) -> None:
    """Both find what Python itself finds in bytes, and know what it decodes."""
    view = memoryview(source)
    is_utf8 = source.decode("utf-8", "replace").encode() == source
    for kernel in (slow["source"], compiled("source")):
        assert kernel.is_utf8(view) == is_utf8
        for start in range(0, len(source) + 1, 7):
            assert kernel.find(view, memoryview(b"<iframe"), 2, start) == source.find(b"<iframe", start)


stated_parts = st.sampled_from(
    (
        *(
            "<meta name=author content='a>b'>",
            "<LINK rel=canonical href=x>",
            "<html lang=en>",
            "<title>",
            "</title",
        ),
        *(
            "<h1 class=x>",
            "<time>",
            "<script>",
            "<script type='application/ld+json'>",
            "</script>",
            "<style>",
        ),
        *(
            "</style>",
            "<p class='ByLine'>",
            "<b itemprop=datePublished",
            "<i id=AUTHOR>",
            "<!-- <meta> -->",
            "<!--",
        ),
        *("pub", "lish", "<", ">", "=", '"', "'", "date"),
    )
)


@given(source=st.lists(stated_parts, max_size=25).map("".join) | soup)
@a_few
def test_statements(slow: dict[str, ModuleType], source: str) -> None:
    markup, results = source.encode("utf-8", "replace"), []
    for kernel in (slow["statements"], compiled("statements")):
        found = np.zeros((kernel.N_KINDS * kernel.MOST + 1, 7), dtype=np.int32)
        counts = np.zeros(kernel.N_KINDS, dtype=np.int32)
        names = np.array(kernel.NAMES, np.uint64)
        kernel.statements(*map(memoryview, (markup, names, found, counts)))
        results.append((found.tolist(), counts.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("mark", ["author", "byline", "user-name", "Publish", "date"])
def test_a_mark_is_found_wherever_it_stands_in_a_value(slow: dict[str, ModuleType], mark: str) -> None:
    for n_before, n_after in product(range(40), (0, 1, 20)):
        for value, n_marked in ((mark, 1), (f"{mark[:-1]} {mark[-1]}", 0)):
            markup = f"<p class='{'x' * n_before}{value}{'x' * n_after}".encode()
            for kernel in (slow["statements"], compiled("statements")):
                found = np.zeros((kernel.N_KINDS * kernel.MOST + 1, 7), dtype=np.int32)
                counts = np.zeros(kernel.N_KINDS, dtype=np.int32)
                names = np.array(kernel.NAMES, np.uint64)
                kernel.statements(*map(memoryview, (markup, names, found, counts)))
                assert counts[kernel.MARKED] == n_marked, (kernel, markup)


@given(text=st.text(st.sampled_from("ab -\n\xa0\x80Ã©â€™»œя漢ř…\ufffd\u2c00\u3000"), max_size=40))
def test_letters(slow: dict[str, ModuleType], text: str) -> None:
    points, results = code_points(text), []
    for kernel in (slow["letters"], compiled("letters")):
        counts, kinds = np.empty(5, dtype=np.int32), np.empty(len(points), dtype=np.uint8)
        kernel.census(*map(memoryview, (points, beginnings(), counts)))
        n_doubtful = kernel.tell_kinds(*map(memoryview, (points, folding_table(), kinds)))
        words = np.zeros(len(points), dtype=np.uint32)
        ends = [
            kernel.words_with(memoryview(points), memoryview(kinds), wanted, space, memoryview(words))
            for wanted, space in ((12, 2), (16, 1))
        ]
        results.append((counts.tolist(), kinds.tolist(), n_doubtful, words.tolist(), ends))
    assert results[0] == results[1]
    assert results[0][0][:2] == [text.count("\ufffd"), text.count("\x80")]
    assert results[0][0][4] <= sum(min(pair) > "\x7f" for pair in pairwise(text))


numbers = st.floats(-5, 5, width=32) | st.sampled_from((0.0, 1.0, 2.0, float("nan")))


@given(
    values=arrays.arrays(np.float32, st.tuples(st.just(3), st.integers(1, 6)), elements=numbers),
    edges=st.lists(st.lists(st.integers(-4, 4), unique=True, max_size=4).map(sorted), min_size=3, max_size=3),
)
@a_few
def test_bins(slow: dict[str, ModuleType], values: np.ndarray, edges: list[list[int]]) -> None:
    flat = np.array([edge for row in edges for edge in row], dtype=np.float32)
    first = np.cumsum([0, *map(len, edges)]).astype(np.int32)
    results = []
    for kernel in (slow["crf"], compiled("crf")):
        codes = np.zeros(values.shape, dtype=np.uint8)
        kernel.bins(memoryview(values), memoryview(flat), memoryview(first), memoryview(codes))
        results.append(codes.tolist())
    assert results[0] == results[1]
    by_hand = [
        [sum(value >= edge for edge in row) for value in line]
        for line, row in zip(values, edges, strict=True)
    ]
    assert results[0] == by_hand


@given(seed=st.integers(0, 2**32 - 1), n_blocks=st.integers(1, 12), reach=st.integers(0, 3))
@a_few
def test_decoding(slow: dict[str, ModuleType], seed: int, n_blocks: int, reach: int) -> None:
    dice = np.random.default_rng(seed)
    n_bins, n_features = 4, 5
    codes = dice.integers(0, n_bins, (n_features, n_blocks)).astype(np.uint8)
    singles = dice.normal(size=(n_features, n_bins, 2 * reach + 1, 3))
    boundary, bias, transitions = (dice.normal(size=shape) for shape in ((2 * reach + 1, 3), 3, (3, 3)))
    rows = np.array(
        [[0, 2, 1, -1, n_bins, 2, 0, 1], [n_bins**2, 1, 4, reach + 1, 1, 0, 0, 0]], dtype=np.int32
    )
    weights = dice.normal(size=(n_bins**2 + n_bins, 3))
    results = []
    for kernel in (slow["crf"], compiled("crf")):
        states, marginals = np.empty((n_blocks, 3)), np.empty((n_blocks, 3))
        kernel.state_scores(*map(memoryview, (codes, singles, boundary, bias, rows, weights, states)))
        kernel.forward_backward(*map(memoryview, (states.copy(), transitions, marginals)))
        results.append((states, marginals))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), n_blocks=st.integers(1, 9))
@a_few
def test_decision(slow: dict[str, ModuleType], seed: int, n_blocks: int) -> None:
    dice = np.random.default_rng(seed)
    marginals, log_odds = (
        dice.dirichlet((1, 1, 1), n_blocks),
        dice.normal(size=(2, n_blocks)).astype(np.float32),
    )
    words = dice.integers(0, 20, n_blocks).astype(np.float64)
    starts, ends = np.zeros(n_blocks, dtype=np.int32), dice.integers(1, 9, n_blocks).astype(np.int32)
    results = []
    for deciding, chain in ((slow["decision"], slow["crf"]), (compiled("decision"), compiled("crf"))):
        kept, revised = np.zeros(n_blocks, dtype=np.uint8), np.empty((n_blocks, 3))
        of_levels = np.zeros((3, num.LEVELS))
        filled = map(memoryview, (WIDE, of_levels[0], kept))
        deciding.keep_best(*map(memoryview, (marginals, words)), 1.0, 0.2, 0.7, *filled)
        f1 = deciding.expected_f1(*map(memoryview, (marginals, words, kept, of_levels[1:])))
        mean = deciding.mean_content(*map(memoryview, (marginals, starts, ends, kept))) if kept.any() else 0.0
        chain.revise(*map(memoryview, (marginals, *log_odds, words)), 0.6, memoryview(revised))
        rows = np.empty((2, n_blocks), dtype=np.float32)
        chain.log_odds(memoryview(marginals), 1e-4, memoryview(rows))
        results.append(np.array([*kept.tolist(), f1, mean, *revised.ravel(), *rows.ravel()]))
    np.testing.assert_allclose(*results, rtol=1e-6)
    kept, likely = results[0][:n_blocks] > 0, 1 - marginals[:, 2]
    if kept.any():
        chars = ends[kept]
        assert results[0][n_blocks + 1] == pytest.approx((likely[kept] * chars).sum() / chars.sum())
    revised, rows = results[0][n_blocks + 2 : -2 * n_blocks], results[0][-2 * n_blocks :].reshape(2, -1)
    np.testing.assert_allclose(revised.reshape(-1, 3).sum(axis=1), 1.0)
    other = marginals[:, 2].clip(1e-4, 1 - 1e-4)
    np.testing.assert_allclose(rows, [np.log((1 - other) / other), marginals[:, 0]], rtol=1e-5)


parts = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from((0.0, 0.01, 1.0)) | st.floats(0, 1)), max_size=6
)


@given(site=st.lists(parts, min_size=2, max_size=4))
@a_few
def test_sites(slow: dict[str, ModuleType], site: list[list[tuple[int, float]]]) -> None:
    """Contributions, evidence and revised marginals of pages whose paragraphs share layouts and texts."""
    model = evidence.SiteModel(0.9, 1.0, 2.0, 3.0, 0.9)
    pages = []
    for page in site:
        source = "".join(f"<div class=c{i % 2}><p>text {'x' * i}</p></div>" for i, _ in page)
        other = np.array([1.0 - content for _, content in page])
        pages.append((blocks_of(source), np.stack([(1 - other) / 3, (1 - other) * 2 / 3, other], axis=1)))
    results: list[list[object]] = []
    for kernel, views in ((slow["sites"], memory_views), (compiled("sites"), lambda *arrays: arrays)):
        results.append([])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evidence, "kernel", kernel)
            patch.setattr(evidence, "views", views)
            added = [evidence.contributions(*page) for page in pages]
            known = evidence.Known(len(pages), evidence.added(added))
            for own, (blocks, marginals) in zip(added, pages, strict=True):
                found = evidence.evidence(blocks, marginals, known)
                revised = evidence.revised(model, marginals, np.ones(len(blocks)), found)
                results[-1] += [own.key.tolist(), own.sums.tolist(), found.tolist(), revised.tolist()]
    assert results[0] == results[1]


@given(seed=st.integers(0, 2**32 - 1), n_blocks=st.integers(1, 9), depth=st.integers(1, 9))
@a_few
def test_trees(slow: dict[str, ModuleType], seed: int, n_blocks: int, depth: int) -> None:
    """Also with features that all blocks share, which are asked about once."""
    dice = np.random.default_rng(seed)
    n_trees = 7
    features = dice.integers(0, 4, (n_trees, depth)).astype(np.int32)
    thresholds = dice.normal(size=(n_trees, depth)).astype(np.float32)
    values = dice.normal(size=(4, n_blocks)).astype(np.float32)
    values[dice.random(4) < 0.3] = dice.choice([np.nan, 0.1])
    of_leaves = dice.normal(size=(n_trees, 2**depth)).astype(np.float32)
    by_hand = np.zeros(n_blocks)
    for tree in range(n_trees):
        answers = values[features[tree]] > thresholds[tree][:, None]
        by_hand += of_leaves[tree, 2 ** np.arange(depth) @ answers]
    for kernel in (slow["trees"], compiled("trees")):
        sums, scratch = np.zeros(n_blocks, dtype=np.float32), np.empty((4, n_blocks), dtype=np.int32)
        trees = (features, thresholds, of_leaves, np.empty(4, dtype=np.uint8))
        kernel.add_values(*map(memoryview, (values, *trees, scratch, sums)))
        np.testing.assert_allclose(sums, by_hand, rtol=1e-4, atol=1e-5)


@given(source=articles, seed=st.integers(0, 2**32 - 1))
@a_few
def test_surroundings_and_context(slow: dict[str, ModuleType], source: str, seed: int) -> None:
    blocks = blocks_of(source)
    if not len(blocks):
        return
    compiled("surroundings")
    compiled("context")
    guess = np.random.default_rng(seed).normal(size=len(blocks)).astype(np.float32)
    results = []
    for own, around in ((surroundings, revision), (slow["model.surroundings"], slow["model.revision"])):
        rows = np.empty((len(own.NAMES), len(blocks)), dtype=np.float32)
        own.rows_of(blocks)(0, rows)
        more = np.empty((len(around.GUESSES), len(blocks)), dtype=np.float32)
        around.guesses_of(blocks, own.layout_of(blocks), guess)(0, more)
        results.append(np.vstack([rows, more]))
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


@given(source=articles | soup, seed=st.integers(0, 2**32 - 1))
@a_few
def test_names_and_origins(slow: dict[str, ModuleType], source: str, seed: int) -> None:
    blocks = blocks_of(source)
    compiled("blocks")
    dice = np.random.default_rng(seed)
    words = np.setdiff1d(blocks.name_words, np.uint32(0))[::2]
    of_words = dice.normal(size=len(words)).astype(np.float32)
    elements = ("unheard-of", *ELEMENTS[:0:-2])
    of_elements = dice.normal(size=(3, len(elements) + 1)).astype(np.float32)
    results = []
    for module in (weights, slow["model.weights"]):
        names = rows_of(module.Names(words, of_words), blocks, len(weights.NAME_FEATURES))
        origins = rows_of(module.Origins(of_elements, elements), blocks, len(weights.ORIGIN_FEATURES))
        results.append(np.vstack([names, origins]))
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)
    if len(blocks):
        used = [name in ELEMENTS and blocks.source_elements[ELEMENTS.index(name)] for name in elements]
        likely = np.exp(of_elements @ [*used, 1.0])
        expected = np.log(likely / likely.sum() + 1e-3)
        np.testing.assert_allclose(
            origins[:3], np.repeat(expected[:, None], len(blocks), 1), rtol=1e-4, atol=1e-5
        )
