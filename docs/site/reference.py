"""The generated parts of the documentation: each fact is defined in the code, and written here as Markdown.

python docs/site/reference.py     writes the tables of docs/output.md again
"""

import argparse
import dataclasses
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import victor_spark  # noqa: E402 - needs the path, as all below
from victor_spark import cli, errors, tables  # noqa: E402
from victor_spark.commands import COMMANDS, clean  # noqa: E402
from victor_spark.commands.options import flat  # noqa: E402
from victor_spark.request import CleanRequest  # noqa: E402
from victor_spark.statuses import STATUSES  # noqa: E402

OUTPUT: Final = ROOT / "docs" / "output.md"
API: Final = {
    "Results": ["document.Document", "document.Block", "metadata.extract.Metadata", "pipeline.PageCleaner"],
    "Errors": ["errors"],
    "Spark": ["spark.datasource.register", "spark.session.session", "spark.java.ensure_java_home"],
    "Other pipelines": [
        "adapters.dataframe.clean_udf",
        "adapters.dataframe.clean_columns",
        "adapters.datatrove.VictorExtractor",
        "adapters.nemo_curator.VictorExtractor",
    ],
    "Tables": ["tables.pages", "tables.schema_version"],
}
"""Heading → what users import, as far as names are public."""


def pages() -> dict[str, str]:
    """Path below docs/ → Markdown, of the pages that exist only on the site."""
    made = {"reference/configuration.md": configuration(), "reference/api.md": api()}
    for word in dict.fromkeys(name.split()[0] for name in COMMANDS):
        made[f"reference/commands/{word}.md"] = commands(word)
    return made


def commands(word: str) -> str:
    """A page about the command, and those whose names begin with it."""
    names = [name for name in COMMANDS if name.split()[0] == word]
    text = "\n".join(_command(name) for name in names)
    if len(names) > 1:
        text = text.replace("\n## ", "\n### ").replace("# victor", "## victor")
        text = f"# victor {word}\n\n{text}"
    codes = ", ".join(f"{code} {meaning}" for code, meaning in errors.EXIT_CODES.items())
    return f"{text}\nExit codes of all commands: {codes}.\n"


def _command(name: str) -> str:
    parser = cli.parser(name, cli.loaded(name))
    positions = [action for action in parser._actions if not action.option_strings]
    usage = " ".join([parser.prog, *(_invocation(parser, action) for action in positions), "[options]"])
    lines = [f"# victor {name}\n", f"```text\n{usage}\n```\n", f"{_prose(parser.description)}\n"]
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.dest != "help"]
        if not actions:
            continue
        title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "")
        parts = re.match(r"(.*?)(?:[:;] (.*)| \((.*)\))?$", title, re.DOTALL)
        title, about = (parts[1], parts[2] or parts[3]) if parts else (title, "")
        lines += [
            f"## {title[:1].upper()}{title[1:]}\n",
            *([f"{_prose(about[:1].upper() + about[1:])}.\n"] if about else []),
        ]
        rows = [(_codes(_invocation(parser, action)), _help(parser, action)) for action in actions]
        lines += [table(("option", "meaning"), rows)]
    examples = re.sub(r"^examples:\n", "", parser.epilog or "").strip("\n")
    if examples:
        lines.append(f"## Examples\n\n```text\n{examples}\n```\n")
    return "\n".join(lines)


def _invocation(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """`--flag VALUE`, or `VALUE...`."""
    formatter = parser._get_formatter()
    default = formatter._get_default_metavar_for_optional(action) if action.option_strings else action.dest
    values = "" if action.nargs == 0 or action.choices else formatter._format_args(action, default)
    values = re.sub(r"(\S+) \[\1 \.\.\.\]", r"\1...", values)
    return " ".join(filter(None, [", ".join(action.option_strings), values]))


def _codes(invocation: str) -> str:
    """Each word as code of its own, so that narrow screens can break the line between them."""
    return " ".join(f"`{word}`" for word in invocation.split())


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = _prose(parser._get_formatter()._expand_help(action) if action.help else "")
    return f"{', '.join(f'`{choice}`' for choice in action.choices)}. {text}" if action.choices else text


def _prose(text: str | None) -> str:
    """Plain text as Markdown: options and paths as code, no markup by chance."""
    text = re.sub(r"(?<![`\w-])(--[a-z][a-z-]+)(?![`\w])", r"`\1`", text or "")
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _literal(part) for part in parts)


