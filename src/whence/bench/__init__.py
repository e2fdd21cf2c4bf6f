"""Benchmarks: ratios measured in one run against named peers, one thread each."""
