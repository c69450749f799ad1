"""The HintGraph interpreter: what an AscGraph computes, on whole arrays."""
