"""What the command says on stderr, without what depends on the machine."""


def said(stderr: str) -> list[str]:
    """The lines, but for the notice that kernels run uncompiled where there is no compiler."""
    return [line for line in stderr.splitlines() if not line.startswith("kernels run ")]
