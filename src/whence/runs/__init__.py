"""What a run of inference leaves behind: its result, and a folder."""
