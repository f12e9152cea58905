"""Closed forms for a user's own windows. Float64 NumPy; letters as in `theory.window_information`."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["auc", "best_share", "extremal_windows", "inverse_participation_ratio", "lan_error", "lan_ok", "min_windows",
           "power_curve", "share_bound", "whiten"]


def inverse_participation_ratio(w: Any) -> float:
    """The count c = (sum w)^2 / sum w^2 of windows that share the information, in [1, m].

    `w (m,)` is the information of each window in any unit; from whitened amplitudes it is v**2, not |v|.
    ValueError if w is empty, not one-dimensional, negative, not finite, or zero throughout."""
    scaled = _scaled(_information(w))
    return float(np.clip(scaled.sum() ** 2 / (scaled @ scaled), 1.0, scaled.size))  # rounding may leave [1, m]


def share_bound(k: Any, c: Any, m: Any = None) -> Any:
    """The largest share of the information that any k windows can hold: sqrt(k/c), at most 1.

    With the number m of all windows, the best possible bound (k + sqrt(k (m-k) (m/c - 1))) / m. Both are 1 for k >= c.
    k and c may be fractional, and arrays that broadcast with m. A float for numbers, else an array.
    ValueError if k < 0, c < 1, m < 1, k > m, c > m, m is not whole, or anything is not finite."""
    k_, c_ = _numbers("k", k), _numbers("c", c)
    _need(k_ >= 0, "k", k, "at least 0")
    _need(c_ >= 1, "c", c, "at least 1: an inverse participation ratio lies in [1, m]")
    if m is None:
        return _plain(np.sqrt(np.minimum(1.0, k_ / c_)))
    m_ = _count("m", m)
    _need(k_ <= m_, "k", k, f"at most m={m!r}")
    _need(c_ <= m_, "c", c, f"at most m={m!r}")
    room = np.maximum(0.0, k_ * (m_ - k_) * ((m_ - c_) / c_))
    return _plain(np.where(k_ >= c_, 1.0, np.minimum(1.0, (k_ + np.sqrt(room)) / m_)))


def best_share(w: Any, k: Any) -> Any:
    """The share of the information that the k best windows hold.

    `w (m,)` as in `inverse_participation_ratio`; k an integer in [0, m], or an array of them (gives an array).
    ValueError for such a w, and for k not an integer or outside [0, m]."""
    scaled = _scaled(_information(w))
    ks = _integers("k", k, scaled.size)
    running = np.concatenate(([0.0], np.cumsum(np.sort(scaled)[::-1])))
    return _plain(running[ks] / running[-1])


def min_windows(share: Any, c: Any, m: Any) -> Any:
    """The least number of windows that can hold `share` of the information: the inverse of `share_bound(k, c, m)`.

    K = (c/2) (2f + l - sqrt(l^2 + 4 f l (1-f))), f = share, l = m/c - 1; real, not rounded; f^2 c as m grows.
    Necessary, not sufficient: k >= K leaves the share of a given w open. ValueError if share is outside (0, 1],
    c outside [1, m], or m not a whole number >= 1."""
    f, c_, m_ = _numbers("share", share), _numbers("c", c), _count("m", m)
    _need((f > 0) & (f <= 1), "share", share, "in (0, 1]")
    _need(c_ >= 1, "c", c, "at least 1: an inverse participation ratio lies in [1, m]")
    _need(c_ <= m_, "c", c, f"at most m={m!r}")
    spread = (m_ - c_) / c_
    root = np.sqrt(spread * (spread + 4 * f * (1 - f)))
    return _plain(2 * f * f * m_ / (2 * f + spread + root))  # the same root without the cancellation at large m / c


def auc(information: Any) -> Any:
    """Area under the ROC curve of the best classifier: Phi(sqrt(I / 2)) in the local asymptotic normality regime.

    There the log-likelihood ratio is normal with mean -I/2 and I/2 and variance I under the two hypotheses. A number or
    an array; infinity gives 1. ValueError for a negative or undefined I."""
    from scipy.special import erfc

    i = np.asarray(information, dtype=float)
    _need(i >= 0, "information", information, "at least 0")
    return _plain(0.5 * erfc(-0.5 * np.sqrt(i)))


def whiten(v: Any, cov: Any) -> np.ndarray:
    """The shift in coordinates of independent unit noise: cov^(-1/2) v with the symmetric root, shape (m,).

    Its squares are the w of every bound here; they sum to v' cov^-1 v. With correlated windows a whitened coordinate
    mixes windows: "k of them" no longer means k windows. ValueError if v is not finite or not one-dimensional, or cov
    is not (m, m), not symmetric, or not positive definite to working precision."""
    shift, matrix = np.asarray(v, dtype=float), np.asarray(cov, dtype=float)
    if shift.ndim != 1 or not shift.size or not np.isfinite(shift).all():
        raise ValueError(f"v={v!r} must be a vector of finite numbers")
    if matrix.shape != (shift.size, shift.size):
        raise ValueError(f"cov has shape {matrix.shape}; v has {shift.size} windows and needs {(shift.size,) * 2}")
    if not np.isfinite(matrix).all():
        raise ValueError("cov must be finite")
    scale = np.abs(matrix).max()
    skew = np.abs(matrix - matrix.T).max()
    if skew > 1e-12 * scale:
        raise ValueError(f"cov must be symmetric; it differs from its transpose by {skew:.3g}")
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values[0] <= shift.size * np.finfo(float).eps * scale:
        raise ValueError(f"cov must be positive definite; its smallest eigenvalue is {values[0]:.3g}")
    return np.asarray(vectors @ ((vectors.T @ shift) / np.sqrt(values)))


def power_curve(w: Any, n: float, ks: Any) -> np.ndarray:
    """AUC of the best classifier on the ks[i] most informative windows at depth n, for each i.

    `w (m,)` is the information of each window at depth 1, so that entry i is auc(n * sum of the ks[i] largest w).
    ValueError as in `best_share`, and for n negative or not finite."""
    information = _information(w)
    counts = np.atleast_1d(_integers("ks", ks, information.size))
    depth = float(_numbers("n", n))
    if depth < 0:
        raise ValueError(f"n={n!r} must be at least 0")
    running = np.concatenate(([0.0], np.cumsum(np.sort(information)[::-1])))
    return np.asarray(auc(depth * running[counts]))


def extremal_windows(k: int, c: float, m: int) -> np.ndarray:
    """The w (m,), summing to 1, whose first k windows hold the largest share that c allows (two values).

    Needs k <= c <= m, k an integer in [1, m]; at k = m every w is flat. ValueError otherwise."""
    held = int(_integers("k", k, int(_count("m", m))))
    if not 1 <= held <= c:
        raise ValueError(f"k={k!r} must lie in [1, c={c!r}]; beyond c, k windows can hold everything")
    share = share_bound(held, c, m)
    rest = (1 - share) / (m - held) if m > held else 0.0
    return np.concatenate((np.full(held, share / held), np.full(m - held, rest)))


def lan_error(mean: Any, shift: Any) -> float:
    """Leading error of `auc` for Poisson windows: exact AUC minus Phi(sqrt(I/2)), first order in relative shifts.

    Counts of mean `mean (m,)` under one hypothesis, `mean + shift` under the other; r = shift/mean, I = sum mean r^2,
    T = sum mean r^3; the error is -phi(z) z T / (4 I), z = sqrt(I/2), hence at most 0.0605 max |r|. What matters is the
    RELATIVE SHIFT of a window, not its mean count: many windows of mean 0.5 are well described, one strong window of
    mean 50 less so. ValueError if mean is not positive, shift <= -mean, shapes differ, or all shifts are 0."""
    r, means = _relative_shift(mean, shift)
    information, third = float(means @ r**2), float(means @ r**3)
    z2 = information / 2
    return float(-np.exp(-z2 / 2) / np.sqrt(2 * np.pi) * np.sqrt(z2) * third / (4 * information))


def lan_ok(mean: Any, shift: Any, *, tolerance: float = 0.01) -> bool:
    """Whether `auc` is right to about `tolerance` for Poisson windows: 0.0605 max |shift/mean| <= tolerance.

    0.0605 = max over z of z phi(z) / 4, the worst case of `lan_error`. ValueError as there, or if tolerance <= 0."""
    if not tolerance > 0:
        raise ValueError(f"tolerance={tolerance!r} must be positive")
    r, _ = _relative_shift(mean, shift)
    return bool(np.abs(r).max() * np.exp(-0.5) / np.sqrt(32 * np.pi) <= tolerance)


def _relative_shift(mean: Any, shift: Any) -> tuple[np.ndarray, np.ndarray]:
    means, shifts = np.atleast_1d(_numbers("mean", mean)), np.atleast_1d(_numbers("shift", shift))
    if means.shape != shifts.shape or means.ndim != 1:
        raise ValueError(f"shift has shape {shifts.shape}, mean {means.shape}; both must be vectors of one length")
    _need(means > 0, "mean", mean, "positive")
    _need(shifts > -means, "shift", shift, "greater than -mean: a mean count stays positive")
    if not shifts.any():
        raise ValueError(f"shift={shift!r} must not be zero throughout")
    return shifts / means, means


def _information(w: Any) -> np.ndarray:
    found = np.asarray(w, dtype=float)
    if found.ndim != 1 or not found.size:
        raise ValueError(f"w has shape {found.shape}; it must be a vector with at least one window")
    if not np.isfinite(found).all():
        raise ValueError(f"w={w!r} must be finite")
    if (found < 0).any():
        raise ValueError(f"w has the negative entry {found.min():g}; information is at least 0 (amplitudes: pass v**2)")
    if not found.any():
        raise ValueError("w is zero throughout; at least one window must carry information")
    return found


def _scaled(w: np.ndarray) -> np.ndarray:
    """w by a power of two, so that its squares neither overflow nor underflow; no digit is lost."""
    return np.ldexp(w, -int(np.frexp(w.max())[1]))


def _numbers(name: str, value: Any) -> np.ndarray:
    found = np.asarray(value, dtype=float)
    _need(np.isfinite(found), name, value, "finite")
    return found


def _count(name: str, value: Any) -> np.ndarray:
    found = _numbers(name, value)
    _need((found >= 1) & (found == np.floor(found)), name, value, "a whole number, at least 1")
    return found


def _integers(name: str, value: Any, m: int) -> np.ndarray:
    found = np.asarray(value)
    if found.dtype.kind not in "iu":
        try:
            found = np.asarray(np.vectorize(operator.index, otypes=[int])(found))
        except (TypeError, ValueError):
            raise ValueError(f"{name}={value!r} must be an integer in [0, m={m}]") from None
    _need((found >= 0) & (found <= m), name, value, f"an integer in [0, m={m}]")
    return found


def _need(true: Any, name: str, value: Any, what: str) -> None:
    if not np.all(true):  # nan compares false, so it is refused too
        raise ValueError(f"{name}={value!r} must be {what}")


def _plain(found: Any) -> Any:
    return float(found) if np.ndim(found) == 0 else np.asarray(found)
