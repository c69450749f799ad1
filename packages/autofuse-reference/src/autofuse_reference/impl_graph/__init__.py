"""The meaning of an ImplGraph: loops, segments and buffers as planned, with every breach of the plan a fault."""
