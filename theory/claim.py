"""The records that say what is asserted: `Paper`, `Claim`, `Source`, `Standing`; and `Conditions`, a hypothesis by its parts.

A claim carries its own false variants (mutants). The records validate themselves and do nothing else;
judging lives in `proofs_checks.harness.judge`."""
from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, get_args

__all__ = ["Claim", "Conditions", "Paper", "Source", "Standing", "without"]

F = TypeVar("F")
Read = Literal["abstract", "opening", "full text"]

RESERVED = ("claim", "as_stated")
_SLUG = re.compile(r"[a-z][a-z0-9_]*")
_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*")
_VARIANT = re.compile(r"[a-z0-9][a-z0-9_.]*")


class Source(Enum):
    """Where the statement comes from."""

    ABSTRACT = "the paper's abstract says it"
    PAPER = "read in the paper's own text or code"
    PUBLIC = "read in other public literature"
    RECONSTRUCTION = "reconstructed for this project; not the authors' theorem"
    SURROGATE = "a model of ours in place of the authors'; a pass says nothing about theirs"


class Standing(Enum):
    """How the paper's wording fares."""

    HOLDS = "holds as worded"
    NEEDS_HYPOTHESIS = "holds with a hypothesis that the wording leaves out"
    CONVENTION_DEPENDENT = "holds under one convention and fails under another"
    REFUTED_AS_STATED = "false as worded; a repaired statement holds"
    ILL_POSED = "cannot be made into one statement"
    OUT_OF_REACH = "cannot be judged with what is public"

    @property
    def judgeable(self) -> bool:
        """Whether a claim of this standing can be judged at all."""
        return self not in (Standing.ILL_POSED, Standing.OUT_OF_REACH)

    @property
    def needs_wording(self) -> bool:
        """Whether the paper's wording is false somewhere, so that `as_stated` is required."""
        return self in (Standing.NEEDS_HYPOTHESIS, Standing.CONVENTION_DEPENDENT, Standing.REFUTED_AS_STATED)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and how much of it was read. `slug` names its mathematics and its module in every room."""

    slug: str
    title: str
    arxiv: str | None
    topics: tuple[str, ...]
    read: Read
    url: str | None = None

    def __post_init__(self) -> None:
        if not _SLUG.fullmatch(self.slug):
            raise ValueError(f"slug={self.slug!r} must match {_SLUG.pattern}")
        for name in ("title", "arxiv", "url"):
            if getattr(self, name) is not None or name == "title":
                _check_text(f"paper {self.slug!r}", name, getattr(self, name), empty=False)
        if isinstance(self.topics, str):
            raise ValueError(f"topics={self.topics!r} must be a tuple of words, not one string")
        for topic in self.topics:
            _check_text(f"paper {self.slug!r}", "topics", topic)
        if self.read not in get_args(Read):
            raise ValueError(f"read={self.read!r} must be one of {', '.join(map(repr, get_args(Read)))}")


class Conditions:
    """What a statement supposes, by named parts: true of a case where every part is. Without parts it is always true.

    >>> given = Conditions(defined=lambda x: x != 0, positive=lambda x: x > 0)
    >>> given(-1), given.without("positive")(-1)
    (False, True)

    A part takes the case as the whole does, and is looked at where those before it are true. Parts that return relations
    of symbols make the whole return the tuple of them. ValueError for a part that is no function."""

    def __init__(self, **parts: Callable[..., Any]) -> None:
        if wrong := [name for name, part in parts.items() if not callable(part)]:
            raise ValueError(f"{wrong[0]}={parts[wrong[0]]!r} must be a function of the case")
        self.parts: Mapping[str, Callable[..., Any]] = MappingProxyType(parts)
        if parts:
            self.__signature__ = inspect.signature(next(iter(parts.values())))

    def __call__(self, *case: Any) -> Any:
        if len(self.parts) == 1:
            return next(iter(self.parts.values()))(*case)
        relations = []
        for part in self.parts.values():
            found = part(*case)
            if getattr(found, "free_symbols", None):
                relations.append(found)
            elif not found:
                return False
        return tuple(relations) or True

    def without(self, name: str) -> Conditions:
        """The same parts, all but one. LookupError if there is none of that name."""
        if name not in self.parts:
            raise LookupError(f"name={name!r} must be one of the conditions {', '.join(self.parts)}")
        rest = Conditions(**{k: v for k, v in self.parts.items() if k != name})
        rest.__signature__ = self.__signature__
        return rest


def without(form: F, name: str) -> F:
    """A form with one condition dropped, and nothing else: in its field `given`, or in its field of the condition's name.

    LookupError if neither field holds `Conditions` with a part of that name."""
    for field_name in ("given", name):
        found = getattr(form, field_name, None)
        if isinstance(found, Conditions) and name in found.parts:
            return form._replace(**{field_name: found.without(name)})  # type: ignore[attr-defined]
    raise LookupError(f"name={name!r} must be a part of the Conditions in the field 'given' or {name!r} of {form!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Claim(Generic[F]):
    """One statement of a paper, with everything that could refute a check of it.

    id           "slug.fact", with the slug of its paper
    statement    LaTeX of `form`, with its quantifiers
    hypotheses   name -> LaTeX; each has a variant `without_<name>`, among the mutants (it is needed) or in
                 `also_true` (it is not): the form, a NamedTuple, with its field `given` (or `<name>`) changed only.
                 Where that field holds `Conditions` the variant must be `without(form, name)`, so that exactly this
                 condition goes; of any other function reports say what stands in its place, not that it is needed or not
    form         always TRUE: a callable, a value, or a NamedTuple of both; None when it is given at `@evidence`
    mutants      at least two FALSE variants of `form`
    also_true    variants that hold as well: hypotheses not needed, symmetries
    as_stated    the paper's wording where it is false; required by, and only by, a standing that says so
    wording      the sentence that `as_stated` formalises, in our words

    Raises ValueError naming the field. A claim that is ILL_POSED or OUT_OF_REACH needs no form and no mutants."""

    id: str
    paper: Paper
    statement: str
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    form: F | None = None
    mutants: Mapping[str, F] = field(default_factory=dict)
    also_true: Mapping[str, F] = field(default_factory=dict)
    as_stated: F | None = None
    source: Source
    standing: Standing
    wording: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"id={self.id!r} must read 'slug.fact' in lower case, digits and underscores")
        for name, kind in (("paper", Paper), ("source", Source), ("standing", Standing)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{self.id}: {name}={getattr(self, name)!r} must be a {kind.__name__}")
        if self.id.split(".")[0] != self.paper.slug:
            raise ValueError(f"id={self.id!r} must begin with the slug of its paper, {self.paper.slug!r}")
        _check_text(self.id, "statement", self.statement, empty=False)
        for name in ("wording", "note"):
            _check_text(self.id, name, getattr(self, name))
        for name in ("hypotheses", "mutants", "also_true"):
            if not isinstance(getattr(self, name), Mapping):
                raise ValueError(f"{self.id}: {name} must map names to variants, got {getattr(self, name)!r}")
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name, latex in self.hypotheses.items():
            _check_text(self.id, f"hypotheses[{name!r}]", latex, empty=False)
        if self.form is not None:
            check_variants(self)

    def variants(self) -> dict[str, F | None]:
        """Every variant by name: `claim`, `as_stated` where given, each `also_true`, each mutant."""
        stated = {} if self.as_stated is None else {"as_stated": self.as_stated}
        return {"claim": self.form, **stated, **self.also_true, **self.mutants}

    def expected_true(self, variant: str) -> bool:
        """Whether `variant` is asserted to hold. LookupError for an unknown name."""
        if variant not in self.variants():
            raise LookupError(f"{self.id} has no variant {variant!r}; it has {', '.join(self.variants())}")
        return variant == "claim" or variant in self.also_true

    def dropped(self, variant: str) -> tuple[str, bool] | None:
        """For a variant `without_<hypothesis>`, the field of the form that it changes, and whether the form lacks exactly
        that condition there: both are `Conditions`. None for other variants."""
        hypothesis = variant.removeprefix("without_")
        if hypothesis == variant or hypothesis not in self.hypotheses:
            return None
        changed, = _changed(self.form, self.variants()[variant])
        return changed, isinstance(getattr(self.form, changed), Conditions)


def _check_text(owner: str, name: str, value: Any, *, empty: bool = True) -> None:
    """ValueError unless a value is text that can be printed anywhere, as it reads: without characters that control a
    terminal, turn the direction of writing, or are halves of others."""
    if not isinstance(value, str):
        raise ValueError(f"{owner}: {name}={value!r} must be text")
    if not (empty or value.strip()):
        raise ValueError(f"{owner}: {name} must not be empty")
    if bad := [c for c in value if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"]:
        raise ValueError(f"{owner}: {name} has the character {bad[0]!a}, which is not to be seen; write it without")


def check_variants(claim: Claim[Any]) -> None:
    """ValueError, naming the claim and the field, unless its variants obey the rules of `Claim`.

    Runs when the claim is made, or when evidence is registered for a claim whose form is given there."""
    names = [*claim.mutants, *claim.also_true]
    for name in names:
        if not isinstance(name, str) or not _VARIANT.fullmatch(name):
            raise ValueError(f"{claim.id}: variant name {name!r} must match {_VARIANT.pattern}")
        if name in RESERVED:
            raise ValueError(f"{claim.id}: variant name {name!r} is reserved")
    if both := sorted(set(claim.mutants) & set(claim.also_true)):
        raise ValueError(f"{claim.id}: {both[0]!r} stands in mutants and in also_true; it cannot be false and true")
    if claim.standing.judgeable and claim.form is None:
        raise ValueError(f"{claim.id}: form is missing; give it in the claim or at @evidence")
    if claim.standing.judgeable and len(claim.mutants) < 2:
        raise ValueError(f"{claim.id}: mutants={list(claim.mutants)} must name at least 2 false variants")
    if claim.standing.judgeable and len(set(map(id, claim.mutants.values()))) < 2:
        raise ValueError(f"{claim.id}: mutants={list(claim.mutants)} are one object; they must differ, at least 2 of them")
    if missing := sorted(set(map("without_{}".format, claim.hypotheses)) - set(names)):
        raise ValueError(f"{claim.id}: {missing[0]!r} is in neither mutants nor also_true; hypotheses need it")
    for name in claim.hypotheses:
        _check_dropped(claim, name)
    if claim.standing.needs_wording and claim.as_stated is None:
        raise ValueError(f"{claim.id}: as_stated is required when standing is {claim.standing.name}")
    if claim.as_stated is not None and not claim.standing.needs_wording:
        raise ValueError(f"{claim.id}: as_stated must be None when standing is {claim.standing.name}")


def _check_dropped(claim: Claim[Any], hypothesis: str) -> None:
    """ValueError unless `without_<hypothesis>` is the form with that one condition changed and nothing else."""
    name, form = f"without_{hypothesis}", claim.form
    variant = claim.variants()[name]
    fields = getattr(form, "_fields", ())
    allowed = [field for field in ("given", hypothesis) if field in fields]
    if not allowed:
        raise ValueError(f"{claim.id}: form must be a NamedTuple with a field 'given' (or {hypothesis!r}), the condition that "
                         f"{name} drops; got {form!r}")
    if type(variant) is not type(form):
        raise ValueError(f"{claim.id}: {name}={variant!r} must be a {type(form).__name__}, the form with one condition dropped")
    changed = _changed(form, variant)
    if len(changed) != 1 or changed[0] not in allowed:
        raise ValueError(f"{claim.id}: {name} changes {', '.join(changed) or 'nothing'}; it must change "
                         f"{' or '.join(allowed)} only, as form._replace({allowed[0]}=...) does")
    theirs, ours = (getattr(record, changed[0]) for record in (form, variant))
    if isinstance(theirs, Conditions) and not (hypothesis in theirs.parts and isinstance(ours, Conditions)
                                               and ours.parts == theirs.without(hypothesis).parts):
        raise ValueError(f"{claim.id}: {name} must drop the condition {hypothesis!r} of {list(theirs.parts)} and keep the "
                         f"others as they are, as without(form, {hypothesis!r}) does")


def _changed(form: Any, variant: Any) -> list[str]:
    """The fields in which a variant differs from the form."""
    return [name for name in form._fields if not _same(getattr(form, name), getattr(variant, name))]


def _same(one: Any, other: Any) -> bool:
    """The same function, or equal data."""
    return one is other or (not callable(one) and not callable(other) and bool(one == other))
