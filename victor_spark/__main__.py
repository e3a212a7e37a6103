"""`python -m victor_spark` is the command `victor`."""

from victor_spark.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
