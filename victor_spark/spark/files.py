"""The few file operations that a run's output needs: on this machine, by Spark, or by fsspec.

A file is written whole or not at all, from bytes or a local file; for a missing name, `read` and `names` give
None and `remove` does nothing; `move` replaces the target; `probe` raises OSError if OUT is not writable.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from victor_spark.errors import InputError, OutputError, SpaceError
from victor_spark.resources import draft_name, replaced
from victor_spark.spark.lock import Lock
from victor_spark.spark.session import session
from victor_spark.warc import remote_files, storage

_REMOVAL_TRIES: Final = 20
_REMOVAL_SECONDS: Final = 0.2
_OBJECT_STORES: Final = {"s3a", "s3", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "oss", "cosn", "obs"}
"""Stores in which a file appears whole when it is closed, and a rename is a copy."""

_CLOUD_SCHEMES: Final = frozenset({*remote_files.ALIASES, *remote_files.ALIASES.values()})
T = TypeVar("T")


def is_local(location: str) -> bool:
    """Whether an output lies in this machine's own filesystem."""
    return urlsplit(location).scheme in {"", "file"} or "://" not in location


def address(files: "Files") -> str:
    """The output as users write it, and tasks and `open_files` read it; `location` is for Spark."""
    return files.location.removeprefix("file://")


def check_outside(destination: str, location: str) -> None:
    """OutputError if a destination is a run's output itself or lies below it."""
    if _place(destination).is_relative_to(_place(location)):
        raise OutputError(f"{destination}: is in the output of the run ({location}); choose another folder")


def _place(location: str) -> PurePosixPath:
    if is_local(location):
        return PurePosixPath(os.path.realpath(address(LocalFiles(location))))
    url = urlsplit(location)
    scheme = remote_files.ALIASES.get(url.scheme, url.scheme)
    return PurePosixPath(f"{scheme}:", url.netloc, os.path.normpath(url.path).lstrip("/"))


def _reading(content: bytes | Path) -> BinaryIO:
    return content.open("rb") if isinstance(content, Path) else BytesIO(content)


class LocalFiles:
    """An output directory on this machine; the methods of the other classes do the same."""

    def __init__(self, location: str) -> None:
        self._root = Path(storage.local(location)).absolute()
        self.location = f"file://{self._root}"
        self.lock = Lock(self, self._root)

    def is_file(self) -> bool:
        """Whether the output is a file, or a link to nothing."""
        return os.path.lexists(self._root) and not self._root.is_dir()

    def names(self, name: str = "") -> list[str] | None:
        """The names in a directory; None if there is no such directory."""
        folder = self._root / name
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else None

    def below(self, name: str) -> dict[str, int]:
        """Every file below a directory, named from there, and its size."""
        folder = self._root / name
        self.names(name)  # OSError for a folder that can't be read, which rglob takes for an empty one
        paths = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}

    def move(self, name: str, target: str) -> None:
        """Moves a file; makes the target's directory."""
        path = self._root / target
        path.parent.mkdir(parents=True, exist_ok=True)
        (self._root / name).replace(path)

    def read(self, name: str) -> bytes | None:
        """A file's content, or None."""
        path = self._root / name
        return path.read_bytes() if path.is_file() else None

    def write(self, name: str, content: bytes | Path) -> None:
        """Writes a file whole or not at all, with the directories it needs below an existing parent."""
        path = self._root / name
        self._root.mkdir(exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as draft, draft.open("wb") as file, _reading(content) as source:
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())

    def remove(self, name: str) -> None:
        """Removes a file or a tree; tried again, as a task that Spark gave up may still write into it."""
        path = self._root / name
        for left in reversed(range(_REMOVAL_TRIES)):
            if not path.is_dir():
                path.unlink(missing_ok=True)
                return
            try:
                shutil.rmtree(path)
            except OSError:
                if not left:
                    raise
                time.sleep(_REMOVAL_SECONDS)

    def probe(self) -> None:
        """Writes a file without a name in the output's directory or its parent; OSError if that fails."""
        folder = self._root if self._root.is_dir() else self._root.parent
        if not folder.exists():
            raise OSError("its parent directory doesn't exist")
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"0")
        except FileNotFoundError as error:  # as in /proc
            raise OSError("this filesystem does not accept files") from error


