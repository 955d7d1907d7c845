"""The only door to the machine: read, list, glob, readlink, stat, walk, run, under one root.

``base`` has the interface and ``syscalls`` the reads themselves; ``live`` is the running machine (``child``
reads what can block in the kernel, ``mounts`` tells where that is, ``commands`` runs programs); ``recorded``
reads a recording from a ``tree``, which is a directory or an archive (``archive``), and its ``tables``, as far
as it was ``asked``; ``recorder`` writes ``answers`` to a ``destination``.
"""
