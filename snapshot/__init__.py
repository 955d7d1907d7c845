"""Record the state of a Linux/GPU host, compare two records, judge what got worse.

The rooms: ``sections`` (models of what is recorded), ``host`` (the only door to the machine), ``collectors``
(one a section), ``capture`` (runs them all), ``document`` (the file), ``store`` (where files lie), ``derive``
(facts that join sections), ``diff``, ``engine`` (rules), ``report`` (findings as text), ``cli`` (one file a verb).
"""

__version__ = "0.1.0"
