"""The page that `whence reproduce` writes: a function of the results alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whence.model.machine import RewardMachine
from whence.paper import choices, claims, figures
from whence.paper import published as paper
from whence.paper.experiment import Plan, Results, most_frequent
from whence.paper.figures import Comparison, figure, percent, table
from whence.paper.nearby import difference
from whence.paper.triples import BINARY, PAPER
from whence.paper.worlds import BUILT_IN


def page(results: Results) -> str:
    """Return the page; its pictures are those of `machines`."""
    sections = [_head(results), _main(results), _baselines(results), _why(results)]
    sections.append(_machines(results))
    if results.plan.ablation:
        sections.append(_ablation(results))
    sections.append(choices.section(results.plan.worlds, results.plan.triples))
    return "\n\n".join(section.strip() for section in sections) + "\n"


def machines(results: Results) -> dict[str, RewardMachine]:
    """Return the machines to draw, by the name of their picture."""
    drawn = {}
    for world in results.plan.worlds:
        found = results.of(world)
        drawn[f"{world}-most-frequent"] = most_frequent(found)[0]
        drawn[f"{world}-best"] = figures.best(found).machine
    return drawn


def command_line(plan: Plan) -> str:
    """Return the command that makes these results."""
    parts = ["whence reproduce", f"--triples {plan.triples}", f"--seed {plan.seed}"]
    if len(plan.worlds) == 1:
        parts.insert(1, plan.worlds[0])
    if plan.steps is not None:
        parts.append(f"--steps {plan.steps}")
    return " ".join([*parts, "--ablation" if plan.ablation else "--no-ablation"])


def _head(results: Results) -> str:
    plan = results.plan
    return f"""\
# The paper's experiments, again

Made by `{command_line(plan)}`, text, figures and pictures; the same command makes the same page. All figures are in
[results.json](results.json).

A *triple* is a demonstration set of its own (seeds {plan.seeds[0]} to {plan.seeds[-1]}) and three annealing runs with
the settings of the paper's Table 1, of which the machine with the highest score is kept. r_e is what the demonstrating
expert earns, r_a what a policy earns that is optimal for the machine found, both paid by the true machine."""  # noqa: E501


def _main(results: Results) -> str:
    head = [
        "world",
        "",
        "the paper",
        "ours, median",
        "least to most",
        "reach it",
        "the truth's own",
    ]
    lines = []
    for world in results.plan.worlds:
        for row in figures.rows(results, world):
            spread = f"{figure(row.least)} to {figure(row.most)}"
            lines.append(
                [world, row.quantity, "" if row.paper is None else str(row.paper),
                 figure(row.ours), spread, percent(row.reached), figure(row.truth)]
            )  # fmt: skip
    limits = ", ".join(
        f"{figure(results.references[w].threshold)} on {w}" for w in results.plan.worlds
    )
    return f"""\
## The table

{table(head, lines)}

*Ours* is the median over {results.plan.triples} triples of exact expected returns (of r_e: of the averages of the
demonstrated episodes). *Reach it*: the fraction of triples whose r_a is at least the paper's r_a less {paper.ERRORS}
standard errors of an average of {paper.EPISODES} episodes under the truth's own policy, less half a unit of the last
digit printed: {limits}. *The truth's own* is the exact return of the policy that is optimal for the true machine; in
the rows of r_e, of the expert.

The baselines see the same demonstrations. *Best reward per label*: the machine of one state with the highest posterior,
all of them tried. *Best reward per state*: a reward for each state of the world, as in Bayesian inverse reinforcement
learning before the paper, by steepest ascent from three starts. Both have the paper's alpha and its prior on rewards, at
temperature 1; the reward that is 0 everywhere does not count. *Behavioural cloning*: the demonstrated action
frequencies per state, one added to every count. Once its task is done, the expert acts at random until the episode
ends: a method without memory sees both in the same states."""  # noqa: E501


def _baselines(results: Results) -> str:
    worlds = results.plan.worlds
    lines = [
        _judged(title, [figures.against_baseline(results, (w,), name) for w in worlds],
                figures.against_baseline(results, worlds, name))
        for name, title in (
            ("markovian", "best reward per label (n = 1)"),
            ("per_state", "best reward per state"),
            ("cloning", "behavioural cloning"),
        )
    ]  # fmt: skip
    binary = [w for w in worlds if results.of(w, BINARY.name)]
    if binary:
        each = [figures.against_binary(results, (w,)) if w in binary else None for w in worlds]
        total = figures.against_binary(results, binary)
        lines.append(_judged("machine with rewards 0 and 1", each, total))
    return f"""\
## Do methods without memory fail, and binary ones?

The paper says so. In how many triples its method earns more than the baseline on the same demonstrations, as much, and
less:

{table(["against", *worlds, "all", "p", "verdict"], lines)}

p is that of a two-sided sign test over all worlds. The statement *holds* where the paper's method is better and p is below
0.05 / {figures.COMPARISONS}, {figures.COMPARISONS} being the comparisons that a page with the ablation judges; it is
*contradicted* where the method is worse and p is below that, and *not shown* otherwise."""  # noqa: E501


def _why(results: Results) -> str:
    head = ["world", "truth scores higher", "equal", "truth scores lower", "found the truth",
            "found it as far as this world can tell", "found the paper's"]  # fmt: skip
    around = [
        "world",
        "seed",
        "entries to the truth",
        "changed by a proposal",
        "better at one",
        "better at two",
    ]
    lines = []
    for world in results.plan.worlds:
        seen = figures.outcome(results.of(world))
        published = sum(f.machine.same_as(paper.FIGURES[world]) for f in results.of(world))
        counts = (seen.missed, seen.equal, seen.preferred, seen.same, seen.same_in_world)
        lines.append([world, *(str(count) for count in (*counts, published))])
    return f"""\
