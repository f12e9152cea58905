"""What the figures' panels have in common."""
from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any

__all__ = ["finish"]


def finish(panels: Iterable[Any]) -> None:
    """A light grid behind the data, no frame above and to the right, and titles on the left with letters (a), (b), ..."""
    for letter, panel in zip(ascii_lowercase, panels, strict=False):
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(True, color="#e6e6e6", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.set_title(f"({letter})  {panel.get_title()}", loc="left", fontsize=11)
        panel.set_title("")
