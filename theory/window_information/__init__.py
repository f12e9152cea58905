"""A few windows hold at most a fraction sqrt(k/c) of the information about a shift: what is true of it, how sharp.

For your own data
  inverse_participation_ratio(w)               the count c of windows that share the information
  share_bound(k, c, m)                         the largest share that k windows can hold
  min_windows(share, c, m)                     the least number of windows for a share
  best_share(w, k)                             the share of the k best windows
  auc(information)                             area under the ROC curve of the best classifier
  power_curve(w, n, ks)                        that area for the ks[i] best windows at depth n
  whiten(v, cov)                               the shift in coordinates of independent unit noise
  lan_ok(mean, shift), lan_error(mean, shift)  is `auc` right for Poisson windows, and by how much it errs
  extremal_windows(k, c, m)                    windows that attain the bound

Notation  m = windows, integer >= 1;  S = the windows that a classifier reads, k = |S|, 1 <= k <= m;
          v_i = shift of window i in units of its noise (whitened amplitude), real;
          w_i = v_i^2 >= 0, the Fisher information of window i about the size of the shift, windows independent;
          t = sum of all w;  share = sum_S w / t, in [0, 1];
          c = t^2 / sum w^2, in [1, m]: the inverse participation ratio, a count of windows (all m for flat w, 1 for one
          hot spot);  n = depth (independent repetitions), n t = the whole information I.
Source    The sentence "at most a sqrt(k/c(v)) fraction of the available information" is the abstract's. It says neither
          which information nor which count is meant; those definitions, the proofs, the sharp form and everything on
          error rates were reconstructed here and are not the authors' theorems."""
from theory.window_information._bounds import (
    Bound,
    Counts,
    Extremes,
    FewestWindows,
    Sharp,
    count_range,
    guaranteed_share,
    ipr_bound,
    ipr_certificate,
    minimal_windows,
    pair_squares,
    sharp_bound,
    sharp_certificate,
    sharp_is_attained,
)
from theory.window_information._detection import (
    Detection,
    WindowLaw,
    auc_bound,
    depth_price,
    gradual_auc,
    lan_auc,
    patient_data,
    poisson_windows,
)
from theory.window_information._formulas import (
    auc,
    best_share,
    extremal_windows,
    inverse_participation_ratio,
    lan_error,
    lan_ok,
    min_windows,
    power_curve,
    share_bound,
    whiten,
)
from theory.window_information._paper import PAPER, participation
from theory.window_information._readings import (
    Correlated,
    CountOrder,
    Moments,
    Powers,
    conditioned_bound,
    counts_ordered,
    d_prime_share,
    independence,
    matching_count,
    no_sharp_transition,
    random_windows,
    windows_suffice,
)

__all__ = [
    "PAPER",
    "Bound",
    "Correlated",
    "CountOrder",
    "Counts",
    "Detection",
    "Extremes",
    "FewestWindows",
    "Moments",
    "Powers",
    "Sharp",
    "WindowLaw",
    "auc",
    "auc_bound",
    "best_share",
    "conditioned_bound",
    "count_range",
    "counts_ordered",
    "d_prime_share",
    "depth_price",
    "extremal_windows",
    "gradual_auc",
    "guaranteed_share",
    "independence",
    "inverse_participation_ratio",
    "ipr_bound",
    "ipr_certificate",
    "lan_auc",
    "lan_error",
    "lan_ok",
    "matching_count",
    "min_windows",
    "minimal_windows",
    "no_sharp_transition",
    "pair_squares",
    "participation",
    "patient_data",
    "poisson_windows",
    "power_curve",
    "random_windows",
    "share_bound",
    "sharp_bound",
    "sharp_certificate",
    "sharp_is_attained",
    "whiten",
    "windows_suffice",
]
