"""What the host has, and should have: counts, CPUs, drives, mounts; and what the take could not see."""
