"""Parents of a target from the law of the data: the least admissible set, when it is right, and when it is not.

For your own data
  anm_conditions(log_density, y, xs)                    conditions for y - f(x) to be independent of x
  anm_condition(p_yyx, p_yy, p_yx, p_yyy)               one of them, from derivatives
  refute_at(condition, point)                           is it broken at a point, exactly
  linear_witness(B, cumulants, target, columns, order)  joint cumulants that refute a set of columns
  `causal.IndRM`, `refutable parents`                   the method itself, on tables

Notation  Y = f(X_PA) + N = target; S = a set of observed columns; R_S = Y - E[Y | X_S]; S is admissible if R_S is
          independent of the vector X_S; ND = observed non-descendants of Y; s = variances, k = cumulants of noises;
          pi = log p(y, x_S); D = pi_yyx pi_yy - pi_yx pi_yyy.
Source    abstract of the paper only; hypotheses, proofs and exceptional models are reconstructed here, not quoted.
          The algorithm on finite laws is `causal.population_parents`."""
from theory.parent_identification._exact import anm_condition, anm_conditions, linear_witness, refute_at
from theory.parent_identification.claims import (
    PAPER,
    density_condition,
    exceptional_laws,
    fourth_order,
    gaussian_chain,
    gaussian_child,
    hidden_confounder,
    instrument,
    log_gamma,
    null_set,
    pair_enough,
    principle,
    schwartz_zippel,
    superset_ties,
    third_order,
)

__all__ = ["PAPER", "anm_condition", "anm_conditions", "density_condition", "exceptional_laws", "fourth_order",
           "gaussian_chain", "gaussian_child", "hidden_confounder", "instrument", "linear_witness", "log_gamma", "null_set",
           "pair_enough", "principle", "refute_at", "schwartz_zippel", "superset_ties", "third_order"]
