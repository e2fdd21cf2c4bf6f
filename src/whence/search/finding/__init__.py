"""Finding machines: heuristics that supply starts. Nothing here weighs a machine."""
