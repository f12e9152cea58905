"""A figure's SVG as part of a page: allowed elements only, ids of its own, nothing from outside."""
from __future__ import annotations

import html
import re
from xml.etree import ElementTree

__all__ = ["inline_svg"]

NAMESPACE, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
TAGS = frozenset(["svg", "g", "defs", "path", "use", "text", "tspan", "rect", "circle", "ellipse", "line", "polyline",
                  "polygon", "clipPath", "image", "linearGradient", "radialGradient", "stop", "marker", "pattern",
                  "mask", "symbol"])
ATTRIBUTE = re.compile(r"[a-zA-Z][a-zA-Z-]*")
INTERNAL = re.compile(r"url\(\s*#([^)\s]+)\s*\)")
LONG = re.compile(r"(\.\d\d)\d+")  # hundredths of a pixel are enough
EVERYTHING = re.compile(r"^\s*\*\s*\{([^{}]*)\}\s*$")  # matplotlib's style sheet: one rule for all, put on the root


def inline_svg(text: str, prefix: str, label: str) -> str | None:
    """The figure as an <svg> element with every id prefixed, or None if it is not SVG. `label` is read aloud."""
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return None
    if root.tag != f"{NAMESPACE}svg":
        return None
    box = root.get("viewBox", "")
    style = next((m[1] for s in root.iter(f"{NAMESPACE}style") if (m := EVERYTHING.match(s.text or ""))), "")
    inner = "".join(_write(child, prefix) for child in root)
    attributes = f' viewBox="{html.escape(box)}"' if box else ""
    width = re.match(r"[\d.]+", root.get("width", ""))
    size = f"max-width:{float(width[0]) * 4 / 3:.0f}px;" if width else ""  # points to pixels
    safe = style.strip() if "url" not in style and "@" not in style else ""
    return f'<svg role="img" aria-label="{html.escape(label)}"{attributes} style="{html.escape(size + safe)}">{inner}</svg>'


def _write(part: ElementTree.Element, prefix: str) -> str:
    tag = part.tag.removeprefix(NAMESPACE) if isinstance(part.tag, str) else ""
    if tag not in TAGS:
        return ""
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in _attributes(part, prefix))
    text = html.escape(part.text) if part.text and tag in ("text", "tspan") else ""
    children = "".join(_write(child, prefix) + (html.escape(child.tail) if child.tail and tag in ("text", "tspan") else "")
                       for child in part)
    return f"<{tag}{attributes}>{text}{children}</{tag}>" if text or children else f"<{tag}{attributes}/>"


def _attributes(part: ElementTree.Element, prefix: str) -> list[tuple[str, str]]:
    """What is kept of an element's attributes, with references to the new ids."""
    kept = []
    for name, value in part.attrib.items():
        name = name.removeprefix(XLINK)
        if not ATTRIBUTE.fullmatch(name) or name.lower().startswith("on"):
            continue
        if name == "id":
            value = f"{prefix}-{value}"
        elif name == "href":
            if value.startswith("#"):
                value = f"#{prefix}-{value[1:]}"
            elif not value.startswith("data:image/png;base64,"):
                continue
        elif "url(" in value:
            value = INTERNAL.sub(lambda m: f"url(#{prefix}-{m[1]})", value)
            if re.search(r"url\((?!#)", value):
                continue
        elif name in ("d", "points"):
            value = LONG.sub(r"\1", " ".join(value.split()))
        kept.append((name, value))
    return kept
