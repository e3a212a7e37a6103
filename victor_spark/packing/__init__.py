"""victor-spark made ready to travel: with all it needs for --archives, or alone for --py-files."""
