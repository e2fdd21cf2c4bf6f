"""Benchmarks: ratios to named peers measured in one run, and how time grows."""
