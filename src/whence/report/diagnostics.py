"""Traces and diagnostics: whether the search did its work."""

from __future__ import annotations

import math

import numpy as np

from whence.analysis.sample import PosteriorSample
from whence.drawing.chart import Line, bar_chart, histogram, line_chart, trace
from whence.model.machine import number
from whence.report.html import (
    Html,
    bullets,
    counted,
    details,
    duration,
    figure,
    fill,
    fixed,
    join,
    listed,
    paragraph,
    plain,
    section,
    share,
    table,
)
from whence.report.study import Ladders, Study
from whence.report.words import word, words
from whence.runs.result import Run
from whence.search.diagnostics import MOST_ERRORS, barrier, trips_predicted

SHOWN = 6  # lines of a chart
SETTLED = 0.2  # of the steps; those before may lie below the chart
SPREAD = 4.0  # nats that a chart spans at least
LEAST = 420.0  # pixels at which a chart can be read
STOPPED = {
    "agreed": "the samplers agreed",
    "steps": "all steps were made",
    "minutes": "the time was up",
    "unfinished": "it is not finished",
}


def diagnostics(study: Study) -> Html:
    """Return the section."""
    return section(
        "diagnostics",
        "Traces and diagnostics",
        *_doubts(study),
        _figures(study),
        *_ladders(study.ladders),
        *_traces(study),
        *_marginals(study),
        words(),
    )


def _doubts(study: Study) -> list[Html]:
    if not study.run.doubts:
        return [paragraph("No doubts were left.")]
    doubts = [doubt[:1].upper() + doubt[1:] + "." for doubt in study.run.doubts]
    return [paragraph("What speaks against trusting the result:"), bullets(doubts)]


def _figures(study: Study) -> Html:
    run, sample = study.run, study.run.posterior
    rows = [
        ["log likelihood", fixed(run.log_likelihood, 2), "of all demonstrations, in nats"],
        ["log prior", fixed(run.log_prior, 2), "of the machine, not normalised"],
        ["score", fixed(run.score, 2), f"compared at temperature {run.temperature:g}"],
        ["machines scored", f"{run.evaluations:,}", "including those found in the cache"],
        [
            "steps",
            f"{run.steps:,}",
            f"in {duration(run.seconds)}; {STOPPED.get(run.stopped, run.stopped)}",
        ],
    ]
    rows += [] if sample is None else _sampled(sample)
    if run.trace.accepted.size:
        rates = [share(float(rate)) for rate in run.trace.accepted.mean(axis=0)]
        kind = "each ladder's coldest chain" if run.method == "tempering" else "each run"
        rows.append(["proposals accepted", ", ".join(rates[:SHOWN]), f"by {kind}"])
    if run.exact is not None:
        every = f"{sum(run.exact.machines):,}"
        rows.append(["all machines", every, "valid ones of these sizes, all scored"])
        rows.append(["weight dropped", f"{run.exact.dropped:.1e}", "of machines not kept"])
    return table("Figures of the search", ["figure", "value", "what it is"], rows, numbers=(1,))


def _sampled(sample: PosteriorSample) -> list[list[str]]:
    rows = [["draws", f"{sample.size:,}", "machines of the sample"]]
    if math.isfinite(sample.ess):
        worth = f"{sample.ess:,.0f}"
        rows.append(
            ["effective sample size (ESS)", worth, "as exact as this many independent draws"]
        )
    if sample.agreement is not None:
        apart = sample.agreement
        rows.append(
            [
                join(["largest gap between ", word("ladders", "ladder")]),
                f"{apart.largest:.1f}",
                f"in standard errors; fine up to {MOST_ERRORS:g}",
            ]
        )
        rows.append(
            ["total variation", f"{apart.total_variation:.3f}", "between ladders, from 0 to 1"]
        )
    return rows


def _ladders(ladders: Ladders | None) -> list[Html]:
    """Return the round trips, and the swap rate of each pair of neighbours."""
    if ladders is None or not ladders.swap_rates:
        return []
    trips = listed([f"{trip:,}" for trip in ladders.round_trips])
    low, high = min(ladders.swap_rates), max(ladders.swap_rates)
    rejected = [1 - rate for rate in ladders.swap_rates]
    predicted = trips_predicted(rejected, 1_000 * ladders.copies)
    text = (
        f"Round trips from the hottest rung to the coldest since the warm-up, by ladder: {trips}. "
        f"Neighbouring rungs were exchanged in {share(low)} to {share(high)} of the "
        f"tries: a barrier (Lambda) of {barrier(rejected):.1f}, with which a ladder would make "
        f"about {predicted:.0f} round trips in 1,000 steps if its "
        "chains forgot at every step where they were."
    )
    pairs = zip(ladders.temperatures, ladders.temperatures[1:], ladders.swap_rates, strict=False)
    rows = [
        [f"{at + 1}", plain(cold), plain(hot), share(rate)]
        for at, (cold, hot, rate) in enumerate(pairs)
    ]
    header = ["rung", "temperature", "of the next", "exchanged"]
    shown = table("Rungs and how often neighbours were exchanged", header, rows, numbers=range(4))
    return [paragraph(text), details("Every rung", shown)]


