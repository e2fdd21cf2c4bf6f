"""What to do once the machine is known: policies, simulation, exact evaluation."""
