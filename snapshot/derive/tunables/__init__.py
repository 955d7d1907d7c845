"""Each tunable: what it is, was, is set to at boot and by what."""
