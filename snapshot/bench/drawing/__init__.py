"""Pictures of measurements: for a terminal, and as SVG that is written by hand.

``sparkline``  a row of bars a character high
``matrix``     a table between devices, for a terminal
``labels``     words that a picture has room for
``numbers``    numbers and ticks as people read them
``canvas``     SVG: lines, marks and texts in colours that hold in light and dark, and for the colour-blind
``axes``       from values to places on a picture
``ladder``     a metric over concurrency or size, before and after
``heatmap``    a table between devices, before and after
``history``    a metric over the snapshots of a host
``moments``    what the snapshots of a host give for that
``choice``     which of them snapshots have, and the picture of it

Every picture is the same for the same numbers, byte by byte.
"""
