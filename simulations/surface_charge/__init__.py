"""Charge induced on conductors, solved: boundary elements for closed bodies, Rayleigh's expansion for rough ground.

Nothing here knows the two-term identity; agreement with it, and disagreement, is what the evidence is about."""
from simulations.surface_charge._figure import figure, figure_data
from simulations.surface_charge._local import Local, local_densities
from simulations.surface_charge._mesh import icosphere
from simulations.surface_charge._rayleigh import RoughGround, rayleigh_ground
from simulations.surface_charge._solve import Solution, solve

__all__ = ["Local", "RoughGround", "Solution", "figure", "figure_data", "icosphere", "local_densities",
           "rayleigh_ground", "solve"]
