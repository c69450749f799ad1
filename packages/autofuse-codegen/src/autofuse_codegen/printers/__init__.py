"""Printers: expressions by precedence, statements with indentation."""
