"""Statistics of few samples, as pure functions of lists of numbers; no sample is nan or infinite.

``ranks``    whether two samples differ: the rank test of Mann and Whitney, exact, ties included
``shift``    how far one is from the other, with an interval: Hodges and Lehmann
``holm``     p values of several questions asked together
``spread``   the middle and the quartiles of one sample, and the noise of a pair
"""
