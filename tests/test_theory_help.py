"""`help(theory.<slug>)` begins with the functions for a user's own data, as they are called."""
from __future__ import annotations

import ast
import importlib
import inspect
import re
from types import FunctionType

import pytest

from proofs_checks.harness.registry import slugs


@pytest.mark.parametrize("slug", slugs())
def test_the_functions_for_ones_own_data_come_first(slug: str):
    module = importlib.import_module(f"theory.{slug}")
    text = inspect.cleandoc(module.__doc__ or "")
    title, _, rest = text.partition("For your own data\n")
    section = rest.partition("\n\n")[0]
    assert title and section and "Notation" not in title and "Source" not in title
    names = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", section))
    public = {n for n in module.__all__ if isinstance(getattr(module, n), FunctionType)}
    shown = {n for n in public if n in names}
    assert shown, section
    for call in re.findall(r"(?m)^  ([a-z_]+\([^)]*\))", section):
        node = ast.parse(re.sub(r"=(?=[,)])", "=0", call), mode="eval").body
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        function = getattr(module, node.func.id)
        given = [ast.unparse(a) for a in node.args] + [k.arg for k in node.keywords]
        assert node.func.id in module.__all__ and set(given) <= set(inspect.signature(function).parameters), call


@pytest.mark.parametrize("name", ["pass_at_k.pass_at_k", "pass_at_k.advantages", "pass_at_k.conflict_report",
                                  "window_information.share_bound", "window_information.whiten", "window_length.excess_risk",
                                  "window_length.min_window", "failure_forecast.debiased_forecast",
                                  "failure_forecast.missed_mode", "surface_charge.two_term_sigma",
                                  "surface_charge.validity_report", "surface_charge.cylinder_sigma"])
def test_what_the_interface_promises_is_among_them(name: str):
    slug, function = name.split(".")
    assert function in (importlib.import_module(f"theory.{slug}").__doc__ or "")
