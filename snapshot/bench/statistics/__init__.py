"""Tests of lists of numbers, without knowledge of what they measure."""
