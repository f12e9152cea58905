"""Closed forms for one's own router: gradients, their bound, the rate of the dense limit, a kernel."""
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["adam_carry_over", "arcsine_kernel", "dense_rate", "gates", "logit_gradient", "logit_gradient_bound"]

KINDS = ("softmax", "sigmoid", "topk_renorm", "topk_masked")


def gates(logits: Any, *, gate: str = "softmax", active: int | None = None) -> np.ndarray:
    """Gates of `logits (samples, E)`, of the same shape; ties are broken towards the first expert.

    softmax; sigmoid 2/E sigma(r); topk_renorm, a softmax over the `active` largest; topk_masked, a softmax over all that is
    kept for the `active` largest. ValueError: an unknown gate, logits that are no table or not finite, active outside
    1 .. E."""
    r, chosen = _logits(logits, gate, active)
    return _shares(r, chosen, gate) * chosen


def logit_gradient(logits: Any, outputs: Any, error: Any, *, gate: str = "softmax", active: int | None = None) -> np.ndarray:
    """dl/dr `(samples, E)` for the experts' `outputs (samples, E)` and `error (samples,)`, the derivative of l by f.

    Differences are taken before products, so that a saturated gate loses no digits. ValueError as `gates`, and for other
    shapes or values that are not finite."""
    r, chosen = _logits(logits, gate, active)
    f, slope = _finite(outputs, "outputs"), _finite(error, "error")
    if f.shape != r.shape or slope.shape != r.shape[:1]:
        raise ValueError(f"outputs of shape {f.shape} and error of shape {slope.shape} must have shapes {r.shape} and "
                         f"{r.shape[:1]}, as logits say")
    share = _shares(r, chosen, gate)
    if gate == "sigmoid":
        return slope[:, None] * share * np.exp(-np.logaddexp(0.0, r)) * f
    seen = f * chosen
    pulls = (share[:, None, :] * (seen[:, :, None] - seen[:, None, :])).sum(axis=2)  # samples experts
    return slope[:, None] * share * pulls


def logit_gradient_bound(gates: Any, outputs: Any, error: Any) -> np.ndarray:
    """|error| g_e (1 - g_e) max_j |f_e - f_j| `(samples, E)`: what a softmax router's gradient cannot exceed.

    ValueError: other shapes, values that are not finite, gates outside [0, 1]."""
    g, f, slope = _finite(gates, "gates"), _finite(outputs, "outputs"), _finite(error, "error")
    if g.ndim != 2 or f.shape != g.shape or slope.shape != g.shape[:1]:
        raise ValueError(f"gates {g.shape}, outputs {f.shape} and error {slope.shape} must have shapes (samples, E), "
                         "(samples, E) and (samples,)")
    if ((g < 0) | (g > 1)).any():
        raise ValueError(f"gates hold {g[(g < 0) | (g > 1)][0]}; they must lie in [0, 1]")
    spread = np.abs(f[:, :, None] - f[:, None, :]).max(axis=2)
    return np.abs(slope)[:, None] * g * (1 - g) * spread


def dense_rate(learning_rate: float, experts: int) -> float:
    """The learning rate at which one dense net has the infinite-width limit of a softmax MoE (maximal update).

    ValueError: a rate that is not finite, experts that are not a whole number, at least 1."""
    if isinstance(experts, bool) or not isinstance(experts, int | np.integer) or experts < 1:
        raise ValueError(f"experts={experts!r} must be a whole number, at least 1")
    return float(_finite(learning_rate, "learning_rate", ())) / int(experts)


def adam_carry_over(first: float = 0.9, second: float = 0.999) -> float:
    """|second update| / |first update| of Adam without epsilon when the second gradient is zero.

    ValueError: first outside [0, 1), second outside [1e-300, 1), below which its inverse is no float."""
    for name, beta, least in (("first", first, 0.0), ("second", second, 1e-300)):
        if not least <= float(_finite(beta, name, ())) < 1:
            raise ValueError(f"{name}={beta!r} must lie in [{least:g}, 1)")
    return first / (1 + first) * float(np.sqrt((1 + second) / second))


def arcsine_kernel(x: Any) -> np.ndarray:
    """E[erf(u.x_i) erf(u.x_j)] `(P, P)` for u ~ N(0, I/d) and `x (P, d)`: 2/pi arcsin(2 S_ij / sqrt((1+2S_ii)(1+2S_jj))),
    S = x x'/d. The covariance of logits at the start, were the trunk's activation erf.

    ValueError: another shape, values that are not finite or beyond 1e100 in size."""
    x = _finite(x, "x")
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError(f"x of shape {x.shape} must have shape (P, d)")
    if abs(x).max(initial=0.0) > 1e100:
        raise ValueError(f"x holds {x[abs(x) > 1e100][0]}; needed at most 1e100 in size, for squares are taken")
    s = x @ x.T / x.shape[1]
    scale = np.sqrt(1 + 2 * np.diag(s))
    return 2 / np.pi * np.arcsin(2 * s / np.outer(scale, scale))


def _finite(values: Any, name: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """`values` as finite float64. ValueError naming the argument otherwise."""
    try:
        found = np.asarray(values)
        if found.dtype.kind == "c":
            raise TypeError("complex numbers")
        found = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r:.80} must be real numbers in one regular array") from error
    if shape is not None and found.shape != shape:
        raise ValueError(f"{name}={values!r:.80} must be one number")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds {found[~np.isfinite(found)][0]}; needed finite numbers")
    return found


def _logits(logits: Any, gate: str, active: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The logits, and which experts are chosen."""
    r = _finite(logits, "logits")
    if r.ndim != 2 or not r.size:
        raise ValueError(f"logits of shape {r.shape} must be a table (samples, E) of finite numbers")
    if not isinstance(gate, str) or gate not in KINDS:
        raise ValueError(f"gate={gate!r} must be one of {', '.join(KINDS)}")
    if not gate.startswith("topk"):
        return r, np.ones(r.shape, dtype=bool)
    if isinstance(active, bool) or not isinstance(active, int | np.integer) or not 1 <= active <= r.shape[1]:
        raise ValueError(f"active={active!r} must be a whole number between 1 and the number of experts {r.shape[1]}")
    order = np.argsort(-r, axis=1, kind="stable")
    return r, np.argsort(order, axis=1, kind="stable") < active


def _shares(r: np.ndarray, chosen: np.ndarray, gate: str) -> np.ndarray:
    """Gates before a mask that comes last."""
    if gate == "sigmoid":
        return 2 / r.shape[1] * np.exp(-np.logaddexp(0.0, -r))
    kept = r if gate == "topk_masked" else np.where(chosen, r, -np.inf)
    with np.errstate(over="ignore"):  # a gap beyond the range of floats is as good as one without end
        e = np.exp(kept - kept.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