class HadoopFiles:
    """An output directory on hdfs://, s3a:// or another filesystem that Spark has jars for."""

    def __init__(self, location: str, spark: SparkSession) -> None:
        self.location = location.rstrip("/")
        context = spark.sparkContext
        self._jvm: Any = context._jvm
        path = self._path("")
        configuration = context._jsc.hadoopConfiguration()
        self._system: Any = path.getFileSystem(configuration)
        self._stores_objects = urlsplit(location).scheme in _OBJECT_STORES
        self._context: Any = None
        if not self._stores_objects:
            contexts: Any = self._jvm.org.apache.hadoop.fs.FileContext  # type: ignore[union-attr]
            with suppress(Py4JJavaError):  # not every filesystem has one
                self._context = contexts.getFileContext(self._system.getUri(), configuration)
        self.lock = Lock(self)

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.location}/{name}")

    def is_file(self) -> bool:
        return bool(self._system.isFile(self._path("")))

    def names(self, name: str = "") -> list[str] | None:
        if not self._system.isDirectory(self._path(name)):
            return None
        return sorted(status.getPath().getName() for status in self._system.listStatus(self._path(name)))

    def below(self, name: str) -> dict[str, int]:
        if not self._system.isDirectory(self._path(name)):
            return {}
        root = self._system.makeQualified(self._path(name)).toUri().getPath()
        found, files = dict[str, int](), self._system.listFiles(self._path(name), True)
        while files.hasNext():
            status = files.next()
            found[status.getPath().toUri().getPath()[len(root) + 1 :]] = status.getLen()
        return found

    def move(self, name: str, target: str) -> None:
        self._system.mkdirs(self._path(target).getParent())
        self._rename(self._path(name), self._path(target))

    def _rename(self, path: Any, target: Any) -> None:
        """Replaces the target, on HDFS in one step: a lease is never missing while its holder renews it."""
        if self._context is not None:
            rename = self._jvm.org.apache.hadoop.fs.Options.Rename
            options = SparkContext._gateway.new_array(rename, 1)  # type: ignore[union-attr]
            options[0] = rename.OVERWRITE
            self._context.rename(*map(self._system.makeQualified, (path, target)), options)
            return
        self._system.delete(target, False)
        if not self._system.rename(path, target):
            raise OSError(f"can't rename {path.toString()}")

    def read(self, name: str) -> bytes | None:
        path = self._path(name)
        if not self._system.exists(path):
            return None
        with closing(self._system.open(path)) as stream:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))

    def write(self, name: str, content: bytes | Path) -> None:
        """Writes a file; an object store shows it only when it is whole, HDFS after the rename."""
        path = draft = self._path(name)
        if not self._stores_objects:
            draft = self._jvm.org.apache.hadoop.fs.Path(path.getParent(), draft_name(path.getName()))
        try:
            with closing(self._system.create(draft, True)) as stream, _reading(content) as source:
                shutil.copyfileobj(source, stream)
            if draft is not path:
                self._rename(draft, path)
        finally:
            if draft is not path:
                self._system.delete(draft, False)

    def remove(self, name: str) -> None:
        self._system.delete(self._path(name), True)

    def probe(self) -> None:
        """Writes and removes an empty file beside the output; OSError if that fails."""
        path = self._path("").suffix(".victor-probe")
        self._system.create(path, True).close()
        self._system.delete(path, False)


class CloudFiles:
    """An output directory in a store that Spark has no jars for, reached as inputs are."""

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/")
        self._system, self._root = remote_files.file_system(self.location)
        self.lock = Lock(self)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")

    def _call(self, action: Callable[[], T]) -> T:
        """The result of an action, with retries; OSError if all fail."""
        return remote_files.tried(self.location, action)

    def is_file(self) -> bool:
        return bool(self._call(lambda: self._system.isfile(self._root)))

    def names(self, name: str = "") -> list[str] | None:
        try:
            found: list[str] = self._call(lambda: self._system.ls(self._path(name), detail=False))
        except FileNotFoundError:
            return None
        names = {path.rstrip("/").rpartition("/")[2] for path in found if path != self._path(name)}
        return sorted(names) or None

    def below(self, name: str) -> dict[str, int]:
        path = self._path(name)
        found: dict[str, dict[str, Any]] = self._call(lambda: self._system.find(path, detail=True))
        return {key[len(path) + 1 :]: int(info["size"]) for key, info in found.items() if key != path}

    def move(self, name: str, target: str) -> None:
        """Gives a file another name; the store copies it."""
        source = self._path(name)
        self._call(lambda: self._system.cp_file(source, self._path(target)))
        self._call(lambda: self._system.rm_file(source))

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(self._call(lambda: self._system.cat_file(self._path(name))))
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes | Path) -> None:
        """Writes a file whole or not at all."""
        if isinstance(content, Path):
            self._call(lambda: self._system.put_file(str(content), self._path(name)))
        else:
            self._call(lambda: self._system.pipe_file(self._path(name), content))

    def remove(self, name: str) -> None:
        path = self._path(name)
        if self._call(lambda: self._system.exists(path)):
            self._call(lambda: self._system.rm(path, recursive=True))

    def probe(self) -> None:
        """Writes and removes a file beside the output; OSError if that fails."""
        path = f"{self._root}.victor-probe"
        self._call(lambda: self._system.pipe_file(path, b"0"))
        self._call(lambda: self._system.rm_file(path))


