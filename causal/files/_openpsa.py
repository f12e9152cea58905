"""Fault trees in the Open-PSA model exchange format (XML). Standard library parser; entities are refused."""
from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

from causal.errors import CausalError, UnknownVariable
from causal.expressions import MAX_DEPTH, Atom, Const, Expression, Gate
from causal.model import CausalModel

SKIPPED = {"label", "attributes"}
CONTAINERS = {"opsa-mef", "define-fault-tree", "define-component", "model-data"}
PLAIN = {"and": "and", "or": "or", "xor": "xor", "atleast": "atleast", "not": "not"}


class Element(NamedTuple):
    """A tag with its line."""

    tag: str
    attributes: dict[str, str]
    children: list[Element]
    line: int

    def name(self) -> str:
        """The attribute `name`; CausalError giving the line."""
        if not self.attributes.get("name"):
            raise CausalError(f"line {self.line}: <{self.tag}> needs a name")
        return self.attributes["name"]

    def parts(self) -> list[Element]:
        """The children that are not labels."""
        return [c for c in self.children if c.tag not in SKIPPED]


def parse(text: str) -> Element:
    """The tree of elements with line numbers."""
    parser = expat.ParserCreate()
    root = Element("", {}, [], 0)
    stack = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > MAX_DEPTH:
            raise CausalError(f"line {parser.CurrentLineNumber}: elements nested deeper than {MAX_DEPTH}")
        element = Element(tag, attributes, [], parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def entity(name: str, *rest: object) -> None:
        raise CausalError(f"line {parser.CurrentLineNumber}: the entity {name!r} is refused; the file must be plain")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = entity
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise CausalError(f"line {error.lineno}: not XML: {expat.ErrorString(error.code)}") from None
    return root.children[0]


def read(text: str) -> CausalModel:
    """Gates become formulas, house events constants, basic events inputs."""
    root = parse(text)
    if root.tag != "opsa-mef":
        raise CausalError(f"line {root.line}: <{root.tag}> is not an Open-PSA file, which starts with <opsa-mef>")
    gates, events, houses = _definitions(root)
    known = {*gates, *events, *houses}
    rules: dict[str, Expression | None] = {}
    for name, element in gates.items():
        parts = element.parts()
        if len(parts) != 1:
            raise CausalError(f"line {element.line}: gate {name!r} needs one formula, it has {len(parts)}")
        rules[name] = _formula(parts[0], known, rules)
    for name, element in houses.items():
        parts = element.parts()
        rules[name] = _constant(parts[0]) if parts else None
    for name in events:
        rules.setdefault(name, None)
    return CausalModel.from_parsed(rules, {}, ())


def _definitions(root: Element) -> tuple[dict[str, Element], dict[str, Element], dict[str, Element]]:
    gates: dict[str, Element] = {}
    events: dict[str, Element] = {}
    houses: dict[str, Element] = {}
    kinds = {"define-gate": gates, "define-basic-event": events, "define-house-event": houses}
    stack = [root]
    while stack:
        element = stack.pop()
        for child in element.children:
            if child.tag in CONTAINERS:
                stack.append(child)
            elif child.tag in kinds:
                name = child.name()
                for seen in kinds.values():
                    if name in seen:
                        raise CausalError(f"line {child.line}: {name!r} is defined twice, first in line {seen[name].line}")
                kinds[child.tag][name] = child
    return gates, events, houses


def _constant(element: Element) -> Expression:
    value = element.attributes.get("value", "").lower()
    if element.tag != "constant" or value not in ("true", "false", "1", "0"):
        raise CausalError(f"line {element.line}: <{element.tag}> must be <constant value='true'> or 'false'")
    return Const(value in ("true", "1"))


def _formula(element: Element, known: set[str], rules: dict[str, Expression | None]) -> Expression:
    tag, parts = element.tag, element.parts()
    if tag == "constant":
        return _constant(element)
    if tag in ("gate", "event", "basic-event", "house-event"):
        return Atom(_reference(element, known, rules), 1)
    kids = [_formula(p, known, rules) for p in parts]
    wanted = {"not": 1, "imply": 2, "iff": 2}.get(tag)
    if (wanted is not None and len(kids) != wanted) or not kids:
        raise CausalError(f"line {element.line}: <{tag}> needs {wanted or 'some'} argument(s), it has {len(kids)}")
    match tag:
        case "atleast":
            return Gate("atleast", tuple(kids), _number(element, "min", "k"))
        case "cardinality":
            low, high = _number(element, "min"), _number(element, "max")
            return Gate("and", (Gate("atleast", tuple(kids), low),
                                Gate("not", (Gate("atleast", tuple(kids), high + 1),))))
        case "nand" | "nor":
            return Gate("not", (Gate(tag[1:], tuple(kids)),)) if tag == "nor" else Gate("not", (Gate("and", tuple(kids)),))
        case "imply":
            return Gate("or", (Gate("not", (kids[0],)), kids[1]))
        case "iff":
            return Gate("not", (Gate("xor", tuple(kids)),))
        case _ if tag in PLAIN:
            return Gate(tag, tuple(kids))
    raise CausalError(f"line {element.line}: unknown formula <{tag}>")


def _number(element: Element, *names: str) -> int:
    text = next((element.attributes[n] for n in names if n in element.attributes), "")
    if not text.isdecimal() or len(text) > 9:
        raise CausalError(f"line {element.line}: <{element.tag}> needs {names[0]}='a whole number', got {text!r}")
    return int(text)


def _reference(element: Element, known: set[str], rules: dict[str, Expression | None]) -> str:
    """The name referred to; a path such as FT.G1 also by its last part. Undeclared basic events become inputs."""
    name = element.name()
    if name in known:
        return name
    if name.rpartition(".")[2] in known:
        return name.rpartition(".")[2]
    if element.tag in ("gate", "house-event") or element.attributes.get("type") in ("gate", "house-event"):
        raise UnknownVariable(name, f"line {element.line}", known)
    rules.setdefault(name, None)
    return name
