"""Templates: ways to turn a grouped graph and a tiling case into an ImplGraph."""
