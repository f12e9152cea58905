"""Data as JSON: values by what they hold, objects by their class and state, and a mark of its own for anything else."""
from __future__ import annotations

import copyreg
import hashlib
import json
import pickle
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from proofs_checks.harness.syntax import INSTALLED, ROOMS

__all__ = ["Seen", "describe_data", "found_by_name", "is_ours"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_CONTAINERS = (tuple, list, set, frozenset, dict, MappingProxyType)
_HELD = (int, float, complex, str, bytes, bytearray, tuple, list, set, frozenset, dict)
_PROCESS = secrets.token_hex(8)  # marks what cannot be described: equal to nothing of another process
_MARKED: dict[int, tuple[str, Any]] = {}  # id -> (its mark, the object, kept alive so that the id stays its own)

Describe = Callable[[Any, "Seen"], Any]


class Seen:
    """What one description met so far: objects, parameters of functions, and names that arguments were given by."""

    def __init__(self) -> None:
        self.objects: dict[int, tuple[int, Any]] = {}  # id -> (order of first sight, the object, kept alive)
        self.count = 0
        self.parameters: list[list[str]] = []
        self.keywords: set[str] = set()

    def number(self, value: Any) -> int | None:
        """When an object was first seen, if it was."""
        return self.objects[id(value)][0] if id(value) in self.objects else None

    @contextmanager
    def inside(self, value: Any) -> Iterator[None]:
        """While an object is described. Data are then forgotten, being told by what they hold: two equal lists and one list
        twice are the same."""
        self.objects[id(value)] = (self.count, value)
        self.count += 1
        yield
        if type(value) in _CONTAINERS:
            del self.objects[id(value)]

    def names_that_count(self) -> list[Any]:
        """Parameters of functions, in order, that some call may mean by their name."""
        every = "**" in self.keywords
        return [[i, j, name] for i, names in enumerate(self.parameters) for j, name in enumerate(names)
                if every or name in self.keywords]


def describe_data(value: Any, seen: Seen, describe: Describe) -> Any:
    """A value that is no function, class or module."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if type(value) in _CONTAINERS:
        return _container(value, seen, describe)
    if kind.startswith("sympy.") and _of_sympy(value):
        from sympy import srepr

        return ["sympy", srepr(value)]
    if kind.startswith("numpy.") and (found := _of_numpy(value, seen, describe)) is not None:
        return found
    if kind.startswith("hypothesis."):  # a strategy changes while it is used; the cases that it gave are hashed elsewhere
        return [kind, _ADDRESS.sub("", repr(value))]
    if is_ours(type(value)):
        held = [_held(base, value, seen, describe) for base in _HELD if isinstance(value, base)][:1]
        return [kind, _state(value, seen, describe), *held, describe(type(value), seen)]
    return _rebuilt(value, kind, seen, describe)


def _container(value: Any, seen: Seen, describe: Describe) -> Any:
    if isinstance(value, dict | MappingProxyType):  # in their order, which loops see
        return ["map", [[describe(k, seen), describe(v, seen)] for k, v in value.items()]]
    if isinstance(value, tuple | list):
        return [type(value).__name__, *(describe(v, seen) for v in value)]
    alone = sorted(value, key=lambda v: json.dumps(describe(v, Seen())))  # the order of a set differs between processes
    return [type(value).__name__, *(describe(v, seen) for v in alone)]


def _held(base: type, value: Any, seen: Seen, describe: Describe) -> Any:
    """What an object of ours holds as a number, a text or a container."""
    return describe(dict(dict.items(value)) if base is dict else bytes(value) if base is bytearray else base(value), seen)


def _state(value: Any, seen: Seen, describe: Describe) -> Any:
    """The attributes of an object, those in slots too, by name."""
    slots = {name: getattr(value, name) for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)}
    return [[k, describe(v, seen)] for k, v in sorted({**slots, **getattr(value, "__dict__", {})}.items())]


def _slots(kind: type) -> list[str]:
    found = vars(kind).get("__slots__", ())
    names = [found] if isinstance(found, str) else list(found)
    return [f"_{kind.__name__.lstrip('_')}{n}" if n.startswith("__") and not n.endswith("__") else n
            for n in names if n not in ("__dict__", "__weakref__")]


def _of_sympy(value: Any) -> bool:
    from sympy import Basic, MatrixBase

    return isinstance(value, Basic | MatrixBase)


def _of_numpy(value: Any, seen: Seen, describe: Describe) -> Any:
    """An array or a scalar; None for other objects of numpy, and for subclasses, which may hold more."""
    import numpy as np

    if type(value) is not np.ndarray and not isinstance(value, np.generic):
        return None
    if value.dtype.hasobject:  # the bytes are addresses
        return ["array", describe(value.dtype, seen), list(value.shape), describe(value.tolist(), seen)]
    return ["array", describe(value.dtype, seen), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]


def _rebuilt(value: Any, kind: str, seen: Seen, describe: Describe) -> Any:
    """An object of a library by what `pickle` would rebuild it from, each part described in turn."""
    try:
        known = copyreg.dispatch_table.get(type(value))
        parts = known(value) if known else value.__reduce_ex__(4)
    except Exception:  # it cannot be taken apart, for whatever reason
        return _marked(value, kind)
    if isinstance(parts, str):  # the name of a global, such as a function of numpy
        module = pickle.whichmodule(value, parts)  # type: ignore[attr-defined]  # absent from the stubs
        named = getattr(sys.modules.get(module), parts, None)
        return ["name", kind, module.split(".")[0], parts] if named is value else _marked(value, kind)
    maker, arguments, *more = parts
    rest = [list(m) if isinstance(m, Iterator) else m for m in more]
    return ["rebuilt", kind, describe(maker, seen), describe(arguments, seen), *(describe(m, seen) for m in rest)]


def _marked(value: Any, kind: str) -> Any:
    """A description that only this object has, and only in this process."""
    mark = _MARKED.setdefault(id(value), (f"{_PROCESS}/{len(_MARKED)}", value))[0]
    return ["unknown", kind, mark]


def found_by_name(value: Any) -> bool:
    """Whether a function or class is the one that its module has under its name."""
    found: Any = sys.modules.get(value.__module__ or "builtins")
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def is_ours(value: Any) -> bool:
    """Whether the code of `value` may change under us: the rooms, and whatever is not an installed library."""
    module = getattr(value, "__module__", None) or "builtins"
    if module.split(".")[0] in ROOMS:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module not in sys.builtin_module_names and module not in sys.stdlib_module_names
    return not file.startswith(INSTALLED)
