"""victor-spark packed for clusters: for --archives and for --py-files."""
