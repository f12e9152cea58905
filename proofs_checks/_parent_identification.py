"""Finite models with known parents, and their residuals by the definition, written apart from `causal` and `theory`."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from random import Random
from typing import Any

F = Fraction
RANDOM_KINDS = ((), (0,), (1,), (0, 1))  # parents of the first four kinds
KINDS = (*range(4), "noise", "copy", "unit")


@dataclass(frozen=True, eq=False)
class Model:
    """Atoms (probability, columns, noise); y = f(parents) + noise is kept beside."""

    atoms: tuple[tuple[Fraction, tuple[int, ...], Fraction, Fraction], ...]  # probability, x, y, n
    parents: frozenset[int]
    descendants: frozenset[int]

    @property
    def joint(self) -> dict[tuple[Any, ...], Fraction]:
        """The law of (x_0, ..., x_{d-1}, y)."""
        law: dict[tuple[Any, ...], Fraction] = {}
        for p, x, y, _ in self.atoms:
            law[(*x, y)] = law.get((*x, y), F(0)) + p
        return law

    @property
    def others(self) -> tuple[int, ...]:
        """Non-descendants."""
        return tuple(j for j in range(len(self.atoms[0][1])) if j not in self.descendants)

    def noise(self) -> dict[Fraction, Fraction]:
        """The law of N."""
        return tally((n, p) for p, _, _, n in self.atoms)

    def residual(self, chosen: Iterable[int]) -> dict[tuple[int, ...], dict[Fraction, Fraction]]:
        """Law of Y - E[Y | x_S] in each cell x_S."""
        cells: dict[tuple[int, ...], list[tuple[Fraction, Fraction]]] = {}
        for p, x, y, _ in self.atoms:
            cells.setdefault(tuple(x[j] for j in sorted(chosen)), []).append((y, p))
        found = {}
        for cell, values in cells.items():
            mass = sum(p for _, p in values)
            mean = sum((y * p for y, p in values), F(0)) / mass
            found[cell] = tally((y - mean, p / mass) for y, p in values)
        return found

    def admissible(self, chosen: Iterable[int]) -> Fraction | None:
        """The residual's variance if its law is the same in every cell."""
        laws = list(self.residual(chosen).values())
        return sum((r * r * p for r, p in laws[0].items()), F(0)) if all(law == laws[0] for law in laws) else None


def tally(pairs: Iterable[tuple[Any, Fraction]]) -> dict[Any, Fraction]:
    """Probabilities of equal values added up."""
    found: dict[Any, Fraction] = {}
    for value, p in pairs:
        found[value] = found.get(value, F(0)) + p
    return found


def subsets(items: Iterable[int]) -> list[frozenset[int]]:
    """All of them."""
    pool = sorted(items)
    return [frozenset(c) for size in range(len(pool) + 1) for c in combinations(pool, size)]


@lru_cache(maxsize=8192)
def model(kind: int, index: int) -> Model:
    """Model number `index` of a kind: 0 to 3 are random with parents {}, {0}, {1}, {0, 1}; 4: the noise of Y is seen in
    column 1; 5: column 1 is a copy of the parent; 6: column 2 is a function of Y. All probabilities are rational, with
    weights 1 to 6, and everything that may depend on something does."""
    source = Random(f"{kind}/{index}")
    parents = RANDOM_KINDS[kind] if kind < 4 else (0,)
    f = _function(source, len(parents))
    hidden, noise = _law(source), _law(source)
    first = {h: _law(source) for h in (0, 1)}
    second = {key: _law(source) for key in product((0, 1), repeat=2)}
    child: dict[Any, list[Fraction]] = {}
    atoms = []
    for h, x0, x1, n in product((0, 1), repeat=4):
        if kind == 5 and x1 != x0:
            continue
        p = hidden[h] * first[h][x0] * noise[n] * (F(1) if kind == 5 else second[x0, h][x1])
        part = F(n) + (2 * x1 if kind == 4 else 0)
        x = (x0, x1)
        y = F(f[tuple(x[j] for j in parents)]) + part
        for x2 in (0, 1):
            tail = child.setdefault((y, h), _law(source))[x2]
            if kind == 6:
                if x2 == 0:
                    atoms.append((p, (*x, int(2 * y)), y, part))
            else:
                atoms.append((p * tail, (*x, x2), y, part))
    return Model(tuple(atoms), frozenset(parents), frozenset({2}))


