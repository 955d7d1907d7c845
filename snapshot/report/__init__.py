"""One file an output format: a ``Review`` goes in, text comes out. ``text`` for people, ``as_json`` for programs.

To add a format: ``report/NAME.py`` with ``render(review) -> str``; it computes nothing that another format would
have to compute again. What all formats say stands in ``review``.
"""
