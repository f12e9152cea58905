"""`refutable forecast`: the worst query of a deployment, forecast from the scores of an evaluation."""
from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from proofs_checks.harness.commands._csv import TableError, rows_of, text_of

__all__ = ["ScoreError", "Scores", "command", "read_scores"]

REACH = 1000.0  # N/n up to which the method was tried by its authors: three orders of magnitude
FEW = 5  # k below which the relative standard error of the tail's scale, 1/sqrt(k - 1), is over a half
ENDINGS = (".svg", ".png", ".pdf")


class ScoreError(TableError):
    """The table cannot be read as scores; the message is one plain line."""


class Scores(NamedTuple):
    """log p of each query, the line of the file where it stands, and the lines above the last score that are blank."""

    log_p: list[float]
    lines: list[int]
    blank: list[int]


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--deployment", required=True, type=float, metavar="N", help="Queries in deployment, e.g. 1e6.")
@click.option("--k", default=10, show_default=True, help="Number of largest scores that the line is fitted to.")
@click.option("--level", default=0.95, show_default=True, help="Confidence of the limits.")
@click.option("--plot", metavar="FILE", help="Draw the fit of the tail: .svg, .png or .pdf.")
def command(file: str, deployment: float, k: int, level: float, plot: str | None) -> None:
    """Forecast the failure probability of the worst of N queries from a CSV table of scores ("-": standard input).

    One row a query, with a column p (its failure probability, strictly between 0 and 1) or log_p (the natural logarithm,
    for probabilities that round to 0 or 1). Other columns are ignored.

    Printed: the forecast of Jones et al. (a line through the k largest scores psi = -log(-log p)); its bias, which is known
    if the tail is exponential in psi; the debiased forecast, which is the one to use (another estimator, from spacings, not
    the first less its bias), with limits that are exact for such a tail; whether the tail looks exponential, lighter or
    heavier; warnings where the extrapolation is not supported. --level is the confidence of the limits and of the share that
    nobody saw.

    Exit code 2, and one line that names the file and the line, if the table or an option cannot be used."""
    try:
        if plot is not None and Path(plot).suffix.lower() not in ENDINGS:
            raise ScoreError(f"--plot {plot}: the name must end in {', '.join(ENDINGS)}")
        scores = read_scores(text_of(file), file)
        for line in _report(scores, deployment, k, level, file):
            click.echo(line)
        if plot is not None:
            _save(_picture(scores.log_p, deployment, k, level), Path(plot))
            click.echo(f"written: {plot}")
    except TableError as error:
        click.echo(f"refutable forecast: {error}", err=True)
        sys.exit(2)


def read_scores(text: str, name: str) -> Scores:
    """The scores of a CSV table with a column p or log_p. TableError names the line."""
    column, width, found, blank = None, 0, Scores([], [], []), []
    for line, cells in rows_of(text, name):
        if not cells:
            blank.append(line)
            continue
        if column is None:
            blank.clear()
            header = [cell.lower() for cell in cells]
            column, width = _column(header, f"{name} line {line}"), len(header)
        elif len(cells) != width:
            raise ScoreError(f"{name} line {line}: has {len(cells)} fields, the header has {width}")
        else:
            found.log_p.append(_log_p(cells[header.index(column)], column, f"{name} line {line}"))
            found.lines.append(line)
            found.blank.extend(blank)
            blank.clear()
    if column is None:
        raise ScoreError(f"{name}: is empty; needs a header with p or log_p, and a row for each query below it")
    if not found.lines:
        raise ScoreError(f"{name}: no row of scores below the header")
    return found


def _column(header: Sequence[str], where: str) -> str:
    there = [name for name in ("p", "log_p") for cell in header if cell == name]
    if len(there) != 1:
        found = "both" if len(set(there)) == 2 else f"{there[0]} twice" if there else f"{', '.join(header) or 'none'}"
        raise ScoreError(f"{where}: needs one column p or log_p; found {found}")
    return there[0]


def _log_p(cell: str, column: str, where: str) -> float:
    """log p of a cell, refused where p is not strictly between 0 and 1."""
    try:
        value = float(cell.replace("_", "?"))  # float reads 1_0 as 10
    except ValueError:
        raise ScoreError(f"{where}: {column} = {cell!r} is not a number") from None
    if column == "log_p":
        if -math.inf < value < 0:
            return value
        raise ScoreError(f"{where}: log_p = {cell} must be negative and finite, the natural logarithm of a probability")
    if 0 < value < 1:
        return math.log(value)
    hint = "; a probability that rounds to 0 or 1 can be given in a column log_p" if value in (0.0, 1.0) else ""
    raise ScoreError(f"{where}: p = {cell} must lie strictly between 0 and 1{hint}")


