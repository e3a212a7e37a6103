"""What the invented sites have to say: reads the text files in `sample/texts/`.

A file holds several texts. Each begins with `=== slug`, then `name: value` lines, an empty line,
and blocks separated by empty lines:

    ## subheading        > quotation         ! caption of a picture
    - item               1. item             | cell | cell |
    @ author | time      begins a comment or a forum post; all blocks after it are its own

Everything else is a paragraph. `*…*` is emphasis.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

TEXTS: Final = Path(__file__).parents[1] / "texts"
KINDS: Final = {"##": "heading", ">": "quote", "!": "caption", "-": "list", "1.": "numbered", "|": "table"}
NOT_GOLD: Final = ("caption",)
ITEM: Final = re.compile(r"^(?:-|\d+\.)\s+")
SIGNATURE: Final = re.compile(r"^@ .*\n?")
EMPHASIS: Final = re.compile(r"\*([^*]+)\*")


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading, list, table … of a text; `lines` are its paragraphs, items or rows."""

    kind: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Post:
    """A comment below an article, or one contribution to a forum thread."""

    author: str
    time: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """An article or thread: its fields (title, date …), its body, and what others wrote."""

    slug: str
    fields: dict[str, str]
    body: tuple[Block, ...]
    posts: tuple[Post, ...]

    @property
    def title(self) -> str:
        """The headline."""
        return self.fields["title"]


def read(name: str, edition: int = 0) -> list[Text]:
    """The texts of `sample/texts/<name>.txt`, in file order.

    Editions beyond 0 are no good reading, only more pages to try things with: every text begins as it did and
    goes on as another one.
    """
    source = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    found = [_text(part) for part in re.split(r"^=== ", source, flags=re.MULTILINE)[1:]]
    return (
        [_mixed(text, found[(i + edition) % len(found)]) for i, text in enumerate(found)]
        if edition
        else found
    )


def _mixed(text: Text, other: Text) -> Text:
    body, posts = len(text.body) // 2, (len(text.posts) + 1) // 2
    return replace(
        text,
        body=text.body[:body] + other.body[body:],
        posts=text.posts[:posts] + other.posts[posts:],
    )


def gold(text: Text, *, with_posts: bool = False) -> str:
    """The main text: title, then a line for each paragraph, subheading, item and table row.

    Captions are left out; posts are main text in a forum, but not below an article.
    """
    blocks = list(text.body)
    if with_posts:
        blocks += [block for post in text.posts for block in post.blocks]
    lines = [line for block in blocks if block.kind not in NOT_GOLD for line in plain_lines(block)]
    return "\n".join([text.title, *lines])


def plain_lines(block: Block) -> Iterator[str]:
    """The lines of a block without any markup; the cells of a row are separated by a space."""
    for line in block.lines:
        yield EMPHASIS.sub(r"\1", " ".join(cells(line)) if block.kind == "table" else line)


def cells(row: str) -> list[str]:
    """The cells of a table row `| one | two |`."""
    return [cell.strip() for cell in row.strip("|").split("|")]


def _text(part: str) -> Text:
    head, _, rest = part.partition("\n\n")
    slug, *fields = head.splitlines()
    body: list[Block] = []
    posts: list[tuple[str, list[Block]]] = []
    for source in re.split(r"\n\s*\n", rest.strip()):
        if source.startswith("@ "):
            posts.append((source.partition("\n")[0][2:], []))
        (posts[-1][1] if posts else body).extend(_blocks(SIGNATURE.sub("", source)))
    return Text(
        slug=slug.strip(),
        fields={name: value.strip() for name, _, value in (line.partition(":") for line in fields)},
        body=tuple(body),
        posts=tuple(_post(signature, blocks) for signature, blocks in posts),
    )


def _post(signature: str, blocks: list[Block]) -> Post:
    author, _, time = signature.partition("|")
    return Post(author.strip(), time.strip(), tuple(blocks))


def _blocks(source: str) -> Iterator[Block]:
    if not source.strip():
        return
    kind = KINDS.get(source.split(maxsplit=1)[0], "paragraph")
    lines = source.strip().splitlines()
    if kind in ("list", "numbered"):
        lines = [ITEM.sub("", line) for line in lines]
    elif kind in ("heading", "quote", "caption"):
        lines = [" ".join(lines).split(maxsplit=1)[1]]
    elif kind == "paragraph":
        lines = [" ".join(lines)]
    yield Block(kind, tuple(lines))
