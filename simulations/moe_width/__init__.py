"""Mixtures of experts of growing width: which quantities freeze, collapse, or live on.

Model  h = tanh(U x), z_e = tanh(V_e x), f_e = alpha a_e.z_e, logits r_e = alpha w_e.h, output f = sum_e g_e(r) f_e;
       n = width, E = experts, K = active experts, eta = learning rate, t = updates made."""
from __future__ import annotations

from simulations.moe_width._coordinate import CoordinateReport, Mixture, coordinate_check, example_mixture
from simulations.moe_width._deep import simulate_deep
from simulations.moe_width._figure import figure, figure_data
from simulations.moe_width._limit import Limit, limit
from simulations.moe_width._simulate import GATES, Scaling, Trace, example_data, scaling, simulate

__all__ = ["GATES", "CoordinateReport", "Limit", "Mixture", "Scaling", "Trace", "coordinate_check", "example_data",
           "example_mixture", "figure", "figure_data", "limit", "scaling", "simulate", "simulate_deep"]
