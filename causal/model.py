"""Structural models: acyclic, of any finite domains, gates kept as gates.

A variable is exogenous (given by the context, never a cause), an input (given by the context under its own name, may
be a cause), or computed by a formula or a table."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from causal.errors import CausalError, CyclicModel, DomainError, UnknownVariable
from causal.expressions import Atom, Const, Expression, bind, names_of, parse_expression

__all__ = ["CausalModel", "Formula", "Input", "Mechanism", "Table"]

BINARY = (0, 1)
MAX_ROWS = 2**20


@dataclass(frozen=True, slots=True)
class Input:
    """An endogenous variable whose value the context gives."""

    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """A variable that is 1 where `expression` holds and 0 elsewhere."""

    expression: Expression
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A variable given by its value in each row of parent values; the last parent runs fastest."""

    parents: tuple[str, ...]
    values: tuple[Any, ...]


Mechanism = Input | Formula | Table


class CausalModel:
    """An acyclic structural model; make one with `from_expressions`, `from_tables`, `from_functions` or `read_model`.

    >>> rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    >>> rock.evaluate({"ST": 1, "BT": 1})["BS"], rock.evaluate({"ST": 1, "BT": 1}, {"SH": 0})["BH"]
    (1, 1)
    """

    def __init__(self, mechanisms: Mapping[str, Mechanism], domains: Mapping[str, Sequence[Any]],
                 exogenous: Iterable[str] = ()) -> None:
        self.mechanisms: dict[str, Mechanism] = dict(mechanisms)
        self.exogenous: tuple[str, ...] = tuple(dict.fromkeys(exogenous))
        for name in self.exogenous:
            if name in self.mechanisms:
                raise CausalError(f"{name!r} is exogenous and has a rule as well; it cannot be both")
        known = [*self.exogenous, *self.mechanisms]
        for name in domains:
            if name not in self.mechanisms and name not in self.exogenous:
                raise UnknownVariable(name, "domains", known)
        self.domains: dict[str, tuple[Any, ...]] = {n: check_domain(n, domains.get(n, BINARY)) for n in known}
        self._code = {n: {v: i for i, v in enumerate(d)} for n, d in self.domains.items()}
        for name, rule in self.mechanisms.items():
            self._check_rule(name, rule)
        self.order: tuple[str, ...] = self._topological_order()

    def _check_rule(self, name: str, rule: Mechanism) -> None:
        for parent in rule.parents:
            if parent not in self.domains:
                raise UnknownVariable(parent, f"rule of {name}", self.domains)
        if isinstance(rule, Formula) and not {0, 1} <= set(self.domains[name]):
            raise DomainError(f"{name} has the domain {self.domains[name]}; a formula gives 0 or 1, both must be in it")
        if isinstance(rule, Table):
            rows = table_rows(name, rule.parents, self.domains)
            if len(rule.values) != rows:
                raise CausalError(f"table of {name} has {len(rule.values)} values; its parents have {rows} rows")
            where = f"table of {name}"
            for value in rule.values:
                self.code(name, value, where)

    def _topological_order(self) -> tuple[str, ...]:
        done: dict[str, None] = {}
        state: dict[str, int] = {}
        for root in self.mechanisms:
            stack = [(root, iter(self.mechanisms[root].parents))] if root not in state else []
            state.setdefault(root, 1)
            while stack:
                name, parents = stack[-1]
                for parent in parents:
                    if parent not in self.mechanisms or state.get(parent) == 2:
                        continue
                    if state.get(parent) == 1:
                        path = [n for n, _ in stack]
                        raise CyclicModel(path[path.index(parent):][::-1])
                    state[parent] = 1
                    stack.append((parent, iter(self.mechanisms[parent].parents)))
                    break
                else:
                    state[name] = 2
                    done[name] = None
                    stack.pop()
        return tuple(done)

    @classmethod
    def from_expressions(cls, expressions: Mapping[str, str | None],
                         domains: Mapping[str, Sequence[Any]] | None = None,
                         exogenous: Iterable[str] | None = None) -> CausalModel:
        """A model from `{"BH": "BT & ~SH"}`; text None is an input. See `causal.expressions` for the syntax.

        Names used and never defined are exogenous, unless `exogenous` is given: then they are UnknownVariable.
        Domains not given are (0, 1)."""
        parsed = {name: None if text is None else parse_expression(text) for name, text in expressions.items()}
        given = dict(domains or {})
        if exogenous is None:
            used = itertools.chain.from_iterable(names_of(e) for e in parsed.values() if e is not None)
            exogenous = [n for n in dict.fromkeys(itertools.chain(used, given)) if n not in parsed]
        return cls.from_parsed(parsed, given, exogenous)

    @classmethod
    def from_parsed(cls, parsed: Mapping[str, Expression | None], domains: Mapping[str, Sequence[Any]],
                    exogenous: Iterable[str]) -> CausalModel:
        """A model from expressions already parsed, None for an input."""
        exogenous = _names("exogenous", exogenous)
        full = {n: check_domain(n, domains.get(n, BINARY)) for n in [*exogenous, *parsed]}
        rules: dict[str, Mechanism] = {}
        for name, raw in parsed.items():
            if raw is None:
                rules[name] = Input()
                continue
            copied = copy_rule(name, raw, full)
            bound = raw if copied else bind(raw, full, f"rule of {name}")
            rules[name] = copied or Formula(bound, tuple(names_of(bound)))
        return cls(rules, domains, exogenous)

    @classmethod
    def from_tables(cls, tables: Mapping[str, tuple[Sequence[str], Mapping[tuple[Any, ...], Any]] | None],
                    domains: Mapping[str, Sequence[Any]] | None = None, exogenous: Iterable[str] = ()) -> CausalModel:
        """A model from `{name: (parents, {parent values: value})}`; a constant is `((), {(): 1})`, None an input.

        CausalError names the variable of a missing row, DomainError that of a row outside the parents' domains."""
        exogenous, given = _names("exogenous", exogenous), dict(domains or {})
        full = {n: check_domain(n, given.get(n, BINARY)) for n in [*exogenous, *tables]}
        rules: dict[str, Mechanism] = {}
        for name, entry in tables.items():
            if entry is None:
                rules[name] = Input()
                continue
            parents, rows = tuple(entry[0]), {tuple(k) if isinstance(k, tuple | list) else (k,): v
                                              for k, v in entry[1].items()}
            values = []
            for row in iterate_rows(name, parents, full):
                if row not in rows:
                    raise CausalError(f"table of {name} has no row for {dict(zip(parents, row, strict=True))}")
                values.append(rows[row])
            if len(rows) != len(values):
                wrong = next(r for r in rows if len(r) != len(parents)
                             or any(v not in full[p] for p, v in zip(parents, r, strict=True)))
                raise DomainError(f"table of {name}: the row {wrong} is outside the domains of {', '.join(parents)}")
            rules[name] = Table(parents, tuple(values))
        return cls(rules, given, exogenous)

    @classmethod
    def from_functions(cls, functions: Mapping[str, Callable[..., Any] | None],
                       parents: Mapping[str, Sequence[str]], domains: Mapping[str, Sequence[Any]] | None = None,
                       exogenous: Iterable[str] = ()) -> CausalModel:
        """A model from Python functions of the parents' values, tabulated; None is an input.

        A function with more than 2^20 rows is refused by name: give an expression instead."""
        exogenous, given = _names("exogenous", exogenous), dict(domains or {})
        full = {n: check_domain(n, given.get(n, BINARY)) for n in [*exogenous, *functions]}
        for name in parents:
            if name not in functions:
                raise UnknownVariable(name, "parents", functions)
        rules: dict[str, Mechanism] = {}
        for name, function in functions.items():
            of = tuple(parents.get(name, ()))
            rules[name] = Input() if function is None else Table(
                of, tuple(function(*row) for row in iterate_rows(name, of, full)))
        return cls(rules, given, exogenous)

    @property
    def variables(self) -> tuple[str, ...]:
        """The endogenous names, in the order given."""
        return tuple(self.mechanisms)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The endogenous names whose value the context gives."""
        return tuple(n for n, rule in self.mechanisms.items() if isinstance(rule, Input))

    @property
    def graph(self) -> nx.DiGraph:
        """Edges from parents to children over all names; exogenous nodes carry `exogenous=True`."""
        graph = nx.DiGraph()
        graph.add_nodes_from((n, {"exogenous": True}) for n in self.exogenous)
        graph.add_nodes_from((n, {"exogenous": False}) for n in self.mechanisms)
        graph.add_edges_from((p, n) for n, rule in self.mechanisms.items() for p in rule.parents)
        return graph

    def intervened(self, values: Mapping[str, Any]) -> CausalModel:
        """The model in which the given endogenous variables are constant."""
        rules = dict(self.mechanisms)
        for name, value in values.items():
            if name in self.exogenous:
                raise CausalError(f"{name} is exogenous; change the context instead")
            rules[name] = Table((), (self.domains[name][self.code(name, value, "intervention")],))
        return CausalModel(rules, self.domains, self.exogenous)

    def code(self, name: str, value: Any, where: str) -> int:
        """The position of `value` in the domain of `name`. UnknownVariable or DomainError, starting with `where`."""
        if name not in self._code:
            raise UnknownVariable(name, where, self._code)
        try:
            return self._code[name][value]
        except (KeyError, TypeError):
            raise DomainError(f"{where}: {value!r} is not in the domain {self.domains[name]} of {name}") from None

    def check_context(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """The context, each value as the domain has it. CausalError unless it gives each exogenous name and input."""
        given = {}
        for name, value in context.items():
            code = self.code(name, value, "context")
            if name in self.mechanisms and not isinstance(self.mechanisms[name], Input):
                raise CausalError(f"context: {name} is computed by the model; it takes interventions, not a context")
            given[name] = self.domains[name][code]
        if missing := [n for n in (*self.exogenous, *self.inputs) if n not in given]:
            raise CausalError(f"context: no value for {', '.join(missing[:12])}{', ...' if len(missing) > 12 else ''}")
        return given

    def evaluate(self, context: Mapping[str, Any], interventions: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The value of every variable, in topological order, exogenous names first."""
        values = self.check_context(context)
        fixed = {}
        for name, value in (interventions or {}).items():
            if name in self.exogenous:
                raise CausalError(f"interventions: {name} is exogenous; change the context instead")
            fixed[name] = self.domains[name][self.code(name, value, "interventions")]
        result = {n: values[n] for n in self.exogenous}
        for name in self.order:
            rule = self.mechanisms[name]
            if name in fixed:
                result[name] = fixed[name]
            elif isinstance(rule, Input):
                result[name] = values[name]
            else:
                result[name] = self.compute(name, result)
        return result

    def compute(self, name: str, values: Mapping[str, Any]) -> Any:
        """What the equation of `name`, which is no input, gives at the values of its parents."""
        rule = self.mechanisms[name]
        if isinstance(rule, Formula):
            return self.domains[name][self._code[name][int(holds(rule.expression, values))]]
        assert isinstance(rule, Table), "an input has no equation"
        at = 0
        for parent in rule.parents:
            at = at * len(self.domains[parent]) + self._code[parent][values[parent]]
        return rule.values[at]