def _report(scores: Scores, size: float, k: int, level: float, name: str) -> Iterator[str]:
    from theory import failure_forecast as thy

    n = len(scores.log_p)
    try:
        plain = thy.forecast_score(deployment=size, k=k, log_p=scores.log_p)
        bias = thy.bias(k, n, size)
        better = thy.debiased_score(deployment=size, k=k, level=level, log_p=scores.log_p)
        fit = thy.fit_tail(k=k, log_p=scores.log_p)
    except ValueError as error:
        raise ScoreError(f"{name}: {error}") from None
    psi = sorted(thy.score(log_p=scores.log_p), reverse=True)
    h = float(sum(psi[:k - 1]) / (k - 1) - psi[k - 1])
    percent = f"{100 * level:g}%"
    yield f"{n} queries evaluated, {size:g} in deployment; psi = -log(-log p), k = {k} largest, r2 of the line {fit.r2:.3f}"
    yield f"forecast            p = {_shown(plain)}   (psi {plain:.4f})"
    yield (f"its known bias      {bias * h:+.4f} in psi for an exponential tail ({bias:.5f} times the tail's scale {h:.4g}):"
           f" -log p is too {'small' if bias > 0 else 'large'} by a factor {math.exp(min(abs(bias * h), 700.0)):.4g}")
    yield f"{'':20}that is what the line above errs by on average, at the estimated scale; do not subtract it"
    yield f"debiased forecast   p = {_shown(better.estimate)}   (psi {better.estimate:.4f})"
    yield (f"{'':20}the one to use: without bias for such a tail; not the forecast less its bias, but another estimator: "
           "the k-th score plus the mean spacing times an exact factor")
    yield (f"{percent + ' limits':20s}p = {_shown(better.lower)} to {_shown(better.upper)}   "
           f"(psi {better.lower:.4f} to {better.upper:.4f})")
    yield (f"{'':20}exact if the tail is exponential above the k-th score, which {n} queries can refute but not show; see "
           "tail")
    if k < FEW:
        yield (f"warning             k = {k}: the tail's scale comes from {k - 1} spacing{'s' * (k > 2)}, so that the limits "
               "are wide, and nothing tells whether the tail is exponential there; take a larger k")
    yield from _diagnosis(scores.log_p, psi[:k], size)
    if scores.blank:
        first, count = scores.blank[0], len(scores.blank)
        yield (f"warning             {count} blank line{'s' * (count > 1)} among the scores, the first at line {first}: left "
               "out, though a score may be missing there")
    unseen = -math.expm1(math.log1p(-level) / n)  # the share that n queries all miss with probability 1 - level
    yield (f"not visible         a kind of failure that none of the {n} queries showed may have a share of up to "
           f"{unseen:.3g} ({percent}); no statistic of these scores can see it")


def _diagnosis(log_p: Sequence[float], top: Sequence[float], size: float) -> Iterator[str]:
    """What the tail looks like, and warnings."""
    from theory import failure_forecast as thy

    n = len(log_p)
    if n < 8:
        yield f"tail                too few scores ({n}) to tell its shape"
    else:
        shape = thy.tail_shape(log_p=log_p)
        said = {"exponential": "exponential: not told apart from it, which does not make it so",
                "lighter": "lighter than exponential", "heavier": "heavier than exponential"}[shape.shape]
        yield f"tail                {said} (p-value {shape.p_value:.3g}, {shape.used} largest scores)"
        if shape.shape == "heavier":
            yield ("warning             a tail heavier than exponential: both forecasts tend to be too low, the limits do "
                   "not hold")
        elif shape.shape == "lighter":
            yield ("warning             a tail lighter than exponential: both forecasts tend to be too high, the limits "
                   "are not exact")
    if size > REACH * n:
        yield (f"warning             extrapolation over {size / n:.3g} times the evaluation; the method was tried up to "
               f"{REACH:g} times, and nothing in the scores supports it beyond what the tail's shape does")
    if size < n:
        yield "warning             the deployment is smaller than the evaluation: read the quantile off the scores instead"
    if len(set(top)) < len(top):
        yield f"warning             ties among the {len(top)} largest scores: rounded values make the fitted tail unreliable"


def _shown(psi: float) -> str:
    """p = exp(-exp(-psi)) with its digits where they are: near 0 by its logarithm, near 1 by its complement."""
    if psi < -745:  # exp(-psi) would overflow
        return "0 (below any float)"
    loss = math.exp(-psi)  # -log p
    if loss > 700:
        return f"10^{-loss / math.log(10):.6g}"
    if loss < 1e-3:
        return f"1 - {-math.expm1(-loss):.4g}" if loss else "1 (closer than any float)"
    return f"{math.exp(-loss):.6g}"


def _picture(log_p: Sequence[float], size: float, k: int, level: float) -> Any:
    """The empirical tail, the line through its top k, and what is read off at 1/N."""
    import numpy as np
    from matplotlib.figure import Figure

    from theory import failure_forecast as thy

    n = len(log_p)
    psi = np.sort(thy.score(log_p=log_p))[::-1]
    fit, plain = thy.fit_tail(k=k, log_p=log_p), thy.forecast_score(deployment=size, k=k, log_p=log_p)
    better = thy.debiased_score(deployment=size, k=k, level=level, log_p=log_p)
    page = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = page.subplots()
    shown = psi[:max(k, min(n, 500))]
    axes.plot(shown, np.arange(1, len(shown) + 1) / n, color="#b0b0b0", linestyle="none", marker="o", markersize=3)
    axes.plot(psi[:k], np.arange(1, k + 1) / n, color="#0072B2", linestyle="none", marker="o", markersize=4,
              label=f"{k} largest scores")
    ends = np.array([psi[k - 1], max(plain, psi[0])])
    axes.plot(ends, np.exp(fit.slope * ends + fit.intercept), color="#0072B2", linewidth=1.3)
    axes.plot([plain], [1 / size], color="#0072B2", marker="s", linestyle="none", label="forecast")
    axes.errorbar([better.estimate], [1 / size], xerr=[[max(better.estimate - better.lower, 0.0)],
                  [max(better.upper - better.estimate, 0.0)]], color="#D55E00", marker="^", capsize=4, linestyle="none",
                  label=f"debiased, {100 * level:g}% limits")
    axes.axhline(1 / size, color="#333333", linewidth=0.7, linestyle=(0, (4, 3)))
    axes.set(yscale="log", xlabel="score $\\psi = -\\log(-\\log p)$", ylabel="share of queries above")
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return page


def _save(figure: Any, path: Path) -> None:
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise ScoreError(f"--plot {path}: {error.strerror or error}") from None
