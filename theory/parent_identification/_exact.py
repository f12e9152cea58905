"""Exact tests of admissibility: a differential one that quantifies over all functions, and cumulants of linear residuals."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

__all__ = ["anm_condition", "anm_conditions", "linear_witness", "refute_at"]


def anm_condition(p_yyx: Any, p_yy: Any, p_yx: Any, p_yyy: Any) -> Any:
    """D = p_yyx p_yy - p_yx p_yyy = p_yy^2 d/dy (p_yx / p_yy), from derivatives of the log density."""
    return p_yyx * p_yy - p_yx * p_yyy


def anm_conditions(log_density: Any, y: Any, xs: Sequence[Any]) -> list[Any]:
    """D_i for each x_i: all vanish identically iff y - f(x) is independent of x for some f.

    `log_density` is log p(y, x) up to a constant, three times differentiable. Vanishing is necessary on any support; it is
    sufficient where x ranges over a simply connected open set, y over the line, and the second derivative in y is nowhere
    0. A flat log density (uniform noise) makes every D vanish and says nothing. Hoyer et al. (2008) for one x.

    >>> from sympy import symbols
    >>> x, y = symbols("x y")
    >>> anm_conditions(-(y - x**3)**4 - x**2, y, [x])
    [0]
    """
    from sympy import Symbol, diff, simplify, sympify

    p = sympify(log_density)
    if not isinstance(y, Symbol) or y not in p.free_symbols:
        raise ValueError(f"y={y!r} must be a Symbol that the log density depends on")
    if not xs or not all(isinstance(x, Symbol) for x in xs):
        raise ValueError(f"xs={xs!r} must be one or more Symbols")
    return [simplify(anm_condition(diff(p, y, y, x), diff(p, y, y), diff(p, y, x), diff(p, y, y, y))) for x in xs]


def refute_at(condition: Any, point: Mapping[Any, Any]) -> bool:
    """Whether a condition is not 0 at a point: then no function makes the set admissible. Exact.

    ValueError if the point leaves symbols free."""
    from sympy import simplify, sympify

    value = sympify(condition).subs(dict(point))
    if value.free_symbols:
        raise ValueError(f"point={dict(point)!r} leaves {sorted(map(str, value.free_symbols))} free")
    return not bool(simplify(value) == 0)


def linear_witness(B: Sequence[Sequence[Any]], cumulants: Mapping[int, Sequence[Any]], target: int, columns: Sequence[int], *,
                   order: int = 3) -> dict[tuple[int, ...], Any]:
    """Joint cumulants of the least-squares residual R of `target` on `columns` with these columns, of one order.

    x = B x + e, acyclic, independent e with cumulants[k][i] = k-th cumulant of e_i (k = 2 and k = order). Keys are sorted
    tuples of variables, `target` standing for R; the keys have at least one R and one column. One value that is not 0
    proves that R depends on the columns. Numbers or symbols. ValueError for another shape, a target among the columns, or
    dependent columns.

    >>> chain = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]  # x_0 -> x_1 -> x_2
    >>> exponential = {2: [1, 1, 1], 3: [2, 2, 2]}
    >>> {str(k): str(v) for k, v in linear_witness(chain, exponential, 1, [0, 2]).items() if v}
    {'(1, 1, 2)': '1'}
    """
    from sympy import Matrix, cancel, eye, sympify

    d = len(B)
    mixing = Matrix(B)
    if mixing.shape != (d, d) or any(len(cumulants.get(k, ())) != d for k in (2, order)):
        raise ValueError(f"B has shape {mixing.shape}; need (d, d), and cumulants[2], cumulants[{order}] of length d")
    if target in columns or not columns or not all(0 <= c < d for c in (*columns, target)):
        raise ValueError(f"target={target!r} and columns={list(columns)!r} must be different numbers below {d}")
    mixing = (eye(d) - mixing).inv()
    covariance = mixing * Matrix.diag(*cumulants[2]) * mixing.T
    chosen = list(columns)
    gram = covariance.extract(chosen, chosen)
    if gram.det() == 0:
        raise ValueError(f"columns={chosen} are linearly dependent")
    weights = gram.LUsolve(covariance.extract(chosen, [target]))
    rows = {c: mixing.row(c) for c in chosen}
    rows[target] = mixing.row(target) - weights.T * mixing.extract(chosen, list(range(d)))
    found = {}
    for key in combinations_with_replacement(sorted(rows), order):
        if target in key and any(k != target for k in key):
            total = sympify(0)
            for e, kappa in enumerate(cumulants[order]):
                term = sympify(kappa)
                for k in key:
                    term *= rows[k][e]
                total += term
            found[key] = cancel(total)
    return found
