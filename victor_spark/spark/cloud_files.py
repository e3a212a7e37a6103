"""An output in an object store that Spark has no jars for, reached through fsspec as inputs are."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from victor_spark.spark.lease import Leased
from victor_spark.warc import fsspec_files
from victor_spark.warc.remote_files import with_retries

SCHEMES: Final = frozenset({"s3", "s3a", "s3n", "gs", "gcs"})

T = TypeVar("T")


class CloudFiles:
    """One output directory (see `files.Files`); a file is there when it is whole."""

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/")
        self._system, self._root = fsspec_files.file_system(self.location)
        self._lease = Leased(self)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")

    def _call(self, action: Callable[[], T]) -> T:
        """What an action gives, tried again where that may help; OSError where it can't be."""

        def translated() -> T:
            with fsspec_files.translated(self.location):
                return action()

        return with_retries(translated)

    def is_file(self) -> bool:
        """Whether something else than a directory has the name."""
        return bool(self._call(lambda: self._system.isfile(self._root)))

    def names(self, name: str = "") -> list[str] | None:
        """What a directory holds; None if it isn't there."""
        try:
            found: list[str] = self._call(lambda: self._system.ls(self._path(name), detail=False))
        except FileNotFoundError:
            return None
        names = {path.rstrip("/").rpartition("/")[2] for path in found if path != self._path(name)}
        return sorted(names) or None

    def below(self, name: str) -> dict[str, int]:
        """Every file below a directory, named from there, and its size."""
        path = self._path(name)
        found: dict[str, dict[str, Any]] = self._call(lambda: self._system.find(path, detail=True))
        return {key[len(path) + 1 :]: int(info["size"]) for key, info in found.items() if key != path}

    def move(self, name: str, target: str) -> None:
        """Gives a file another name; the store copies it."""
        source = self._path(name)
        self._call(lambda: self._system.cp_file(source, self._path(target)))
        self._call(lambda: self._system.rm_file(source))

    def read(self, name: str) -> bytes | None:
        """A file's content, or None."""
        try:
            return bytes(self._call(lambda: self._system.cat_file(self._path(name))))
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file whole or not at all."""
        self._call(lambda: self._system.pipe_file(self._path(name), content))

    def remove(self, name: str) -> None:
        """Removes a file or a tree, if it is there."""
        path = self._path(name)
        if self._call(lambda: self._system.exists(path)):
            self._call(lambda: self._system.rm(path, recursive=True))

    def probe(self) -> None:
        """Writes and removes a file beside the output; OSError if that can't be."""
        path = f"{self._root}.victor-probe"
        try:
            self._call(lambda: self._system.pipe_file(path, b"0"))
        except FileNotFoundError as error:
            raise OSError("no such bucket") from error
        self._call(lambda: self._system.rm_file(path))

    def lock(self) -> bool:
        """Holds the directory by a lease; False if another run does."""
        return self._lease.lock()

    def lost(self) -> bool:
        """Whether another run took the directory over meanwhile."""
        return self._lease.lost()

    def unlock(self) -> None:
        """Lets other runs in again."""
        self._lease.unlock()
