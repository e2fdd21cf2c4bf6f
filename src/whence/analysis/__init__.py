"""What a sample of machines says, and what it leaves open."""