def _traces(study: Study) -> list[Html]:
    """Return the scores over steps."""
    run = study.run
    if not run.trace.score.size:
        return [paragraph("The method draws no samples, so there is no trace.")]
    kind = "ladder" if run.method == "tempering" else "run"
    charts = []
    for title, values in (
        (f"Score of the current machine of each {kind}", run.trace.score),
        (f"Best score so far of each {kind}", run.trace.best),
    ):
        lines = [trace(f"{kind} {at + 1}", values[:, at]) for at in range(values.shape[1])][:SHOWN]
        late = values[int(SETTLED * len(values)) :, :SHOWN]
        finite = late[np.isfinite(late)]
        if not len(finite):
            return [paragraph("No machine that was scored can have produced the demonstrations.")]
        top = float(finite.max())
        low = min(float(finite.min()), top - SPREAD)
        svg = line_chart(title, "step", lines, low, top, steps=run.steps)
        charts.append(figure(svg, join([title, ". ", _keys(lines)]), least=LEAST))
    note = (
        f"Nats at temperature {run.temperature:g}. The first fifth of the steps may lie below "
        "the lower edge, and is then drawn along it. For every stretch of steps the lowest and "
        "the highest value are shown."
    )
    return [fill("<h3>Scores over steps</h3>"), *charts, paragraph(note, kind="note")]


def _keys(lines: list[Line]) -> Html:
    keys = (
        fill(
            '<span class="key"><span class="dash series-{at}"></span>{name}</span>',
            at=str(at),
            name=line.name,
        )
        for at, line in enumerate(lines)
    )
    return join(keys, " ")


def _marginals(study: Study) -> list[Html]:
    """Return how likely each number of states is, and what was inferred about the expert."""
    run, sample, draws = study.run, study.run.posterior, study.run.draws
    if sample is None or draws is None:
        return []
    states = sorted(sample.n_states.items())
    parts = [fill("<h3>What else was inferred</h3>")]
    title = "States that the machine needs"
    svg = bar_chart(title, [(counted(n, "state"), weight) for n, weight in states])
    note = f"{title}: those of the smallest one that pays the same. Searched: {_sizes(study)}."
    parts.append(figure(svg, note, least=LEAST))
    rows = []
    for name in ("alpha", "lapse", "discount"):
        summary, best = getattr(sample, name), getattr(run.expert, name)
        if name not in run.inferred:
            rows.append([word(name, name), plain(best), "assumed", "–"])
            continue
        between = f"{plain(summary.low)} to {plain(summary.high)}"
        rows.append([word(name, name), plain(best), plain(summary.mean), between])
    if run.expert.is_soft or "kind" in run.inferred:
        how = "compared" if "kind" in run.inferred else "assumed"
        rows.append([word("kind of expert", "kind"), run.expert.kind, how, "–"])
    header = ["the expert's", "with the best machine", "mean", "95% interval"]
    parts.append(table("The expert", header, rows, numbers=(1, 2)))
    if "kind" in run.inferred:
        bars = list(sample.kinds.items())
        caption = f"The kind of expert. {compared(run)}"
        parts.append(figure(bar_chart("Posterior of the kind", bars), caption, least=LEAST))
    for name in ("alpha", "lapse"):
        values = getattr(draws, name)
        if name in run.inferred and np.isfinite(values).all():
            caption = f"The expert's {name}: its posterior distribution."
            svg = histogram(f"Posterior of {name}", name, values, draws.weight)
            parts.append(figure(svg, caption, least=LEAST))
    if "discount" in run.inferred:
        grid = np.unique(draws.discount)
        bars = [(number(d), float(draws.weight[draws.discount == d].sum())) for d in grid.tolist()]
        parts.append(
            figure(bar_chart("Posterior of the discount", bars), "The discount.", least=LEAST)
        )
    return parts


def compared(run: Run) -> str:
    """Return by how much the demonstrations speak for one kind of expert, in words."""
    best: dict[str, float] = {}
    for size, (value, _) in run.log_evidence.items():
        if isinstance(size, tuple):
            best[size[1]] = max(best.get(size[1], -np.inf), value)
    if len(best) < 2:
        return ""
    (first, high), (_, low) = sorted(best.items(), key=lambda each: -each[1])
    return f"The demonstrations speak for {first} by {high - low:,.1f} nats at least or about."


def _sizes(study: Study) -> str:
    sizes = study.run.states
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
