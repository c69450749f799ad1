"""The struct of tiling data: its fields, its size, and how it is written as a constant.

What is decided for each of several parts stands in a struct of its own.
"""

from attrs import evolve
from autofuse_ir.comment import comment_text

from autofuse_codegen.targets.ascendc.parts import Part
from autofuse_codegen.targets.ascendc.views import FieldView

FIXED_FIELDS = (
    FieldView("uint32_t", "block_dim", "blocks to launch"),
    FieldView("uint32_t", "corenum", "vector cores there are"),
    FieldView("uint32_t", "ub_size", "bytes of UB that tiles may fill"),
    FieldView("uint32_t", "hbm_size", "bytes of workspace"),
    FieldView("uint32_t", "tiling_key", "tiling case"),
    FieldView("uint32_t", "reserved", ""),
)


def fields_of(parts: tuple[Part, ...], names: dict[str, str], has_choice: bool = False) -> tuple[FieldView, ...]:
    """Return the fields of the whole struct; ``names`` are those of sizes by symbol.

    With ``has_choice`` it says which alternative runs, where there is nothing else.
    """
    if not _are_several(parts):
        return (*FIXED_FIELDS, *parts[0].view.fields)
    symbols = (FieldView("int64_t", name, f"size {comment_text(s)}") for s, name in names.items())
    keys = [FieldView("uint32_t", p.view.key_field, f"tiling case of {p.view.name}") for p in parts]
    if len(keys) % 2:
        keys.append(FieldView("uint32_t", "reserved2", ""))
    structs = (FieldView(p.view.type, p.view.place, p.view.name) for p in parts)
    fixed = FIXED_FIELDS
    if has_choice:
        fixed = (*fixed[:-1], evolve(fixed[-1], name="alternative", comment="which parts run"))
    return (*fixed, *symbols, *keys, *structs)


def bytes_of(fields: tuple[FieldView, ...], parts: tuple[Part, ...]) -> int:
    """Return the size of the struct: every field is aligned, and so is its end."""
    sizes = {"int64_t": 8, "uint32_t": 4}
    for part in parts if _are_several(parts) else ():
        sizes[part.view.type] = sum(sizes[field.type] for field in part.view.fields)
    return sum(sizes[field.type] for field in fields)


def constant_of(fields: tuple[FieldView, ...], parts: tuple[Part, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the format that prints the tiling data as an initialiser, and the values it prints."""
    structs = {part.view.place: part.view.fields for part in parts if part.view.place}
    texts: list[str] = []
    values: list[str] = []
    for field in fields:
        inner = structs.get(field.name, ())
        values += [f"{field.name}.{each.name}" for each in inner] or [field.name]
        texts.append("{" + ", ".join("%lld" for _ in inner) + "}" if inner else "%lld")
    return "{" + ", ".join(texts) + "}", tuple(values)


def _are_several(parts: tuple[Part, ...]) -> bool:
    return bool(parts[0].view.place)