## Search or score?

Where a triple does not find the true machine, either the search missed it, or the score at the lowest temperature
prefers another one. In triples, of {results.plan.triples}, what was found against the true machine on the same
demonstrations, and against the machine in the paper's figure:

{table(head, lines)}

{" ".join(_blame(results, world) for world in results.plan.worlds)}

Around the most frequent machine of each world, in the first triple that found it: how many of its entries must change
to make it the true machine, how many a late proposal changes on average, and how many valid machines score higher that
are one or two changed entries away:

{table(around, _around(results))}"""  # noqa: E501


def _blame(results: Results, world: str) -> str:
    """Say what kept a world's triples from the truth."""
    seen, triples = figures.outcome(results.of(world)), results.plan.triples
    if seen.missed == triples:
        return f"On {world}, the truth scores higher every time: the search stops short of it."
    if seen.preferred == triples:
        return (
            f"On {world}, the score prefers another machine to the truth every time: at this "
            "temperature, no better search would find it."
        )
    return (
        f"On {world}, the search stops short of the truth in {seen.missed} of {triples} triples, "
        f"and the score prefers another machine in {seen.preferred}."
    )


def _around(results: Results) -> list[list[str]]:
    return [
        [s.world, str(s.seed), str(s.to_truth), f"{s.changes:.1f}",
         f"{s.better_ones} of {s.ones}", f"{s.better_twos} of {s.twos:,}"]
        for s in results.surroundings
    ]  # fmt: skip


def _machines(results: Results) -> str:
    parts = ["## The machines found"]
    for name in results.plan.worlds:
        world, found = BUILT_IN[name](None), results.of(name)
        machine, count = most_frequent(found)
        top = figures.best(found)
        same = top.machine == machine
        title = f"found in {count} of {len(found)} triples"
        parts.append(f"### {name}")
        parts.append(_drawn(f"{name}-most-frequent", f"Most frequent, {title}"))
        parts.append(" ".join(difference(machine, world)))
        best = f"Best, of seed {top.seed}: r_a {figure(top.agent)}"
        parts.append(_drawn(f"{name}-best", best))
        told = "The same machine." if same else " ".join(difference(top.machine, world))
        parts.append(told)
    parts.append(
        "*Best* is the highest r_a and, among equals, the highest score above that of the truth "
        "on the same demonstrations. Machines are minimised."
    )
    return "\n\n".join(parts)


def _drawn(name: str, title: str) -> str:
    return f"{title} ([TikZ]({name}.tex)):\n\n![{title}]({name}.svg)"


def _ablation(results: Results) -> str:
    pairs = ["all", "p", "verdict"]
    head = ["claim", "against", *results.plan.worlds, *pairs]
    return f"""\
## The paper's claims about its own choices

The paper's method beside the same with one thing changed, on the same demonstrations and seeds:

{table(["", "world", "r_a, median", "mean", "reach the paper", "found the truth", "accepted"], _variants(results))}

*Found the truth*: triples, as far as the world can tell. *Accepted*: the fraction of proposals. Next, in how many triples
the paper's choice earns more than the variant on the same demonstrations, as much, and less, judged as above:

{table(head, [[c.text, *_verdict(results, c, claims.by_return)] for c in claims.CLAIMS])}

Returns say whether a choice pays in the end. They do not say why, and they are a mixture of what the score prefers and of
what the search finds. With another alpha, the temperatures stay those of Table 1, which the paper chose for alpha 50. Two
variants keep their best by the same score as the paper's method, so the scores found can be compared, too; the standard
rule does not climb that score, so the comparison favours the paper's rule:

{table(head[1:], [_verdict(results, c, claims.by_score) for c in claims.CLAIMS if c.same_score])}"""  # noqa: E501


def _variants(results: Results) -> list[list[str]]:
    named = [(PAPER.name, "**the paper's**"), *((c.variant, c.without) for c in claims.CLAIMS)]
    lines = []
    for variant, title in named:
        for world in results.plan.worlds:
            s = claims.summary(results, world, variant)
            lines.append(
                [title, world, figure(s.median), figure(s.mean), percent(s.reached),
                 str(s.same_in_world), percent(s.acceptance)]
            )  # fmt: skip
    return lines


def _verdict(
    results: Results,
    claim: claims.Claim,
    compared: Callable[[Results, claims.Claim, tuple[str, ...]], Comparison],
) -> list[str]:
    """Return what a claim is tested against, the counts of each world and of all, p, verdict."""
    worlds = results.plan.worlds
    each = [compared(results, claim, (world,)) for world in worlds]
    cells = _judged(claim.without, each, compared(results, claim, worlds))
    if compared is claims.by_return and claims.disagreement(results, claim):
        cells[-1] += "; the worlds disagree"
    return cells


def _judged(title: str, each: Sequence[Comparison | None], total: Comparison) -> list[str]:
    """Return a row: a title, the counts of each world and of all, p, verdict."""
    counts = ["" if c is None else _counts(c) for c in each]
    return [title, *counts, _counts(total), f"{total.p:.2g}", f"**{total.verdict}**"]


def _counts(c: Comparison) -> str:
    return f"{c.better}, {c.equal}, {c.worse}"