def _names(argument: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise CausalError(f"{argument}={names!r} must be a collection of names, not one string")
    return tuple(names)


def check_domain(name: str, domain: Sequence[Any]) -> tuple[Any, ...]:
    """`domain` as a tuple. DomainError unless it has two or more different values."""
    if not isinstance(name, str) or not name:
        raise CausalError(f"a variable must have a name that is text, got {name!r}")
    values = tuple(domain) if not isinstance(domain, str) else (domain,)
    try:
        different = len(set(values))
    except TypeError:
        raise DomainError(f"domain of {name} is {values}; its values must be hashable") from None
    if len(values) < 2 or different != len(values) or any(v != v for v in values):  # nan differs from itself
        raise DomainError(f"domain of {name} is {values}; it needs two or more different values")
    return values


def table_rows(name: str, parents: Sequence[str], domains: Mapping[str, Sequence[Any]]) -> int:
    """How many rows a table has. CausalError naming the variable beyond 2^20, before anything is built."""
    for parent in parents:
        if parent not in domains:
            raise UnknownVariable(parent, f"parents of {name}", domains)
    if len(set(parents)) != len(parents):
        raise CausalError(f"parents of {name} name one twice: {', '.join(parents)}")
    rows = math.prod(len(domains[p]) for p in parents)
    if rows > MAX_ROWS:
        raise CausalError(f"the table of {name} would have {rows} rows, more than {MAX_ROWS}; "
                          "give an expression instead")
    return rows


def iterate_rows(name: str, parents: Sequence[str], domains: Mapping[str, Sequence[Any]]) -> Iterable[tuple[Any, ...]]:
    """The rows of a table in order, after the size guard."""
    table_rows(name, parents, domains)
    return itertools.product(*(domains[p] for p in parents))


def copy_rule(name: str, raw: Expression, domains: Mapping[str, Sequence[Any]]) -> Table | None:
    """The identity, if `raw` is a bare name whose domain is not 0/1 and lies in that of `name`; else None."""
    if not isinstance(raw, Atom) or raw.kind != "bare" or raw.name not in domains or set(domains[raw.name]) == {0, 1}:
        return None
    if not set(domains[raw.name]) <= set(domains[name]):
        return None
    return Table((raw.name,), tuple(domains[raw.name]))


def holds(expression: Expression, values: Mapping[str, Any]) -> bool:
    """Whether a bound expression holds at `values`."""
    if isinstance(expression, Const):
        return expression.value
    if isinstance(expression, Atom):
        return bool(values[expression.name] == expression.value)
    found = [holds(c, values) for c in expression.children]
    match expression.op:
        case "not":
            return not found[0]
        case "and":
            return all(found)
        case "or":
            return any(found)
        case "xor":
            return sum(found) % 2 == 1
        case _:
            return sum(found) >= expression.threshold
