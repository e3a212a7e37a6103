"""Prints a script with which a shell completes commands, options, their values and files.

examples:
  victor completion bash > ~/.local/share/bash-completion/completions/victor
  victor completion zsh > ~/.zfunc/_victor            with fpath+=~/.zfunc before compinit in ~/.zshrc
  victor completion fish > ~/.config/fish/completions/victor.fish
"""

import argparse
from typing import Any, Final

from victor_spark.commands import COMMANDS, loaded
from victor_spark.commands.options import COMMON, Command, add, option
from victor_spark.errors import EXIT_DONE

_FILES: Final = frozenset({"DIR", "FILE", "INPUT", "OUT", "PAGE", "SOURCE", "TABLE", "URLS.txt"})
"""Values that are files or folders."""


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    whole = argparse.ArgumentParser(prog="victor")
    whole.add_argument("--version", action="store_true", help="print version, model, kernels")
    parsers, groups = {"": whole}, {"": whole.add_subparsers()}
    for name, (_, about) in COMMANDS.items():
        outer, _, last = name.rpartition(" ")
        if outer not in groups:
            if outer not in parsers:
                parsers[outer] = groups[""].add_parser(outer, help=f"commands of {outer}")
            groups[outer] = parsers[outer].add_subparsers()
        parsers[name] = groups[outer].add_parser(last, help=about)
        add(parsers[name], (*COMMON, *loaded(name).options))
        for action in parsers[name]._actions:
            if action.metavar in _FILES:
                completed: Any = action
                completed.complete = shtab.FILE
    print(shtab.complete(whole, shell=arguments.shell))
    return EXIT_DONE


_SHELLS: Final = ("bash", "zsh", "fish", "tcsh")
OPTIONS: Final = (option("SHELL", ", ".join(_SHELLS), choices=_SHELLS, dest="shell"),)
COMPLETION: Final = Command(__doc__, OPTIONS, run)
