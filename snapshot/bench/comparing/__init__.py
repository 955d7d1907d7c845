"""Two ``bench`` sections compared: like with like only, and no difference claimed that the samples do not show.

``compare``      the whole: ``compare(before, after, ...) -> Benchmarks``
``comparison``   what comes out
``matching``     which measurement before is which after, and why others cannot be compared
``effects``      of the samples of two sides: verdict, size, interval
``bands``        noise bands, for samples too few for a test
``grids``        tables between devices: cell by cell, and by how far apart devices are
``peers``        whether peer-to-peer is in effect
``ladders``      one metric over a parameter that rises
``limits``       how near to a declared limit
``naming``       what to call a measurement
"""
