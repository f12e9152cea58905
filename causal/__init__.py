"""What one imports: structural models, actual causes, parents of a target."""
from __future__ import annotations

from causal.actual import CauseVerdict, actual_causes, is_cause
from causal.certificates import CausalCertificateError, check_certificate
from causal.errors import CausalError, CyclicModel, DomainError, EventNotTrue, NonDeterministic, UnknownVariable
from causal.explanations import Harm, explanations, harm
from causal.family import Cause, CauseFamily
from causal.files import read_model, write_model
from causal.independence import Estimate, distance_covariance, hsic, hsic_estimate, hsic_test
from causal.indrm import IndRM
from causal.model import CausalModel
from causal.population import AdmissibleSet, admissible_sets, population_parents
from causal.responsibility import IncidentReport, blame, investigate, responsibility
from causal.witness_maps import witness_map

__all__ = ["AdmissibleSet", "CausalCertificateError", "CausalError", "CausalModel", "Cause", "CauseFamily",
           "CauseVerdict", "CyclicModel", "DomainError", "Estimate", "EventNotTrue", "Harm", "IncidentReport",
           "IndRM", "NonDeterministic", "UnknownVariable", "actual_causes", "admissible_sets", "blame",
           "check_certificate", "distance_covariance", "explanations", "harm", "hsic", "hsic_estimate", "hsic_test",
           "investigate", "is_cause", "population_parents", "read_model", "responsibility", "witness_map",
           "write_model"]
