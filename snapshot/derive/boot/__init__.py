"""Kernels, their modules, and the command line: this boot, the next one, and what files ask for."""
