"""Which columns are worth a search: one after the other, those that say most about what the ones before leave unexplained.

A parent cannot be separated from y by any other columns, so that whatever stands already, the residual still depends on the
parents that are missing. It may depend on one of them only in products with another (y = x_1 x_2 with centred independent
x's), or only once the other columns are held fixed (parents that a common cause moves so that their parts of y cancel),
which is why correlations with y are not enough."""
from __future__ import annotations

import numpy as np

from causal.indrm._problem import RANKING_LANDMARKS, RANKING_LENGTHS, Problem
from causal.indrm._smooth import kernel_smoothers

RIDGE = 0.05  # of a column's variance
CLIPPED = 0.005  # share of the residuals at either end that is moved to the quantile


def screened(problem: Problem, keep: int) -> list[int]:
    """Numbers of at most `keep` columns, in increasing order."""
    columns, y, root = problem.columns, problem.y, problem.root
    if len(columns) <= keep:
        return list(range(len(columns)))
    seen = _Seen(problem)
    chosen: list[int] = []
    residual = y
    while len(chosen) < keep:
        chosen += seen.next(residual, chosen)[: keep - len(chosen)]
        part = problem.part(tuple(sorted(chosen)))
        residual = kernel_smoothers(part, y, RANKING_LANDMARKS, problem.sample, RANKING_LENGTHS, root).left_out(y)
    return sorted(chosen)


class _Seen:
    """What is looked at: scores, their second and third powers, what the others do not explain of them, products."""

    def __init__(self, problem: Problem) -> None:
        widths = [c.scores.shape[1] for c in problem.columns]
        self.weights = 1.0 if problem.root is None else problem.root**2
        self.starts = np.concatenate([[0], np.cumsum(widths)[:-1]])  # of the columns' scores
        first = self.first = _unit(np.column_stack([c.scores for c in problem.columns]))
        numeric = np.repeat(np.asarray(widths) == 1, widths)  # not indicators
        second = np.where(numeric, _unit(first**2 - 1), 0.0)
        third = first**3 - first * np.mean(first**4, axis=0) - second * np.mean(first**3 * second, axis=0)
        self.powers = second, np.where(numeric, _unit(third), 0.0)
        precision = np.linalg.inv(first.T @ first / len(first) + RIDGE * np.eye(first.shape[1]))
        self.alone = precision / np.sqrt(np.diag(precision))[:, None]

    def next(self, residual: np.ndarray, chosen: list[int]) -> list[int]:
        """The column of most evidence, or two whose product has more, counted against the number of pairs."""
        n, d = len(residual), len(self.starts)
        goal = _unit(np.clip(residual, *np.quantile(residual, [CLIPPED, 1 - CLIPPED]))) * self.weights
        linear = self.first.T @ goal / n
        evidence = np.maximum(linear**2, (self.alone @ linear) ** 2) + sum((p.T @ goal / n) ** 2 for p in self.powers)
        evidence = np.maximum.reduceat(evidence, self.starts)
        products = (self.first.T @ (self.first * goal[:, None]) / n) ** 2
        products = np.maximum.reduceat(np.maximum.reduceat(products, self.starts, axis=0), self.starts, axis=1)
        np.fill_diagonal(products, 0.0)
        if chosen:
            evidence += (products[chosen] + self._bent(goal, chosen)).max(axis=0)
            evidence[chosen], products[chosen], products[:, chosen] = -1.0, -1.0, -1.0
        pair = np.unravel_index(np.argmax(products), products.shape)
        if products[pair] - 2 * np.log(d) / n > evidence.max():
            return sorted(int(j) for j in pair)
        return [int(np.argmax(evidence))]

    def _bent(self, goal: np.ndarray, chosen: list[int]) -> np.ndarray:
        """Products of a score and a second power, one of them of a chosen column: chosen x columns."""
        at, n, second = self.starts[chosen], len(goal), self.powers[0]
        straight, bent = (goal[:, None] * m[:, at] for m in (self.first, second))
        found = (straight.T @ second / n) ** 2 + (bent.T @ self.first / n) ** 2
        return np.asarray(np.maximum.reduceat(found, self.starts, axis=1))


def _unit(values: np.ndarray) -> np.ndarray:
    """Of mean 0 and variance 1; constants stay 0."""
    centred = values - values.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), 1e-12))
