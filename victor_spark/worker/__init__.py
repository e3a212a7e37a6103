"""From records to batches of rows, without Spark: in this process, or in a child with limits (`sandbox`)."""
