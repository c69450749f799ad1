"""The contracts, sizes, dtypes, operators and text forms every AutoFuse package shares."""
