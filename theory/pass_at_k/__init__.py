"""Pass@k favours hard prompts, and can thereby work against pass@1.

For your own data
  pass_at_k(n, c, k)                             unbiased estimate of pass@k from n samples, c of which passed
  mean_interval(values, level)                   mean over tasks with its interval
  advantages(rewards, k)                         weights of the samples' scores for an unbiased gradient of pass@k
  conflict_report(gradients, success, mass, ks)  does pass@k pull against pass@1, from which k on, at which steps
  weight(p, k)                                   weight of a prompt of success rate p in the gradient of pass@k

Notation  p(x) = P(one sample passes) for the prompt x, in [0, 1];  q(x) = probability of the prompt;
          k = samples drawn, integer >= 1;  J_k = E_x[1 - (1-p)^k] = pass@k, J_1 = pass@1;  w_k(p) = k (1-p)^(k-1);
          s = score, the gradient of the log probability of a sample;  r = its reward, 0 or 1;
          kappa(x, x') = <grad p(x), grad p(x')>;  a(x) = <grad p(x), grad J_1>, the agreement of a prompt;
          conflict = <grad J_k, grad J_1> < 0.
Source    arXiv 2602.21189. Its abstract and the opening of its text were read (set-up, kernel, start of the toy
          example); the theorems were not. A claim marked as a reconstruction was derived here and is not the authors'.
"""
from __future__ import annotations

from theory.pass_at_k._conflict import ConflictReport, conflict_report, weight
from theory.pass_at_k._estimation import Estimator, centring_scale, unbiased_estimator, unbiased_gradient
from theory.pass_at_k._estimators import Interval, advantages, mean_interval, pass_at_k
from theory.pass_at_k._exact import PAPER, Prompt, agreements, dot, split
from theory.pass_at_k._interference import (
    Beyond,
    Condition,
    Degradation,
    Diagonal,
    Identity,
    Persistence,
    conflict_identity,
    conflict_persists,
    conflict_threshold,
    degradation,
    interference_implies_conflict,
    interference_kernel,
    interference_needed,
    sign_pattern,
    two_prompt_threshold,
)
from theory.pass_at_k._weighting import (
    Constants,
    Reweighting,
    Smoothness,
    Threshold,
    gradient_weight,
    reweighting,
    smoothness,
    smoothness_constants,
    weight_threshold,
)

__all__ = [
    "PAPER", "Beyond", "Condition", "ConflictReport", "Constants", "Degradation", "Diagonal", "Estimator", "Identity",
    "Interval", "Persistence", "Prompt", "Reweighting", "Smoothness", "Threshold", "advantages", "agreements",
    "centring_scale", "conflict_identity", "conflict_persists", "conflict_report", "conflict_threshold", "degradation",
    "dot", "gradient_weight", "interference_implies_conflict", "interference_kernel", "interference_needed",
    "mean_interval", "pass_at_k", "reweighting", "sign_pattern", "smoothness", "smoothness_constants",
    "split", "two_prompt_threshold", "unbiased_estimator", "unbiased_gradient", "weight", "weight_threshold",
]
