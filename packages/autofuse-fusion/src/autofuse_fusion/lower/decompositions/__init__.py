"""What composite operators are made of: one file per family of the operator table."""
