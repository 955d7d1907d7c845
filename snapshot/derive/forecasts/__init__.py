"""What the next boot will make of the host, and whether it did."""
