"""How likely demonstrations are under a machine: evidence, the posterior, the engines."""
