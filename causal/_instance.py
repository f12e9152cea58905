"""One question in integers: a model in a context, its effect, and only the variables that can matter."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from causal._circuit import FALSE, TRUE, Circuit
from causal.errors import CausalError, EventNotTrue, UnknownVariable
from causal.expressions import Atom, Const, Expression, Gate, bind, names_of, parse_expression
from causal.model import CausalModel, Formula, Input, Table, holds

Effect = Mapping[str, Any] | str | Expression


class Instance:
    """A model in a context with an effect.

    names       endogenous names in topological order, restricted to those under the effect; position = code below
    sizes       their domain sizes; actual: the codes of their actual values
    parents     positions of the parents of each
    effect, failure   circuit nodes of the effect and of its negation
    fixed       codes of the exogenous variables in the context"""

    def __init__(self, model: CausalModel, context: Mapping[str, Any], effect: Effect, *, everything: bool = False
                 ) -> None:
        self.model = model
        self.context = model.check_context(context)
        self.values = model.evaluate(self.context)
        self.expression = read_effect(model, effect)
        wanted = ancestors(model, names_of(self.expression))
        self.names = tuple(n for n in model.order if everything or n in wanted)
        self.position = {n: i for i, n in enumerate(self.names)}
        self.sizes = [len(model.domains[n]) for n in self.names]
        self.actual = [model.code(n, self.values[n], "actual value") for n in self.names]
        self.frozen: frozenset[int] = frozenset()
        self.circuit = Circuit(self.sizes)
        self.effect = self.compile(self.expression)
        self.failure = self.circuit.negate(self.effect)
        self._rules: dict[tuple[int, int], int] = {}
        position = self.position
        self.parents = [[position[p] for p in model.mechanisms[n].parents if p in position] for n in self.names]

    def holding(self, frozen: frozenset[int]) -> Instance:
        """The same question with constants, their actual values, in place of the variables `frozen`."""
        other = copy(self)
        other.circuit, other._rules, other.frozen = Circuit(self.sizes), {}, frozen
        other.effect = other.compile(self.expression)
        other.failure = other.circuit.negate(other.effect)
        return other

    def bare(self) -> Instance:
        """A copy without the model, for another process: it pickles whatever the values are. Equations are compiled."""
        for at in range(len(self.names)):
            for code in self.alternatives(at):
                self.rule(at, code)
        other = copy(self)
        for name in ("model", "context", "values", "expression"):
            delattr(other, name)
        return other

    @property
    def true_here(self) -> bool:
        """Whether the effect holds in the context."""
        return holds(self.expression, self.values)

    def demand_true(self) -> None:
        """EventNotTrue, with the actual values, unless the effect holds."""
        if not self.true_here:
            names = sorted(names_of(self.expression))
            shown = ", ".join(f"{n}={self.values[n]!r}" for n in names[:12])
            raise EventNotTrue(f"the effect does not hold in this context: {shown or 'it is constant false'}")

    def compile(self, expression: Expression) -> int:
        """The circuit node of a bound expression, exogenous variables replaced by their values."""
        if isinstance(expression, Const):
            return TRUE if expression.value else FALSE
        if isinstance(expression, Atom):
            at = self.position.get(expression.name)
            if at is None or at in self.frozen:
                return TRUE if self.values[expression.name] == expression.value else FALSE
            return self.circuit.atom(at, self.model.code(expression.name, expression.value, "rule"))
        return self.circuit.gate(expression.op, [self.compile(c) for c in expression.children], expression.threshold)

    def rule(self, at: int, code: int) -> int:
        """The circuit node of "the equation of variable `at` gives `code`"."""
        key = (at, code)
        if key not in self._rules:
            self._rules[key] = self._rule(self.names[at], at, code)
        return self._rules[key]

    def _rule(self, name: str, at: int, code: int) -> int:
        rule, domain = self.model.mechanisms[name], self.model.domains[name]
        if isinstance(rule, Input):
            return TRUE if code == self.actual[at] else FALSE
        if isinstance(rule, Formula):
            if domain[code] not in (0, 1):
                return FALSE
            node = self.compile(rule.expression)
            return node if domain[code] == 1 else self.circuit.negate(node)
        if len(domain) == 2 and code == 0:
            return self.circuit.negate(self.rule(at, 1))
        parents, values = self._restrict(rule)
        return self.circuit.table([self.position[p] for p in parents], [v == domain[code] for v in values])

    def _restrict(self, rule: Table) -> tuple[list[str], list[Any]]:
        """The table with its exogenous and frozen parents set to their values."""
        parents, values = list(rule.parents), list(rule.values)
        for parent in rule.parents:
            if parent in self.position and self.position[parent] not in self.frozen:
                continue
            at, domain = parents.index(parent), self.model.domains[parent]
            stride, block = 1, len(domain)
            for later in parents[at + 1:]:
                stride *= len(self.model.domains[later])
            code = self.model.code(parent, self.values[parent], "context")
            values = [v for start in range(code * stride, len(values), block * stride)
                      for v in values[start:start + stride]]
            del parents[at]
        return parents, values

    def alternatives(self, at: int) -> list[int]:
        """The codes that differ from the actual one."""
        return [q for q in range(self.sizes[at]) if q != self.actual[at]]

    def value(self, at: int, code: int) -> Any:
        """The value that a code stands for."""
        return self.model.domains[self.names[at]][code]

    def allowed(self, exclude: Iterable[str], candidates: Iterable[str] | None) -> frozenset[int]:
        """Positions that may be in a cause. UnknownVariable for a name that the model lacks."""
        banned = set(named(self.model, "exclude", exclude))
        if candidates is None:
            return frozenset(i for i, n in enumerate(self.names) if n not in banned)
        wanted = set(endogenous(self.model, "candidates", candidates))
        return frozenset(i for i, n in enumerate(self.names) if n in wanted and n not in banned)


def read_effect(model: CausalModel, effect: Effect) -> Expression:
    """The effect as a bound expression, from `{"BS": 1}`, text, or an expression."""
    if isinstance(effect, Mapping):
        if not effect:
            raise CausalError("effect={} names no event; give one such as {'BS': 1}")
        codes = {n: model.code(n, v, "effect") for n, v in effect.items()}
        atoms = [Atom(n, model.domains[n][code]) for n, code in codes.items()]
        return Gate("and", tuple(atoms)) if len(atoms) > 1 else atoms[0]
    try:
        parsed = parse_expression(effect) if isinstance(effect, str) else effect
    except CausalError as error:
        raise CausalError(f"effect: {error}") from None
    return bind(parsed, model.domains, "effect")


def named(model: CausalModel, argument: str, names: Iterable[str]) -> tuple[str, ...]:
    """`names` as a tuple, each known to the model."""
    if isinstance(names, str):
        raise CausalError(f"{argument}={names!r} must be a collection of names, not one string")
    result = tuple(names)
    for name in result:
        if name not in model.domains:
            raise UnknownVariable(name, argument, model.domains)
    return result


def endogenous(model: CausalModel, argument: str, names: Iterable[str]) -> tuple[str, ...]:
    """`names` as a tuple of endogenous names; CausalError for an exogenous one."""
    result = named(model, argument, names)
    for name in result:
        if name in model.exogenous:
            raise CausalError(f"{argument}: {name!r} is exogenous; only endogenous variables can be causes")
    return result


def ancestors(model: CausalModel, names: Iterable[str]) -> set[str]:
    """The endogenous names that the given ones depend on, with themselves."""
    seen: set[str] = set()
    stack = [n for n in names if n in model.mechanisms]
    while stack:
        name = stack.pop()
        if name not in seen:
            seen.add(name)
            stack += [p for p in model.mechanisms[name].parents if p in model.mechanisms and p not in seen]
    return seen
