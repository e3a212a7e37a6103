"""Compiles the kernels where that is possible, and puts conf/, models/ and the sample crawl into the wheel.

pyproject.toml has everything else. Each kernel is Python that Cython can compile ("pure Python
mode"): without a compiler, or with VICTOR_COMPILE=0, the same files run uncompiled. VICTOR_KERNELS names one
of VARIANTS, for tests and benchmarks: `build_ext --build-lib build/NAME` builds it there.
"""

import importlib
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

MARK = "\nimport cython\n"
KERNELS = sorted(
    path
    for folder in ("victor_html", "victor_spark/kernels", "victor_spark/rendering")
    for path in Path(folder).glob("*.py")
    if MARK in path.read_text(encoding="utf-8")
)
"""What is compiled: the modules of these folders that import cython."""
DATA = {"conf": ("*",), "models": ("*",), "sample": ("crawl-*.warc.gz", "gold.jsonl")}
"""Folders that a wheel has beside the modules, and the files that it takes from them."""
STABLE = (3, 11)
"""The Python whose stable ABI compiled kernels use: one wheel does for it and all later ones."""
DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}
OF_CLASSES = {"legacy_implicit_noexcept": True}
OF_WRITERS = {"auto_cpdef": True}
OF_KERNEL = {
    "victor_html/construction.py": OF_CLASSES,
    "victor_html/serializer.py": OF_CLASSES,
    "victor_html/tokenizer.py": OF_CLASSES,
    "victor_spark/kernels/markup.py": OF_CLASSES,
    "victor_spark/rendering/markdown_writer.py": OF_CLASSES | OF_WRITERS,
    "victor_spark/rendering/walk.py": OF_CLASSES | OF_WRITERS,
}
"""More directives of single kernels. The methods of classes that read a whole page raise nothing, so that
callers need not ask; functions that write Markdown are called as C functions."""
CHECKS = {"boundscheck": True, "cdivision": False, "initializedcheck": True}
USUAL = ({}, ["-O3", "-g0"])
VARIANTS = {
    "": USUAL,
    # For one version of Python: bench/stable_abi.py measures what the stable ABI costs.
    "version": USUAL,
    "checked": (CHECKS, ["-O0", "-g0", "-w"]),
    # No run-time library is linked: the fuzzer brings its own.
    "sanitized": (
        {},
        [
            *("-O1", "-g1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
            "-fsanitize-coverage=trace-pc,trace-cmp",
        ],
    ),
}
"""How kernels are compiled: directives other than the usual ones, and the compiler's flags."""


NUMBERS = """# Written by setup.py from num.py.
cdef enum:
{constants}

cdef extern from *:  # numbers that are too large for an enum; the text in quotes is their literal in C
{large}

{arrays}

cdef extern from *:
    '''
    #if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    #define VICTOR_VECTORISED __attribute__((target_clones("avx2", "default"))) void
    #else
    #define VICTOR_VECTORISED void
    #endif
    '''
    ctypedef void Vectorised "VICTOR_VECTORISED"

cdef inline int check() except -1:
    from {module} import compiled_with
    compiled_with(DIGEST)
    return 0

cdef inline unsigned int hashed(unsigned int code, unsigned int c) noexcept:
    return (code ^ c) * FNV_PRIME

cdef inline Py_ssize_t place(const unsigned int[::1] slots, unsigned int code) noexcept:
    cdef unsigned int mask = <unsigned int>(slots.shape[0] - 1)
    cdef unsigned int slot = code & mask
    while slots[slot] != code and slots[slot] != 0:
        slot = (slot + 1) & mask
    return slot

cdef inline unsigned long long spread(unsigned long long code, unsigned long long key) noexcept:
    cdef unsigned long long mixer = {mixer}ULL
    cdef unsigned long long slot = (code ^ key) * mixer
    slot = (slot ^ (slot >> 32)) * key
    return ((slot ^ (slot >> 32)) * mixer) >> 32
"""


def write_numbers() -> None:
    """Writes num.pxd beside the kernels' modules `num`: their whole numbers for C, and types of arrays.

    Cython doesn't notice a changed num.pxd: C that was made with the old one is deleted.
    """
    sys.path.insert(0, ".")
    kinds = importlib.import_module("victor_html.num").ARRAYS
    arrays = "\n".join(f"ctypedef {kind} {name}" for name, kind in kinds.items())
    mixer = importlib.import_module("victor_spark.kernels.num").MIXER
    for folder in dict.fromkeys(path.parent for path in KERNELS):
        module = ".".join((*folder.parts, "num"))
        numbers = importlib.import_module(module).NUMBERS
        constants = "\n".join(
            f"    {name} = {number}" for name, number in numbers.items() if number < 1 << 31
        )
        large = "\n".join(
            f'    unsigned {"int" if number < 1 << 32 else "long long"} {name} "{number}U"'
            for name, number in numbers.items()
            if number >= 1 << 31
        )
        known = {"constants": constants, "large": large or "    pass", "arrays": arrays, "mixer": mixer}
        text = NUMBERS.format(module=module, **known)
        pxd = folder / "num.pxd"
        if not pxd.exists() or pxd.read_text(encoding="utf-8") != text:
            for stale in Path("build").glob(f"**/cython/{folder}/*.c"):
                stale.unlink()
            pxd.write_text(text, encoding="utf-8")


def has_stable_abi() -> bool:
    """Whether this Python has the stable ABI: free-threaded ones don't, nor do others than CPython."""
    return sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def extensions() -> list[Extension]:
    """One optional extension a kernel: a build goes on when the C compiler is missing or fails."""
    if os.environ.get("VICTOR_COMPILE") == "0" or not KERNELS:
        return []
    from Cython.Build import cythonize  # not needed where nothing is compiled

    write_numbers()
    variant = os.environ.get("VICTOR_KERNELS", "")
    directives, flags = VARIANTS[variant]
    # Without debugging information, which would be four fifths of the wheel.
    links = [] if variant else ["-Wl,-S"]
    if sys.platform == "win32":
        flags, links = [], []
    stable = has_stable_abi() and not variant
    modules = [
        Extension(
            ".".join(path.with_suffix("").parts),
            [path.as_posix()],
            extra_compile_args=flags,
            extra_link_args=links,
            define_macros=[("Py_LIMITED_API", "0x{:02X}{:02X}0000".format(*STABLE))] if stable else [],
            py_limited_api=stable,
        )
        for path in KERNELS
    ]
    modules = [
        extension
        for module in modules
        for extension in cythonize(
            [module],
            build_dir=os.path.join("build", variant, "cython"),
            compiler_directives=DIRECTIVES | OF_KERNEL.get(module.sources[0], {}) | directives,
        )
    ]
    for module in modules:
        module.optional = not variant  # said only here: cythonize makes new extensions and forgets it
    return modules


class BuildWithData(build_py):
    """Copies DATA beside the modules of a wheel; a checkout finds them where they are."""

    def run(self) -> None:
        """Builds the modules, then adds the data folders."""
        super().run()
        if not self.editable_mode:
            for folder, patterns in DATA.items():
                for source in (path for pattern in patterns for path in Path(folder).rglob(pattern)):
                    target = Path(self.build_lib, "victor_spark", source)
                    if source.is_file():
                        target.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(source, target)


modules = extensions()
tag = {"py_limited_api": "cp{}{}".format(*STABLE)} if modules and modules[0].py_limited_api else {}
options = {"bdist_wheel": tag, "build_ext": {"parallel": str(min(os.cpu_count() or 1, 4))}}
setup(ext_modules=modules, cmdclass={"build_py": BuildWithData}, options=options)
