"""What a run found, for people at a terminal."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from whence.analysis.design import LITTLE_TOLD, NOTHING_TOLD
from whence.analysis.facts import SURE, percent
from whence.cli._console import Output
from whence.drawing import terminal, text
from whence.model.expert import BOLTZMANN
from whence.model.machine import number
from whence.runs import folder
from whence.runs.groups import Groups, named
from whence.runs.posterior_document import facts_document, open_questions_document
from whence.runs.result import Run
from whence.runs.trust import checks, cure, rough
from whence.search.diagnostics import Summary

if TYPE_CHECKING:
    from rich.table import Table

WORDS = {
    "agreed": "the ladders agree",
    "steps": "all steps are made",
    "minutes": "time is up",
    "unfinished": "not finished",
}
TOP = 5
MOST_SUBJECTS = 24


def tell(out: Output, run: Run, output: str) -> None:
    """Print what a run found: its document, or text for people, and what to doubt."""
    document(out, run, output)
    show(out, run, output)


def document(out: Output, run: Run, output: str, **more: Any) -> None:
    """Print the document of a run, where one was asked for."""
    told = folder.settings_document(run) | folder.result_document(run) if out.json else {}
    out.document({"written": output} | more | told)


def show(out: Output, run: Run, output: str) -> None:
    """Print what a run found as text for people, and what to doubt."""
    if not (out.json or out.quiet):
        out.show(*texts(run, output))
    for note in run.notes:
        out.warn(note)
    for doubt in run.doubts:
        lead = "some figures are rough" if rough(doubt, run) else "do not trust this yet"
        out.warn(f"{lead}: {doubt}; try: {cure(doubt, run, output)}")


def texts(run: Run, output: str) -> list[Any]:
    """Return the answer, the machine, how sure each arrow is, and how it was found."""
    shown = [*_found(run), *_exact_lines(run)]
    shown += [
        f"score {run.score:,.2f} at temperature {run.temperature:g}: log likelihood "
        f"{run.log_likelihood:,.2f}, log prior {run.log_prior:,.2f}",
        _expert_line(run),
        f"{run.evaluations:,} machines scored in {run.seconds:.1f} s, {run.steps:,} steps; "
        f"{WORDS[run.stopped]}; wrote {output}",
        *trust_lines(run),
        f"for the whole story: {shlex.join(['whence', 'report', output, '-o', 'report.html'])}",
    ]
    return shown


def _found(run: Run) -> list[Any]:
    """Return the answer and the machine; of several groups of subjects, those of each."""
    if run.groups is None:
        return [*answer_lines(run), "", *machine_parts(run)]
    several = len(run.groups.groups) > 1
    shown: list[Any] = [f"{run.answer.partition(':')[0]}", ""] if several else []
    for at, each in enumerate(run.groups.groups):
        lead = [f"group {at + 1}: {each.called}"] if several else []
        shown += [*lead, *_found(run.of_group(at)), ""]
    return [*shown, *_subject_lines(run.groups)]


def _subject_lines(found: Groups) -> list[str]:
    """Return who belongs to which group, and which expert each is."""
    lines = ["subjects, each with its group and its expert (95% intervals):"]
    for each in found.subjects[:MOST_SUBJECTS]:
        alpha, lapse = each.alpha, each.lapse
        lines.append(
            f"  {named(each.name)}: group {each.group + 1} ({percent(each.share)}), alpha "
            f"{alpha.mean:.3g} ({alpha.low:.3g} to {alpha.high:.3g}), lapse {lapse.mean:.3f} "
            f"({lapse.low:.3f} to {lapse.high:.3f})"
        )
    more = len(found.subjects) - MOST_SUBJECTS
    return [*lines, f"  and {more} more: --json names all"] if more > 0 else lines


def answer_lines(run: Run) -> list[str]:
    """Return the answer in a sentence, what is probable, and what is open."""
    open_ = open_lines(open_questions_document(run))
    return [run.answer, *fact_lines(facts_document(run)), *_test_lines(run), *open_]


def _test_lines(run: Run) -> list[str]:
    """Return which demonstration would put to the test what hardly was, if any would."""
    if run.next_test is None or run.next_test[1].nats < NOTHING_TOLD:
        return []
    return [f"  to be surer: a demonstration from {run.next_test[1].name} would tell"]


def fact_lines(facts: list[dict[str, Any]]) -> list[str]:
    """Return the facts besides the answer, as JSON has them, one a line."""
    lines = []
    for fact in facts:
        if fact["stated"]:
            continue
        if fact["kind"] in ("indifferent", "untellable"):
            lines.append(f"  not known: {fact['text']}")
        else:
            how = "also" if fact["probability"] >= SURE else "probably"
            wish = "the expert wants " if fact["kind"] == "route" else ""
            lines.append(f"  {how}: {wish}{fact['text']} ({percent(fact['probability'])})")
    return lines


def trust_lines(run: Run) -> list[str]:
    """Return what was checked, where nothing is doubted."""
    if run.doubts or run.posterior is None:
        return []
    return ["no doubts; checked were", *(f"  {check}" for check in checks(run))]


def machine_parts(run: Run) -> list[Any]:
    """Return the machine that illustrates the answer, and how sure it all is."""
    same = run.shown == run.best
    lead = "the simplest machine with this plan:" if run.posterior is not None else "the machine:"
    shown: list[Any] = [lead, "", terminal.machine_text(run.best if same else run.shown), ""]
    if run.certainty and same:
        shown += [arrow_table(run), ""]
    return [*shown, *_posterior_lines(run)]


def arrow_table(run: Run) -> Table:
    """Return a table of arrows: the log posterior odds against the next best choice of each."""
    from rich.table import Table

    table = Table("arrow", "pays", "sure?", "log posterior odds against the next best (nats)")
    names = [text.shorten(text.visible(name), 30) for name in run.best.state_names]
    for each in run.certainty:
        odds = "no other" if math.isinf(each.loss) else f"{each.loss:,.1f}"
        other = ""
        if each.other_target is not None and each.other_reward is not None:
            other = f" (to {names[each.other_target]}, paying {number(each.other_reward)})"
        symbol = text.shorten(text.visible(each.symbol), 24)
        table.add_row(
            f"{names[each.state]} -{symbol}-> {names[each.target]}",
            number(each.reward),
            "yes" if each.determined else "OPEN",
            odds + other,
        )
    return table


def _posterior_lines(run: Run) -> list[str]:
    sample = run.posterior
    if sample is None:
        return []
    shares = [
        f"{weight:.1%}" + (f" ± {error:.1%}" if error else "")
        for weight, error in zip(sample.weights[:TOP], sample.errors, strict=False)
    ]
    states = ", ".join(f"{n} ({p:.1%})" for n, p in sample.n_states.items())
    more = f" and {len(sample) - TOP} more" if len(sample) > TOP else ""
    ways = [f"{each.text} ({percent(each.probability)})" for each in sample.routes[:TOP]]
    return [
        f"plans that remain possible: {'; '.join(ways)}",
        f"machines that differ in the world: {len(sample)}; their probabilities: "
        f"{', '.join(shares)}{more}",
        f"states needed: {states}",
    ]


def open_lines(questions: list[dict[str, Any]]) -> list[str]:
    """Return open questions, as JSON has them, one a line, each with what would settle it."""
    lines = []
    for each in questions:
        pays = ", ".join(f"{number(p['reward'])} ({p['probability']:.0%})" for p in each["pays"])
        labels = " ".join(text.visible(label) for label in each["labels"])
        lines.append(f"  open: what does `{labels}` pay? {pays}; {where_to_look(each)}")
    return lines


def where_to_look(each: dict[str, Any]) -> str:
    """Return which demonstration would settle an open question, if any would."""
    nats = math.inf if each["nats"] is None else each["nats"]
    if nats < NOTHING_TOLD:
        return "no demonstration would tell: the expert acts the same either way"
    much = " a little" if nats < LITTLE_TOLD else ""
    return f"a demonstration from {each['start_name']} would tell{much}"


def _exact_lines(run: Run) -> list[str]:
    if run.exact is None or run.draws is None:
        return []
    firsts = run.draws.first_rows
    weight = run.draws.weight[: firsts[1] if len(firsts) > 1 else None].sum()
    return [
        f"weight {weight:.4g} of {sum(run.exact.machines):,} machines; "
        f"{len(firsts):,} kept, {run.exact.dropped:.1e} of the weight dropped"
    ]


def _expert_line(run: Run) -> str:
    """Return who the expert is, and what was inferred about it."""
    sample = run.posterior
    parts = [] if run.expert.kind == BOLTZMANN else [f"{run.expert.kind} assumed"]
    if "kind" in run.inferred:
        kinds = {} if sample is None else sample.kinds
        parts = [f"{kind} {percent(p)}" for kind, p in kinds.items()] + ["of two kinds"]
    for name, value in (
        ("alpha", run.expert.alpha),
        ("lapse", run.expert.lapse),
        ("discount", run.expert.discount),
    ):
        if name in run.inferred and sample is not None:
            parts.append(_inferred(name, getattr(sample, name)))
        else:
            parts.append(
                f"{name} {value:g} " + ("inferred" if name in run.inferred else "assumed")
            )
    return "expert: " + ", ".join(parts)


def _inferred(name: str, summary: Summary) -> str:
    return f"{name} {summary.mean:.4g} inferred ({summary.low:.4g} to {summary.high:.4g})"
