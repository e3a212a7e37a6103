"""Our HTML parser: UTF-8 markup → canonical HTML. Imports nothing of ours outside this folder (README.md)."""