def widened(m: Model) -> Model:
    """With one more non-descendant: a noisy copy of column 0."""
    atoms = tuple((p * q, (*x, z), y, n) for p, x, y, n in m.atoms for z, q in ((x[0], F(2, 3)), (1 - x[0], F(1, 3))))
    return Model(atoms, m.parents, m.descendants)


def _law(source: Random) -> list[Fraction]:
    a, b = source.randint(1, 6), source.randint(1, 6)
    return [F(a, a + b), F(b, a + b)]


def _function(source: Random, arity: int) -> dict[tuple[int, ...], int]:
    """A function to {0, ..., 3} that depends on every argument."""
    keys = list(product((0, 1), repeat=arity))
    while True:
        f = {key: source.randint(0, 3) for key in keys}
        if all(any(f[key] != f[(*key[:i], 1 - key[i], *key[i + 1:])] for key in keys) for i in range(arity)):
            return f


@lru_cache(maxsize=8192)
def independent_noise(kind: int, index: int) -> bool:
    """N is independent of all non-descendants jointly."""
    m = model(kind, index)
    both = tally(((tuple(x[j] for j in m.others), n), p) for p, x, _, n in m.atoms)
    noise, rest = m.noise(), tally((tuple(x[j] for j in m.others), p) for p, x, _, _ in m.atoms)
    return all(both.get((x, n), F(0)) == p * q for x, p in rest.items() for n, q in noise.items())


@lru_cache(maxsize=8192)
def minimality(kind: int, index: int) -> bool:
    """f(parents) is no function of non-descendants that lack a parent."""
    m = model(kind, index)
    for chosen in subsets(m.others):
        if not m.parents <= chosen:
            values: dict[Any, set[Fraction]] = {}
            for _, x, y, n in m.atoms:
                values.setdefault(tuple(x[j] for j in sorted(chosen)), set()).add(y - n)
            if all(len(v) == 1 for v in values.values()):
                return False
    return True


@lru_cache(maxsize=8192)
def no_backward(kind: int, index: int) -> bool:
    """No admissible set with a descendant comes before the parents, or ties with them."""
    m = model(kind, index)
    noise = m.noise()
    mean = sum((n * p for n, p in noise.items()), F(0))
    bar = sum(((n - mean) ** 2 * p for n, p in noise.items()), F(0)), len(m.parents)
    for chosen in subsets(range(3)):
        if chosen & m.descendants and (variance := m.admissible(chosen)) is not None and (variance, len(chosen)) <= bar:
            return False
    return True


def coins(*equations: str, seen: str) -> dict[tuple[Any, ...], Fraction]:
    """The law of the columns `seen` (the target last) where names not given by an equation are fair coins."""
    rules = dict(e.split("=") for e in equations)
    free = sorted({c for text in rules.values() for c in text.replace("^", " ").replace("+", " ").replace("*", " ").split()
                   if c.isidentifier()} - set(rules))
    law: dict[tuple[Any, ...], Fraction] = {}
    for values in product((0, 1), repeat=len(free)):
        state: dict[str, Any] = dict(zip(free, values, strict=True))
        for name, text in rules.items():
            state[name] = eval(text, {"__builtins__": {}}, state)
        key = tuple(state[name] for name in seen.split())
        law[key] = law.get(key, F(0)) + F(1, 2 ** len(free))
    return law


LAWS = {
    "instrument": (coins("X=Z+H+M", "Y=X+H+N", seen="Z X Y"), ("Z", "X")),
    "sum_column": (coins("X3=X1+X2", "Y=X1+X2+N", seen="X1 X2 X3 Y"), ("X1", "X2", "X3")),
    "copy": (coins("X2=X1", "Y=X1+N", seen="X1 X2 Y"), ("X1", "X2")),
    "noise_free_child": (coins("Y=X1+N", "X2=2*Y", seen="X1 X2 Y"), ("X1", "X2")),
    "seen_confounder": (coins("Z=H", "Y=X+H+E", seen="X Z Y"), ("X", "Z")),
    "xor_child": (coins("Y=N+0", "X=Y^H", seen="X Y"), ("X",))}
