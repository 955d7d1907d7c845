"""Benchmark numbers, judged with what is known of the devices; only where there are numbers is ``bench`` imported."""
