"""Coverage-guided fuzzing of kernels that are built with AddressSanitizer and UBSan: `./dev fuzz` runs it.

    python -m tests.fuzz.guided TOOLS SECONDS [TARGET...]

TOOLS is a folder with atheris, which brings libFuzzer and the sanitizers' run-time library. Every target runs
in a process of its own, for its share of the seconds, and its corpus grows in TOOLS. Whatever stops one is
left in build/reproducers and fails the command; the other targets run.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final, NoReturn

from tests.fuzz import built  # before all that imports kernels
from tests.fuzz.targets import TARGETS, WORDS

REPRODUCERS: Final = built.ROOT / "build" / "reproducers"
MOST_MEGABYTES: Final = 4096
MOST_SECONDS: Final = 60
"""An input that takes longer is a finding."""


def main(tools: Path, seconds: int, names: list[str]) -> int:
    """Runs the targets; how many failed."""
    if unknown := set(names) - set(TARGETS):
        print(f"fuzz: no such target: {', '.join(sorted(unknown))} (there are {', '.join(TARGETS)})")
        return 2
    traced = tools / "coverage.so"
    compiler = sysconfig.get_config_var("CC") or "cc"
    subprocess.run(
        [*compiler.split(), "-shared", "-fPIC", "-O2", "-o", traced, Path(__file__).with_name("coverage.c")],
        check=True,
    )
    dictionary = tools / "words.dict"
    dictionary.write_text("".join('"' + "".join(map("\\x{:02x}".format, word)) + '"\n' for word in WORDS))
    REPRODUCERS.mkdir(parents=True, exist_ok=True)
    chosen = names or list(TARGETS)
    failed = [name for name in chosen if not run(name, tools, max(1, seconds // len(chosen)))]
    print(f"fuzz: {len(chosen) - len(failed)} of {len(chosen)} targets found nothing")
    if failed:
        print(f"fuzz: failed: {', '.join(failed)}; what did it is in {REPRODUCERS}")
    return len(failed) > 0


def run(name: str, tools: Path, seconds: int) -> bool:
    """Runs one target in a process of its own; whether it found nothing."""
    print(f"\nfuzz: {name} for {seconds} s", flush=True)
    grown = tools / "corpus" / name
    grown.mkdir(parents=True, exist_ok=True)
    ours = Path(__file__).with_name("corpus") / TARGETS[name].corpus
    flags = {
        "max_total_time": seconds,
        "max_len": 2000,
        "dict": tools / "words.dict",
        "artifact_prefix": f"{REPRODUCERS}/{name}-",
        "rss_limit_mb": MOST_MEGABYTES,
        "timeout": MOST_SECONDS,
        "print_final_stats": 1,
        "verbosity": 1,
        "reload": 0,
    }
    options = [f"-{flag}={value}" for flag, value in flags.items()]
    program = [sys.executable, "-m", "tests.fuzz.guided", name, *options, grown, ours]
    environment = {
        **os.environ,
        "VICTOR_KERNELS": "sanitized",
        "PYTHONPATH": os.pathsep.join((str(built.ROOT), str(tools))),
        "PYTHONMALLOC": "malloc",  # Python's own allocator would hide what is read or written beside a block
        "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
        "LD_PRELOAD": f"{tools / 'coverage.so'} {tools / 'asan_with_fuzzer.so'}",
    }
    return subprocess.run(program, env=environment, cwd=built.ROOT, check=False).returncode == 0


def fuzz(arguments: list[str]) -> NoReturn:
    """One target in this process, which libFuzzer ends."""
    import atheris

    def ended(unraisable: object) -> NoReturn:  # what is raised where a kernel can't raise
        print(unraisable, file=sys.stderr)
        os.abort()

    sys.unraisablehook = ended
    atheris.Setup(arguments, TARGETS[arguments[0]].check)
    atheris.Fuzz()
    raise AssertionError("libFuzzer ends the process")


if __name__ == "__main__":
    if sys.argv[1] in TARGETS:
        fuzz(sys.argv[1:])
    sys.exit(main(Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:]))
