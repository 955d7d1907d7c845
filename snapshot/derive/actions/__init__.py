"""What a boot does to tunables: units, scripts, udev, tmpfiles, tuned; and what it will not do."""
