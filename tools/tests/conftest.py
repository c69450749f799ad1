import sys
from pathlib import Path

# The tools are scripts beside one another, not a package.
sys.path.insert(0, str(Path(__file__).parents[1]))
