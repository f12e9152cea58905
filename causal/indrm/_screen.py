"""Which columns are worth a search: those that say something about y alone, in pairs, or given others.

A parent cannot be separated from y by any other columns, so it says something given all of them; it may say nothing on its
own (y = x_1 x_2 with centred independent x's), which is why correlations with y are not enough."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causal.indrm._smooth import Column

WIDE = 60  # columns that go on to the forest
PAIR_COLUMNS = 20
GIVEN_COLUMNS = 10  # beyond these
RIDGE = 0.05  # of a column's variance


def screened(columns: Sequence[Column], y: np.ndarray, keep: int, seed: int, weights: np.ndarray | None = None) -> list[int]:
    """Numbers of at most `keep` columns, in increasing order."""
    if len(columns) <= keep:
        return list(range(len(columns)))
    wide = sorted(_wide(columns, y)) if len(columns) > WIDE else list(range(len(columns)))
    importance = _forest([columns[j] for j in wide], y, seed, weights)
    order = np.argsort(-importance, kind="stable")
    return sorted(wide[i] for i in order[:keep])


def _wide(columns: Sequence[Column], y: np.ndarray) -> set[int]:
    """The columns of largest dependence on y alone, and those of the largest products."""
    first = np.column_stack([c.scores[:, 0] for c in columns])
    first = (first - first.mean(axis=0)) / np.maximum(first.std(axis=0), 1e-12)
    n = len(y)
    ranks = 2 * (np.argsort(np.argsort(y, kind="stable"), kind="stable") + 0.5) / n - 1
    goals = np.column_stack([ranks * np.sqrt(3), (3 * ranks**2 - 1) * np.sqrt(5) / 2])
    second = first**2 - 1
    second = second / np.maximum(second.std(axis=0), 1e-12)
    alone = np.sum((goals.T @ first / n) ** 2 + (goals.T @ second / n) ** 2, axis=0)
    order = np.argsort(-alone, kind="stable")
    chosen = set(order[:WIDE - PAIR_COLUMNS].tolist())
    pairs = np.abs(first.T @ (first * goals[:, :1])) / n
    pairs[np.diag_indices_from(pairs)] = 0.0
    best = np.argsort(-pairs.max(axis=0), kind="stable")
    for j in best:
        if len(chosen) >= WIDE:
            break
        chosen.add(int(j))
    return chosen | _given_others(first, goals[:, 0])


def _given_others(first: np.ndarray, goal: np.ndarray) -> set[int]:
    """The columns of largest coefficients, in standard errors, in a ridge regression on all: parents whose parts of y cancel
    when a common cause moves them say nothing alone, nor in products of two."""
    n = len(goal)
    ridge = np.linalg.inv(first.T @ first / n + RIDGE * np.eye(first.shape[1]))
    scores = np.abs(ridge @ (first.T @ goal)) / np.sqrt(np.diag(ridge))
    return set(np.argsort(-scores, kind="stable")[:GIVEN_COLUMNS].tolist())


def _forest(columns: Sequence[Column], y: np.ndarray, seed: int, weights: np.ndarray | None) -> np.ndarray:
    """Impurity importances of extremely randomised trees, added up over the scores of a column."""
    from sklearn.ensemble import ExtraTreesRegressor

    parts = np.column_stack([c.scores for c in columns])
    owner = np.concatenate([np.full(c.scores.shape[1], j) for j, c in enumerate(columns)])
    trees = ExtraTreesRegressor(200, min_samples_leaf=5, max_features=0.5, random_state=seed, n_jobs=1)
    importance = trees.fit(parts, np.clip(y, -4, 4), sample_weight=weights).feature_importances_
    return np.bincount(owner, importance, minlength=len(columns))
