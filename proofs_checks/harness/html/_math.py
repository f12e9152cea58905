"""LaTeX to MathML at build time. The converter's tree is written out here, by a list of allowed names: it leaves `<`
inside of \\text unescaped and knows \\href and \\style, and a report renders what others wrote."""
from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

__all__ = ["mathml"]

TAGS = frozenset(["mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder",
                  "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "mmultiscripts",
                  "mprescripts", "none"])
ATTRIBUTES = frozenset(["stretchy", "fence", "form", "minsize", "maxsize", "largeop", "movablelimits", "accent", "accentunder",
                        "separator", "symmetric", "lspace", "rspace", "width", "height", "depth", "displaystyle",
                        "scriptlevel", "linethickness", "mathvariant", "columnalign", "rowalign", "columnspacing",
                        "rowspacing", "columnspan", "rowspan"])
SPACES = {"negativethinmathspace": "-0.1667em", "negativemediummathspace": "-0.2222em", "negativethickmathspace": "-0.2778em"}
NAMES = frozenset(["\\arg", "\\deg", "\\hom", "\\ker"])  # functions that the converter does not know
RELATIONS = frozenset("=<>≤≥≪≫≠≈≃≅∼∝≡∈∉⊂⊆⊃⊇→←↔↦⇒⇐⇔⟹⟸⟺≺≻⪯⪰⟂") | {":="}
OPENING, CLOSING = "([{⟨⌊⌈", ")]}⟩⌋⌉"
PAUSES = ",;:"


def mathml(latex: str) -> str | None:
    """The formula as MathML that may break between lines, or None if any of it cannot be converted."""
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(latex, display="block")
        pieces = ["".join(map(_write, _merged(piece))) for piece in _pieces(_row(root))]
    except Exception:  # the converter raises StopIteration, IndexError and more on what it cannot read
        return None
    return "<wbr>".join(f'<math displaystyle="true"><mrow>{piece}</mrow></math>' for piece in pieces) or None


def _row(root: Any) -> list[Any]:
    """The top-level parts of a formula."""
    children = list(root)
    row = list(children[0]) if len(children) == 1 and children[0].tag == "mrow" else children
    for colon, equals in pairwise(list(row)):
        if colon.text == ":" and html.unescape(equals.text or "") == "=":
            colon.tag, colon.text = "mo", ":="
            row.remove(equals)
    return row


def _pieces(row: Sequence[Any]) -> list[list[Any]]:
    """The parts between which a line may break: before relations, after commas, words and wide spaces."""
    pieces: list[list[Any]] = [[]]
    depth = 0
    for part in row:
        text = html.unescape(part.text or "")
        operator = part.tag in ("mo", "mi") and bool(text)
        wide = part.tag == "mspace" and part.get("width") in ("1em", "2em")
        if wide and not pieces[-1] and len(pieces) > 1:
            pieces[-2].append(part)
            continue
        if operator and not depth and pieces[-1] and text in RELATIONS:
            pieces.append([])
        pieces[-1].append(part)
        depth += (operator and text in OPENING) - _closes(part, text)
        if wide or (not depth and (part.tag == "mtext" or (operator and text in PAUSES))):
            pieces.append([])
    return [piece for piece in pieces if piece]


def _closes(part: Any, text: str) -> bool:
    """Whether a part closes a bracket; after a power, the bracket is the base."""
    if part.tag in ("msup", "msub", "msubsup") and len(part):
        part = part[0]
        text = html.unescape(part.text or "")
    return part.tag == "mo" and bool(text) and text in CLOSING


def _merged(row: Sequence[Any]) -> list[Any]:
    """Neighbouring upright letters as one identifier: \\mathrm{share} is one word, not five variables."""
    from xml.etree.ElementTree import Element

    out: list[Any] = []
    for part in row:
        upright = part.tag == "mi" and part.get("mathvariant") == "normal"
        if upright and out and out[-1].get("upright"):
            out[-1].text += html.unescape(part.text or "")
        elif upright:
            word = Element("mi", {"upright": "yes"})
            word.text = html.unescape(part.text or "")
            out.append(word)
        else:
            out.append(part)
    return out


def _write(part: Any) -> str:
    """One element. ValueError for what is not allowed or was not understood (its text keeps a backslash)."""
    if part.tag not in TAGS:
        raise ValueError(f"element {part.tag!r}")
    text = html.unescape((part.text or "").strip("\n"))
    if text in NAMES:
        text = text[1:]
    if "\\" in text:
        raise ValueError(f"not understood: {text}")
    tag = "mo" if part.tag == "mi" and text and (text in RELATIONS or text in PAUSES) else part.tag
    kept = {k: SPACES.get(v, v) for k, v in part.attrib.items() if k in ATTRIBUTES}
    if part.get("upright") and len(text) == 1:
        kept["mathvariant"] = "normal"
    if tag == "mo" and text == "|":  # an absolute value or a condition, not a binary operation
        kept |= {"lspace": "0", "rspace": "0"}
    attributes = "".join(f' {k}="{html.escape(v)}"' for k, v in kept.items())
    inner = html.escape(text) + "".join(map(_write, _merged(list(part))))
    return f"<{tag}{attributes}>{inner}</{tag}>"
