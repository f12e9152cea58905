"""What one imports: structural models, actual causes, parents of a target."""
from __future__ import annotations

from causal.actual import CauseVerdict, actual_causes, is_cause
from causal.errors import CausalError, CyclicModel, DomainError, EventNotTrue, NonDeterministic, UnknownVariable
from causal.family import Cause, CauseFamily
from causal.files import read_model, write_model
from causal.model import CausalModel
from causal.witness_maps import witness_map

__all__ = ["CausalError", "CausalModel", "Cause", "CauseFamily", "CauseVerdict", "CyclicModel", "DomainError",
           "EventNotTrue", "NonDeterministic", "UnknownVariable", "actual_causes", "is_cause", "read_model",
           "witness_map", "write_model"]
