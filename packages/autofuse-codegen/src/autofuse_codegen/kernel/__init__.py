"""The typed kernel program: statements and expressions between a schedule and its text."""
