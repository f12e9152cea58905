"""Routers and experts of growing width: what freezes, what collapses, and under which conventions.

For your own data
  predicted_exponent(gate=, parametrisation=, quantity=, t=)  x of quantity ~ n^x after t updates
  gates(logits, gate=, active=)                               gates of a router, ties to the first expert
  logit_gradient(logits, outputs, error)                      gradient of the loss by the logits; `logit_gradient_bound`
  dense_rate(learning_rate, experts)                          rate of the dense net with the same limit
  arcsine_kernel(x), adam_carry_over(first, second)           kernel of the limit; Adam's second update

Notation  n = width;  E = experts, K = active ones;  d = inputs, P samples;  h = tanh(U x), z_e = tanh(V_e x);
          f_e = alpha a_e.z_e the output of an expert, r_e = alpha w_e.h its logit, g_e its gate;  f = sum_e g_e f_e;
          l = (f - y)^2 / 2, l' = f - y;  eta = learning rate;  t = updates made;  gamma: alpha = n^-gamma.
          SP: alpha = 1, a and w of deviation n^-1/2, rate eta n^-c;  NTP is gamma = 1/2, mup is gamma = 1 (rate eta n).
Source    An abstract only. Models, facts, exponents and conventions are reconstructions, tested against its sentences;
          a claim whose source is the abstract is still our formalisation of the sentence.
"""
from __future__ import annotations

from theory.moe_width._exponents import CLAIMS, EXPONENTS, Row, predicted_exponent
from theory.moe_width._forms import (
    adam_carry_over,
    arcsine_kernel,
    dense_rate,
    gates,
    logit_gradient,
    logit_gradient_bound,
)
from theory.moe_width._gates import (
    PAPER,
    Bound,
    Choice,
    Lone,
    Slopes,
    Sum,
    gradient_bound,
    lone_expert,
    router_gradient,
    threshold_rule,
    zero_sum,
)
from theory.moe_width._limits import AdamStep, Saturated, Update, adam_first_step, freeze_rate, saturation
from theory.moe_width._width import (
    Breaking,
    Collapse,
    Convergence,
    Equivalence,
    Freeze,
    Permutation,
    Sparse,
    Trilemma,
    adam_collapse,
    adam_updates,
    collapse,
    dense_equivalence,
    freeze,
    freeze_in_mean,
    late_specialisation,
    limit_rate,
    permutation,
    sparse_limit,
    topk_breaks_symmetry,
    trilemma,
)

__all__ = [
    "CLAIMS", "EXPONENTS", "PAPER", "AdamStep", "Bound", "Breaking", "Choice", "Collapse", "Convergence", "Equivalence",
    "Freeze", "Lone", "Permutation", "Row", "Saturated", "Slopes", "Sparse", "Sum", "Trilemma", "Update", "adam_carry_over",
    "adam_collapse", "adam_first_step", "adam_updates", "arcsine_kernel", "collapse", "dense_equivalence", "dense_rate",
    "freeze", "freeze_in_mean", "freeze_rate", "gates", "gradient_bound", "late_specialisation", "limit_rate",
    "logit_gradient", "logit_gradient_bound", "lone_expert", "permutation", "predicted_exponent", "router_gradient",
    "saturation", "sparse_limit", "threshold_rule", "topk_breaks_symmetry", "trilemma", "zero_sum",
]
