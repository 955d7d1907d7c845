"""Who may open which device: containers, nodes, drivers and their numbers, and the cure."""
