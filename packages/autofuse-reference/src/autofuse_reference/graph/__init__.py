"""The Graph interpreter: what a network computes, operator by operator."""
