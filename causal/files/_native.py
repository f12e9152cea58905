"""The project's own format, in JSON or YAML:

{"variables": {V: {"domain": [...], "parents": [...], "table": [...] | "expr": "..."}}, "exogenous": {U: {"domain"}}}

`table` is flat, the last parent fastest. A variable with neither table nor expr is an input."""
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from causal.errors import CausalError, UnknownVariable
from causal.expressions import MAX_DIGITS, bind, names_of, parse_expression, to_text
from causal.model import CausalModel, Formula, Input, Mechanism, Table, check_domain, copy_rule, table_rows

FIELDS = {"domain", "parents", "table", "expr"}


def unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object from its pairs. CausalError for a name given twice."""
    result = dict(items)
    if len(result) != len(items):
        often = Counter(n for n, _ in items)
        raise CausalError(f"{next(n for n, times in often.items() if times > 1)!r} is given twice")
    return result


def read_json(text: str) -> CausalModel:
    """A model from JSON. A name given twice is refused."""
    try:
        data = json.loads(text, object_pairs_hook=unique, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise CausalError(f"line {error.lineno}: not JSON: {error.msg}") from None
    return from_data(data)


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise CausalError(f"a number of {len(digits)} digits is too long")
    return int(digits)


def read_yaml(text: str) -> CausalModel:
    """A model from YAML: plain data only, no aliases or tags; `yes`, `no`, `on`, `off` are words and not truth values."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.events.AliasEvent) or event.tag is not None:
                what = "aliases" if isinstance(event, yaml.events.AliasEvent) else f"tags such as {event.tag!r}"
                raise CausalError(f"line {event.start_mark.line + 1}: {what} are refused")
            return super().compose_node(parent, index)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except CausalError:
                raise
            except ValueError:
                shown = node.value if len(node.value) <= 30 else f"{node.value[:27]}..."
                raise CausalError(f"line {node.start_mark.line + 1}: {shown!r} is no number that can be read") from None

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if not isinstance(key.value, str):
                    raise CausalError(f"line {key.start_mark.line + 1}: a name must be a word")
                if key.value in seen:
                    raise CausalError(f"line {key.start_mark.line + 1}: {key.value!r} is given twice")
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    kept = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:null")
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in kept]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
                                 list("tTfF"))
    try:
        return from_data(yaml.load(text, Loader))  # a subclass of SafeLoader: data only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise CausalError(f"{where}not YAML: {getattr(error, 'problem', None) or error}") from None


def from_data(data: Any) -> CausalModel:
    """A model from plain data; messages name the variable."""
    if not isinstance(data, Mapping) or not isinstance(data.get("variables"), Mapping):
        raise CausalError("the file must hold an object with an object 'variables'")
    _known("the file", data, {"variables", "exogenous"})
    exogenous = {} if data.get("exogenous") is None else data["exogenous"]
    if not isinstance(exogenous, Mapping):
        raise CausalError("'exogenous' must be an object of names")
    domains = {}
    fields = [*((e, {"domain"}) for e in exogenous.items()), *((e, FIELDS) for e in data["variables"].items())]
    for (name, entry), known in fields:
        if not isinstance(name, str):
            raise CausalError(f"the name {name!r} must be text")
        if not isinstance(entry, Mapping | None):
            raise CausalError(f"{name}: needs an object, got {entry!r}")
        _known(name, entry or {}, known)
        domain = (entry or {}).get("domain", [0, 1])
        if not isinstance(domain, list):
            raise CausalError(f"{name}: domain must be a list, got {domain!r}")
        domains[name] = check_domain(name, domain)
    rules = {name: _rule(name, entry or {}, domains) for name, entry in data["variables"].items()}
    return CausalModel(rules, domains, exogenous)


def _known(name: str, entry: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(map(str, entry.keys() - known)):
        raise CausalError(f"{name}: unknown field {unknown[0]!r}; known: {', '.join(sorted(known))}")


def _rule(name: str, entry: Mapping[str, Any], domains: Mapping[str, tuple[Any, ...]]) -> Mechanism:
    parents = entry.get("parents")
    if parents is not None and (not isinstance(parents, list) or not all(isinstance(p, str) for p in parents)):
        raise CausalError(f"{name}: parents must be a list of names, got {parents!r}")
    if "table" in entry and "expr" in entry:
        raise CausalError(f"{name}: has both a table and an expr; give one")
    if "table" in entry:
        rows = table_rows(name, parents or [], domains)
        values = entry["table"]
        if not isinstance(values, list) or len(values) != rows:
            count = len(values) if isinstance(values, list) else repr(values)
            raise CausalError(f"{name}: table must be a flat list of {rows} values, got {count}")
        return Table(tuple(parents or ()), tuple(values))
    if "expr" not in entry:
        if parents:
            raise CausalError(f"{name}: has parents and neither table nor expr")
        return Input()
    raw = parse_expression(str(entry["expr"]) if isinstance(entry["expr"], int) else entry["expr"])
    copied = copy_rule(name, raw, domains)
    bound = raw if copied else bind(raw, domains, f"rule of {name}")
    used = tuple(names_of(bound))
    listed = frozenset(used if parents is None else parents)
    if extra := [n for n in used if n not in listed]:
        raise UnknownVariable(extra[0], f"rule of {name}, which lists its parents", listed)
    if missing := [n for n in parents or () if n not in domains]:
        raise UnknownVariable(missing[0], f"parents of {name}", domains)
    return copied or Formula(bound, used)


def to_data(model: CausalModel) -> dict[str, Any]:
    """The model as plain data that `from_data` reads back."""
    def bare(name: str) -> bool:
        return set(model.domains[name]) == {0, 1}

    variables: dict[str, Any] = {}
    for name, rule in model.mechanisms.items():
        entry: dict[str, Any] = {"domain": list(model.domains[name])}
        if isinstance(rule, Formula):
            entry |= {"parents": list(rule.parents), "expr": to_text(rule.expression, bare)}
        elif isinstance(rule, Table):
            entry |= {"parents": list(rule.parents), "table": list(rule.values)}
        variables[name] = entry
    return {"variables": variables, "exogenous": {n: {"domain": list(model.domains[n])} for n in model.exogenous}}


def write_json(model: CausalModel) -> str:
    """The model as JSON text. CausalError naming a variable whose values JSON does not have."""
    data = to_data(model)
    for name, domain in model.domains.items():
        if any(v is not None and not isinstance(v, str | int | float) for v in domain):
            raise CausalError(f"{name}: its values {domain} cannot be written; use text or numbers")
    return json.dumps(data, indent=1) + "\n"


def write_yaml(model: CausalModel) -> str:
    """The model as YAML text; JSON strings are YAML, so that no word is misread."""
    import yaml

    text: str = yaml.safe_dump(json.loads(write_json(model)), sort_keys=False, allow_unicode=True,
                               default_flow_style=None, width=110)
    return text
