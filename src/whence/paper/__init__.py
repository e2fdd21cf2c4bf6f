"""The paper's experiments again: its table, baselines, and its claims put to the test."""
