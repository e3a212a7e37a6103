"""The messages of the command on stderr, without those that depend on the machine."""


def messages(stderr: str) -> list[str]:
    """The lines of stderr, without the notice that kernels run uncompiled where there is no compiler."""
    return [line for line in stderr.splitlines() if not line.startswith("kernels run ")]
