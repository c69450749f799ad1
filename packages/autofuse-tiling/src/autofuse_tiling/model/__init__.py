"""From an ImplGraph to a tiling problem: variables, constraints, and predicted cycles per pipe."""
