"""Every vector operator at every rank, size, element type and memory layout, generated from the operator table."""
