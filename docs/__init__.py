"""Pages for users, and what writes those that are generated."""
