"""The fewest variables that must move for one variable to be a cause by the definition of 2001 (AC2 with b^o).

Given what (a) comes to, hold everything that is at its actual value there: (a) stays, and less is asked of (b). So a witness
is an assignment in which the effect fails, the variable has changed, and whatever changed without its equation is moved;
it counts if the effect holds whenever the variable is put back with all moved ones, whichever of the others that changed
are held as they were. One solver proposes such witnesses, another looks for an objection, and each objection is ruled out
for every witness it applies to."""
from __future__ import annotations

import itertools
from collections.abc import Iterator

from causal._cnf import Encoding, Literals
from causal._instance import Instance
from causal._sat import Search

FEW = 6  # variables from which those that do not matter are left out
USUAL = 8  # moved variables up to which the count is bounded from the start


def fewest_moved(instance: Instance, at: int) -> int | None:
    """The least number of moved variables, or None if the variable is no cause."""
    encoding = Encoding(instance, frozenset(range(len(instance.names))))
    if at not in encoding.events or (max(instance.sizes) == 2 and not _is_cause(instance, at)):
        return None
    proposals, objections = Search(encoding), Search(encoding)
    for other, lit in encoding.x.items():  # x: it is moved, or it is the variable itself
        if other in encoding.events:
            proposals.solver.add_clause([-lit, -encoding.event(other, instance.actual[other])])
    moved = {other: lit for other, lit in encoding.x.items() if other != at}
    from pysat.card import ITotalizer

    with ITotalizer(lits=list(moved.values()), ubound=min(USUAL, len(moved)), top_id=encoding.top) as counter:
        new = counter.cnf.clauses
        for number in range(len(moved)):
            if number == USUAL:
                if _accepted(proposals, objections, at, []) is None:
                    return None
                counter.increase(ubound=len(moved), top_id=proposals.solver.nof_vars())
                new = counter.cnf.clauses[-counter.nof_new:]
            while new:
                proposals.solver.add_clause(new.pop())
            if _accepted(proposals, objections, at, [-counter.rhs[number]]) is not None:
                return number
    return _accepted(proposals, objections, at, [])


def _is_cause(instance: Instance, at: int) -> bool:
    """Whether there is a witness at all, where every variable has two values: one question to one solver.

    Given any witness, move also what is not back at its actual value once the variable is. Then (a) is as before, and (b)
    asks for one thing: the effect holds where the moved ones alone are off their actual values, and their equations
    bring all others that changed back to theirs."""
    encoding = Encoding(instance, frozenset(range(len(instance.names))))

    def back(other: int, code: int) -> int:
        moved = encoding.x[other] if other != at and other in encoding.x else -encoding.constant()
        return moved if code != instance.actual[other] else -moved

    there, holds = encoding.event, Literals(encoding, back).of
    encoding.clauses.append([holds(instance.effect, True)])
    for other in encoding.events.keys() - {at}:
        code, (away,) = instance.actual[other], instance.alternatives(other)
        encoding.clauses.append([-encoding.x[other], there(other, away)])
        encoding.clauses.append([there(other, code), encoding.x[other], holds(instance.rule(other, code), True)])
    return Search(encoding).solve([-there(at, instance.actual[at])])


def _accepted(proposals: Search, objections: Search, at: int, bound: list[int]) -> int | None:
    """How many variables a witness moves to which there is no objection; None if there is no such witness."""
    encoding, instance = proposals.encoding, proposals.encoding.instance
    changed = [-encoding.event(at, instance.actual[at])]
    while proposals.solve([*changed, *bound]):
        witness, moved = proposals.changed(), proposals.chosen() - {at}
        fixed = [-lit for other, lit in encoding.x.items() if other not in moved]
        back = {i: code for i, code in enumerate(instance.actual) if i == at or i not in witness}
        fixed += [encoding.event(i, code) for i, code in (back | {i: witness[i] for i in moved}).items() if encoding.knows(i)]
        if not objections.solve(fixed):
            return len(moved)
        proposals.solver.add_clause(list(_ruled_out(proposals, objections.changed(), at)))
    return None


def _ruled_out(proposals: Search, objection: dict[int, int], at: int) -> Iterator[int]:
    """The clause "the objection does not apply": something it rests on is moved, or differs from what it needs."""
    encoding, instance = proposals.encoding, proposals.encoding.instance
    circuit = instance.circuit
    full = [objection.get(i, code) for i, code in enumerate(instance.actual)]
    waiting, met = _reason(instance, instance.failure, full), {at}
    while waiting:
        other = waiting.pop()
        if other in met:
            continue
        met.add(other)
        if other not in objection:
            yield encoding.x[other]  # moved, hence changed
            continue
        yield encoding.event(other, instance.actual[other])  # held
        rule = instance.rule(other, full[other])
        if circuit.evaluate(rule, full):
            waiting += _reason(instance, rule, full)
        else:
            yield -encoding.x[other]  # its equation does not bring it about
        if instance.sizes[other] > 2:  # moved elsewhere
            elsewhere = proposals.solver.nof_vars() + 1
            proposals.solver.add_clause([-elsewhere, encoding.x[other]])
            proposals.solver.add_clause([-elsewhere, -encoding.event(other, full[other])])
            yield elsewhere


def _reason(instance: Instance, node: int, full: list[int]) -> list[int]:
    """Variables whose values at `full` alone make the circuit node true, none of them to spare if they are few."""
    support = sorted(instance.circuit.support(node))
    run = instance.circuit.evaluator([node])
    free: list[int] = []
    for at in support if len(support) <= FEW else ():
        trial, kept = [*free, at], {i: full[i] for i in support}
        rows = itertools.product(*(range(instance.sizes[i]) for i in trial))
        if all(run(kept | dict(zip(trial, row, strict=True)))[0] for row in rows):
            free = trial
    return [at for at in support if at not in free]