Files: TypeAlias = LocalFiles | HadoopFiles | CloudFiles
"""One output directory; names are relative to it ("" is the directory itself)."""


DISK_FULL: Final = re.compile(
    r"No space left on device|Disk quota exceeded|File too large"
    r"|The \w+ quota of [^\n]{1,200}? is exceeded|could only be written to 0 of the"
)
_UNREADABLE: Final = re.compile(r"(?:reading file|footer for file:) (?:file:/*(?=/))?(\S+?)\.?(?:\s|$)")


@contextmanager
def output_errors(location: str) -> Iterator[None]:
    """Turns errors of a filesystem into an OutputError of one line."""
    try:
        yield
    except InputError as error:  # a missing package or credentials
        raise OutputError(str(error)) from error
    except (OSError, Py4JJavaError) as error:
        text = error.java_exception.toString() if isinstance(error, Py4JJavaError) else str(error)
        if found := _UNREADABLE.search(text):
            again = "a damaged file of OUT/pages can be removed: `victor clean` makes its pages again"
            raise OutputError(f"{found[1]}: can't be read; {again}") from error
        reason = getattr(error, "strerror", None) or next(iter(text.splitlines()), type(error).__name__)
        kind = SpaceError if DISK_FULL.search(text) else OutputError
        raise kind(f"{location.removeprefix('file://')}: can't write there: {reason}") from error


def files_at(location: str) -> LocalFiles | CloudFiles:
    """A folder that tasks can write to themselves."""
    return LocalFiles(location) if is_local(location) else CloudFiles(location)


def open_files(location: str, spark: SparkSession) -> Files:
    """The output directory at `location`."""
    if is_local(location):
        return LocalFiles(location)
    try:
        return HadoopFiles(location, spark)
    except Py4JJavaError as error:
        reason = error.java_exception.toString()
        lacks_jars = "No FileSystem for scheme" in reason or "ClassNotFoundException" in reason
        if urlsplit(location).scheme not in _CLOUD_SCHEMES or not lacks_jars:
            raise
        return CloudFiles(location)


def parent(location: str, spark: SparkSession) -> tuple[Files, str, bool]:
    """The folder of an output, its name there, and whether it exists; OutputError without such a folder."""
    folder, slash, name = storage.local(location).rpartition("/")
    files = open_files(folder or slash or ".", spark)
    if (names := files.names()) is None:
        raise OutputError(f"{location}: can't write there: no folder {folder or slash}")
    return files, name, name in names


@contextmanager
def new_folder(location: str, spark: SparkSession) -> Iterator[tuple[str, str]]:
    """Where Spark writes a folder, and where it appears whole at the end; OutputError if it can't be made."""
    files, name, exists = parent(location.rstrip("/"), spark)
    if isinstance(files, CloudFiles):
        raise OutputError(f"{location}: Spark needs a jar to write there, such as hadoop-aws")
    if exists:
        raise OutputError(f"{location}: exists; choose another --output")
    drafts = f".{name}.draft"
    own = f"{drafts}/{uuid4().hex[:12]}"
    with output_errors(location):
        lock = open_files(f"{address(files)}/{drafts}", spark).lock
        if not lock.acquire():
            raise OutputError(f"{location}: another command is writing there")
    try:
        for left in files.names(drafts) or []:  # by commands that were killed
            if left != "_run":
                files.remove(f"{drafts}/{left}")
        yield f"{files.location}/{own}/{name}", f"{files.location}/{name}"
        remove_checksums(files, f"{own}/{name}")
        if lock.lost():
            raise OutputError(f"{location}: another command took it over, as this command's lease expired")
        files.move(f"{own}/{name}", name)
    finally:
        is_ours = not lock.lost()
        lock.release()
        files.remove(drafts if is_ours else own)


def remove_checksums(files: Files, folder: str) -> None:
    """Removes the hidden file that Hadoop writes on a disk beside each file."""
    for name in files.names(folder) or []:
        if name.endswith(".crc"):
            files.remove(f"{folder}/{name}")


@contextmanager
def opened(location: str) -> Iterator[Files]:
    """The output's files for reading; anything but a local path starts Spark."""
    if is_local(location):
        yield LocalFiles(location)
        return
    with session(master="local[1]") as spark, output_errors(location):
        yield open_files(location, spark)
