"""Clean-up passes: each a frozen class, ``Graph -> Graph``, pure; the same object back when nothing changes."""
