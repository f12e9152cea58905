"""Clauses for a question: the half encoding of T3, polarity-aware, gates of any fan-in.

For every variable V under the effect and every alternative q: (V = q) implies x_V or "the equation of V gives q".
The converse is left out: that freedom is the contingency set. Minimal x-projections of the models in which the effect
fails are the causes."""
from __future__ import annotations

from collections.abc import Callable

from causal._circuit import FALSE, TRUE
from causal._instance import Instance


class Encoding:
    """Clauses over positive integers. `x[i]` is the literal "i is in the cause"; `event(i, q)` that of V_i = q.

    Variables of `frozen`, whose change could only hinder, are kept at their actual values.
    With `contingency=True` also `w[i]`: V_i is held at its actual value against its equation."""

    def __init__(self, instance: Instance, allowed: frozenset[int], *, contingency: bool = False,
                 frozen: frozenset[int] = frozenset()) -> None:
        self.instance, self.circuit = instance, instance.circuit
        self.clauses: list[list[int]] = []
        self.top = 0
        self.x: dict[int, int] = {}
        self.w: dict[int, int] = {}
        self.events: dict[int, list[int]] = {}
        self._true = 0
        self.literal = Literals(self, self.event).of
        self.clauses.append([self.literal(instance.failure, True)])
        for at in reversed(range(len(instance.names))):  # a variable is met after everything that uses it
            if at in frozen and at in self.events:
                self.clauses.append([self.event(at, instance.actual[at])])
            elif at in self.events:
                self._equation(at, at in allowed, contingency)

    def _equation(self, at: int, allowed: bool, contingency: bool) -> None:
        if allowed:
            self.x[at] = self.fresh()
        for code in self.instance.alternatives(at):
            node = self.instance.rule(at, code)
            if node == TRUE:
                continue
            clause = [-self.event(at, code)] + ([self.x[at]] if allowed else [])
            self.clauses.append(clause if node == FALSE else [*clause, self.literal(node, True)])
        code = self.instance.actual[at]
        node = self.instance.rule(at, code) if contingency else TRUE
        if node != TRUE:
            self.w[at] = self.fresh()
            clause = [-self.event(at, code), self.w[at]]
            self.clauses.append(clause if node == FALSE else [*clause, self.literal(node, True)])

    def fresh(self) -> int:
        """A new variable."""
        self.top += 1
        return self.top

    def constant(self) -> int:
        """A literal that is true."""
        if not self._true:
            self._true = self.fresh()
            self.clauses.append([self._true])
        return self._true

    def event(self, at: int, code: int) -> int:
        """The literal of V_at = code; one-hot beyond two values."""
        codes = self.events.get(at)
        if codes is None:
            size = self.instance.sizes[at]
            if size == 2:
                one = self.fresh()
                codes = [-one, one]
            else:
                codes = [self.fresh() for _ in range(size)]
                self.clauses.append(list(codes))
                self.clauses += [[-a, -b] for i, a in enumerate(codes) for b in codes[:i]]
            self.events[at] = codes
        return codes[code]

    def knows(self, at: int) -> bool:
        """Whether the variable matters, so that it has events."""
        return at in self.events

    def decode(self, model: set[int]) -> dict[int, int]:
        """The codes of the variables met, from the true literals of a model."""
        return {at: next(q for q, lit in enumerate(codes) if lit in model) for at, codes in self.events.items()}

    def phases(self) -> list[int]:
        """Literals to try first: nothing in the cause, every variable at its actual value."""
        at_rest = [codes[self.instance.actual[at]] for at, codes in self.events.items()]
        return [-v for v in self.x.values()] + [-v for v in self.w.values()] + at_rest


class Literals:
    """Literals that imply circuit nodes, written as clauses of `encoding`; `event(i, q)` is the literal of V_i = q."""

    def __init__(self, encoding: Encoding, event: Callable[[int, int], int]) -> None:
        self.circuit, self.event = encoding.circuit, event
        self.clauses, self.fresh, self.constant = encoding.clauses, encoding.fresh, encoding.constant
        self._known: dict[tuple[int, bool], int] = {}

    def of(self, node: int, sign: bool) -> int:
        """A literal that implies `node` is `sign`; only that direction is encoded."""
        key = (node, sign)
        if key not in self._known:
            self._known[key] = self._encode(self.circuit.nodes[node], sign)
        return self._known[key]

    def _encode(self, entry: tuple, sign: bool) -> int:
        match entry[0]:
            case "const":
                return self.constant() if entry[1] == sign else -self.constant()
            case "atom":
                event = self.event(entry[1], entry[2])
                return event if sign else -event
            case "not":
                return self.of(entry[1], not sign)
            case "and" | "or":
                kids = [self.of(k, sign) for k in entry[1]]
                return self._all(kids) if (entry[0] == "and") == sign else self._any(kids)
            case "xor":
                return self._parity(entry[1], sign)
            case "atleast":
                kids = [self.of(k, sign) for k in entry[2]]
                return self._at_least(kids, entry[1] if sign else len(kids) - entry[1] + 1)
            case _:
                head = self.fresh()
                self.clauses += [[-head, -self.event(entry[1], q), self.of(k, sign)]
                                 for q, k in enumerate(entry[2])]
                return head

    def _all(self, kids: list[int]) -> int:
        head = self.fresh()
        self.clauses += [[-head, k] for k in kids]
        return head

    def _any(self, kids: list[int]) -> int:
        head = self.fresh()
        self.clauses.append([-head, *kids])
        return head

    def _parity(self, nodes: tuple[int, ...], odd: bool) -> int:
        """Literals for both parities of each suffix: head(odd) -> (k and rest(even)) or (not k and rest(odd))."""
        rest = {True: self.of(nodes[-1], True), False: self.of(nodes[-1], False)}
        for node in reversed(nodes[:-1]):
            yes, no = self.of(node, True), self.of(node, False)
            heads = {True: self.fresh(), False: self.fresh()}
            for parity, head in heads.items():
                flipped, same = rest[not parity], rest[parity]
                self.clauses += [[-head, yes, no], [-head, yes, same], [-head, flipped, no], [-head, flipped, same]]
            rest = heads
        return rest[odd]

    def _at_least(self, kids: list[int], threshold: int) -> int:
        """head(i, j) "at least j of kids[i:]" -> head(i+1, j-1), and -> kids[i] or head(i+1, j)."""
        true = self.constant()
        below = {0: true}  # j -> literal, for the empty suffix
        for left, kid in enumerate(reversed(kids), 1):
            row = {0: true}
            skipped = len(kids) - left  # kids before this one, each may still contribute
            for j in range(max(1, threshold - skipped), min(left, threshold) + 1):
                head = row[j] = self.fresh()
                self.clauses.append([-head, below.get(j - 1, -true)])
                self.clauses.append([-head, kid, below.get(j, -true)])
            below = row
        return below[threshold]
