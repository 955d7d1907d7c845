"""What containers and container engines are given and set to, line by line."""
