"""Rules times facts: ``rule`` is what a pack may say, ``packs`` loads them, ``judge`` applies them.

The judgement (severity, threshold, wording, cure) is data in ``rules/*.toml``; what relates several sections is code in
``derive``. To add a rule: a ``[[rule]]`` in the pack named after the first word of its id, with at least one example
that fails and one that passes. To add an operator: a pure function and a line in ``ops.OPERATORS``.
"""
