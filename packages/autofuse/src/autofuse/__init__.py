"""An automatic operator-fusion compiler: fewer passes over memory."""
