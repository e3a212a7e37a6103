"""Jobs on Spark: plan, clean, write, keep the record of a run."""
