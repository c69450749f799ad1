"""Contents that are followed through shape arithmetic."""

from autofuse_symshape.call import Call
from autofuse_symshape.scope import Scope


def follow(call: Call, scope: Scope) -> None:
    """Note what is known of the contents that the node of ``call`` makes."""
