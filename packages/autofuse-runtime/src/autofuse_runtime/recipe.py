"""What an entry of the cache is made from, part by part: its key, and what a later recipe can be compared with."""

import hashlib

from attrs import field, frozen

_SHOWN_CHARACTERS = 200


def key_of(*parts: str | bytes) -> str:
    """Return the name of what is made from ``parts`` (sources, flags, identities): a sha256 over them in order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@frozen
class Recipe:
    """What goes into an entry of kind ``kind``: ``parts`` by name, all of which make its ``key``.

    ``what`` and ``made_by`` say in words what it is and which tool makes it; they are kept and not part of the key.
    """

    kind: str
    what: str
    parts: tuple[tuple[str, str], ...]
    made_by: str = ""
    key: str = field(init=False, repr=False)

    @key.default
    def _key(self) -> str:
        return key_of(self.kind, *(text for part in self.parts for text in part))

    @property
    def digests(self) -> dict[str, str]:
        """Each part by name: short texts as they are, others as ``sha256:`` and their digest."""
        return {name: _digest(text) for name, text in self.parts}


def _digest(text: str) -> str:
    is_short = len(text) <= _SHOWN_CHARACTERS and text.isprintable()
    return text if is_short else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
