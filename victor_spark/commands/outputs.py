"""Where commands write what they made."""

from pathlib import Path

from victor_spark.errors import OutputError


def writable(directory: Path) -> Path:
    """The directory, made if need be; OutputError now rather than after an hour's work."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"can't write to {directory}: {error.strerror or error}") from error
    return directory
