"""Charge induced on a conductor, read off locally: -(dphi/dn)/(2 pi) + H phi/(4 pi), exact on spheres and planes only.

For your own data
  two_term_sigma(points, normals, mean_curvature, sources, charges)     flat term and curvature term at each point
  anisotropic_sigma(points, normals, shape_operator, sources, charges)  three terms, first order in curvature
  validity_report(points, normals, shape_operator, sources)             estimated errors of both
  flat_sigma(points, normals, sources, charges)                         the tangent plane alone
  sphere_sigma, boss_sigma, cylinder_sigma                              exact oracles

Conventions (Gaussian units)  phi = potential of the given sources alone, sum q/R. n = unit normal OUT of the conductor,
          towards the sources. sigma = -(1/4 pi) d(total potential)/dn. H = -1/2 div n = half the trace of the shape
          operator S = -dn: -1/a on a ball of radius a, +1/a in a cavity, negative on a hill, positive in a valley. In SI
          units (phi = sum q/(4 pi eps0 R)): sigma = -2 eps0 dphi/dn + eps0 H phi.
Notation  q = charge, R = its distance from a point of the surface, h = its height above the tangent plane there,
          k_r, k_t = normal curvatures along and across the direction in which it is seen, a = radius, V = potential.
Source    an abstract on induction along transmission lines; no theorem text was read: proofs are ours, not quoted."""
from theory.surface_charge._densities import (
    ValidityReport,
    anisotropic_sigma,
    flat_sigma,
    relief_horizon,
    two_term_sigma,
    validity_report,
)
from theory.surface_charge._oracles import boss_sigma, cylinder_sigma, sphere_sigma
from theory.surface_charge.claims import (
    PAPER,
    boss,
    corridor_error,
    curved_patch_error,
    error_kernel,
    insulated,
    linear_head,
    plane,
    potential,
    rigidity,
    scale,
    second_kind,
    sphere_exact,
)
from theory.surface_charge.ground_claims import (
    cylinder,
    first_order_ground,
    long_wire,
    regime,
    rolling_wire,
    three_term,
    two_term_error,
)

__all__ = ["PAPER", "ValidityReport", "anisotropic_sigma", "boss", "boss_sigma", "corridor_error", "curved_patch_error",
           "cylinder", "cylinder_sigma", "error_kernel", "first_order_ground", "flat_sigma", "insulated", "linear_head",
           "long_wire", "plane", "potential", "regime", "relief_horizon", "rigidity", "rolling_wire", "scale", "second_kind",
           "sphere_exact", "sphere_sigma", "three_term", "two_term_error", "two_term_sigma", "validity_report"]
