"""How is a passage put into a prompt so that nothing in it looks like our own marks?

Square brackets become corner brackets of the same shape, `<` and `>` become single guillemets: no text of a document
can then form an evidence key, a number in brackets, a delimiter or a think tag. The stored text is never changed.
"""

from __future__ import annotations

_SQUARE = {"[": "⟦", "]": "⟧", "【": "⟦", "】": "⟧", "［": "⟦", "］": "⟧"}
_BRACKETS: dict[str, str | int | None] = {**_SQUARE, "<": "‹", ">": "›"}
_TABLE = str.maketrans(_BRACKETS)


def escape_passage(text: str) -> str:
    """Return the text with its brackets replaced one for one, and fences of code broken."""
    return text.translate(_TABLE).replace("```", "'''")


def unescape(text: str) -> str:
    """Return a model's words with the replaced brackets as they stand in the document."""
    originals: dict[str, str | int | None] = {"⟦": "[", "⟧": "]", "‹": "<", "›": ">"}
    return text.translate(str.maketrans(originals))
