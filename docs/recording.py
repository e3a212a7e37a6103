"""Records README's first commands in a terminal: writes docs/pictures/demo.svg.

    python docs/recording.py        needs rich (pip install --group pictures) and `victor` on the PATH

The commands run in an empty folder with the page of the README, so that no path of this machine is shown.
"""

import re
import subprocess
import tempfile
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURE: Final = ROOT / "docs" / "pictures" / "demo.svg"
COMMANDS: Final = ("victor clean page.html --format markdown", "victor demo --no-open")
WIDTH: Final = 101


def main() -> None:
    """Runs the commands and writes the picture."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = re.findall(r"^```html\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)[0]
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page, encoding="utf-8")
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "green"), (command, "bold")))
            done = subprocess.run(
                command.split(),
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=True,
            )
            console.print(Text(done.stdout))
    picture = console.export_svg(title="victor", unique_id="victor")
    fonts = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)  # of another site: the reader's own fonts do
    PICTURE.write_text(fonts.sub("", picture), encoding="utf-8")


if __name__ == "__main__":
    main()
