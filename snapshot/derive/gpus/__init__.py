"""GPUs and their drivers: layer by layer, settings, errors, versions."""