def _literal(text: str) -> str:
    return re.sub(r"([*_\[\]])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(
        f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in line)} |\n"
        for line in lines
    )


def configuration() -> str:
    """The keys of conf/cleaning.toml: those of the request's dataclasses; and the other files of conf/."""
    built_in = CleanRequest()
    options = {one.dest: one for one in flat(clean.ALL)}
    about = (
        "Write your own defaults into `conf/cleaning.toml`. An option of the command line has priority over "
        "the file, and the file over the built-in value. An unknown key is an error. The folder `conf/` is "
        "that of the checkout, or of the installed package.\n"
    )
    lines = ["# Configuration\n", about]
    for group, section in clean.TABLES.items():
        lines.append(f"## \\[{section}\\]\n")
        rows = []
        for field in dataclasses.fields(getattr(built_in, group)):
            value = getattr(getattr(built_in, group), field.name)
            option = options.get(field.name)
            meaning = _prose(re.sub(r" \(default[^)]*\)", "", option.how["help"]) if option else "")
            meaning = f"`{option.flag}`: {meaning}" if option else meaning
            rows.append((f"`{field.name}`", f"`{_toml(value)}`" if value is not None else "–", meaning))
        lines.append(table(("key", "built in", "option with this meaning"), rows))
    about = "These files hold tables that the code reads. They are not for your own defaults."
    lines += ["## Other files\n", f"{about}\n"]
    rows = []
    for path in sorted((ROOT / "conf").glob("*.toml")):
        tomllib.loads(path.read_text(encoding="utf-8"))
        head = re.match(r"(?:# .*\n)+", path.read_text(encoding="utf-8"))
        about = " ".join(line[2:] for line in head[0].splitlines()) if head else ""
        first = _prose(re.split(r"(?<=\.)\s", about)[0])
        rows.append((f"[{path.name}](../../conf/{path.name})", first))
    return "\n".join([*lines, table(("file", "content"), rows)])


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def api() -> str:
    """The page of functions and classes, which mkdocstrings fills from the docstrings."""
    lines = ["# Functions and classes\n", "[Python](../python.md) has examples.\n", "## Cleaning\n"]
    functions = (getattr(victor_spark, name) for name in victor_spark.__all__)
    lines += [_function(function) for function in functions if callable(function)]
    for heading, names in API.items():
        lines.append(f"## {heading}\n")
        lines += [f"::: victor_spark.{name}\n" for name in names]
    return "\n".join(lines)


def _function(function: Callable[..., object]) -> str:
    """A function whose signature exists at run time only."""
    own = inspect.signature(function)
    kind, keywords = None, []
    for one in own.parameters.values():
        if one.kind is one.KEYWORD_ONLY and kind is not one.KEYWORD_ONLY:
            keywords.append("*")
        kind = one.kind
        keywords.append(str(one).replace("collections.abc.", "").replace("os.", ""))
    parameters = "".join(f"\n    {one}," for one in keywords)
    returned = str(own.return_annotation).strip("'")
    name, text = function.__name__, inspect.getdoc(function)
    return f"### `{name}`\n\n```python\n{name}({parameters}\n) -> {returned}\n```\n\n{text}\n"


def columns() -> str:
    """The table of the columns of OUT/pages."""
    schema = tables.pages(*tables.ON_REQUEST)
    rows = [(f"`{name}`", _kind(schema.field(name)), _prose(text)) for name, text in tables.MEANINGS.items()]
    return table(("column", "type", "content"), rows)


def _kind(field: object) -> str:
    ddl = tables.ddl(tables.pa.schema([field])).partition(" ")[2]
    return "array of struct" if "struct" in ddl else ddl.replace("<", " of ").replace(">", "")


def statuses() -> str:
    """The table of the statuses of a record."""
    return table(("status", "meaning"), [(f"`{name}`", text) for name, (_, text) in STATUSES.items()])


PARTS: Final = {"columns": columns, "statuses": statuses}
_PART: Final = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """A document with its generated parts as they have to be."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[4]}", text)


def parts(text: str) -> Iterator[str]:
    """The names of the generated parts in a document."""
    yield from (part[2] for part in _PART.finditer(text))


if __name__ == "__main__":
    OUTPUT.write_text(filled(OUTPUT.read_text(encoding="utf-8")), encoding="utf-8")
