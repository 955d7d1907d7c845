"""Record the state of a Linux/GPU host, compare two records, judge what got worse.

The rooms: ``sections`` (models of what is recorded), ``host`` (the only door to the machine), ``collectors``
(one a section), ``capture`` (runs them all), ``document`` (the file), ``store`` (where files lie), ``derive``
(facts that join sections), ``diff``, ``engine`` (rules), ``fix`` (findings as a script), ``bench`` (numbers of
benchmarks), ``report`` (findings as text), ``config`` (snap.toml), ``redact``, ``cli`` (one file a verb). Below
them all ``errors``, ``records`` (classes of values) and ``regexes``: none costs anything until it is used.
"""

__version__ = "0.1.0"
