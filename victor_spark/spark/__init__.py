"""The only place in the package that imports pyspark: plan, clean, write, keep the record of a run."""
