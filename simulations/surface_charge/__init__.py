"""Charge induced on conductors, solved: boundary elements for closed bodies and for terrain, Rayleigh's expansion for
rough ground; corridors of long wires, published with the targets that were solved for.

The solvers know nothing of the two-term identity; agreement with it, and disagreement, is what the evidence is about."""
from simulations.surface_charge._corridor import Corridor, corridor_errors, make_corridor, relief
from simulations.surface_charge._figure import figure, figure_data
from simulations.surface_charge._files import Curvature, curvature, read_mesh
from simulations.surface_charge._ground import solve_ground
from simulations.surface_charge._local import Local, local_densities
from simulations.surface_charge._mesh import icosphere
from simulations.surface_charge._rayleigh import RoughGround, rayleigh_ground
from simulations.surface_charge._regimes import Regimes, wire_regimes
from simulations.surface_charge._solve import Solution, solve

__all__ = ["Corridor", "Curvature", "Local", "Regimes", "RoughGround", "Solution", "corridor_errors", "curvature", "figure",
           "figure_data", "icosphere", "local_densities", "make_corridor", "rayleigh_ground", "read_mesh", "relief", "solve",
           "solve_ground", "wire_regimes"]
