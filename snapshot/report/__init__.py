"""One file an output format: a ``Review`` goes in, text comes out. ``text`` for people at a terminal, ``markdown`` for
a pull request, ``as_json`` for programs; ``explain`` shows how one finding came about.

To add a format: ``report/NAME.py`` with ``render_NAME(review) -> str``; it computes nothing that another format would
have to compute again. What all formats say stands in ``review``, in which order in ``order``, the first and last lines
in ``headline``; ``unknowns`` and ``other_changes`` sort what could not be judged and what else changed.
"""
