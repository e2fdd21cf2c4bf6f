"""Engines solve product MDPs: a readable one, which is the specification, and a fast one."""
