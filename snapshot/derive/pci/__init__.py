"""PCI functions: the tree above them, links, registers, moves and errors."""
