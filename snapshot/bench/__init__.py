"""Benchmark numbers: reading reports of tools, keeping them in a snapshot, comparing them, drawing them.

``importers``   one file a format: text of a report -> ``Report``
``report``      what an importer gives back
``adding``      reports into the ``bench`` section of a snapshot
``running``     the commands that snap.toml declares
``statistics``  rank test, intervals, correction for many tests: pure functions of lists of numbers
``comparing``   two ``bench`` sections -> what is better, worse, not shown to differ or not comparable, and why
``drawing``     sparklines, and SVG pictures
"""
