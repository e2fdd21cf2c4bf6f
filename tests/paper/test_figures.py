from __future__ import annotations

from dataclasses import replace

import pytest

import whence
from whence import RewardMachine
from whence.paper import claims, figures
from whence.paper import published as paper
from whence.paper.baselines import Baselines
from whence.paper.experiment import Plan, Results, most_frequent
from whence.paper.nearby import Nearby
from whence.paper.page import machines, page
from whence.paper.triples import ABLATION, Found

TASK = whence.worlds.coffee().task
REACH = RewardMachine.from_arrows(["a -o/1-> b"], alphabet=("c", "o", "*"))


def found(
    seed: int,
    agent: float,
    machine: RewardMachine = REACH,
    gap: float = 0.0,
    variant: str = "paper",
) -> Found:
    return Found(
        world="coffee",
        seed=seed,
        variant=variant,
        machine=machine,
        agent=agent,
        watched=0.5 + seed / 100,
        score=-50.0 + gap,
        truth_score=-50.0,
        log_likelihood=-1.0,
        truth_log_likelihood=-1.0,
        same=machine.same_as(TASK),
        same_in_world=machine.same_as(TASK),
        acceptance=0.1,
    )


def results(*triples: Found, ablation: bool = False) -> Results:
    seeds = [f.seed for f in triples if f.variant == "paper"]
    baselines = tuple(Baselines("coffee", seed, 0.1, 0.2, 0.3) for seed in seeds)
    plan = Plan(("coffee",), triples=3, ablation=ablation)
    known = {"coffee": paper.Reference(0.5, 0.7, 0.05, 0.575)}
    around = (Nearby("coffee", 0, 5, 1.5, 27, 0, 3_000, 2),)
    return Results(plan, known, triples, baselines, around)


def test_the_sign_test_by_hand() -> None:
    assert figures.sign_test(6, 0) == pytest.approx(2 / 64)
    assert figures.sign_test(0, 5) == pytest.approx(2 / 32)
    assert figures.sign_test(4, 1) == pytest.approx(2 * 6 / 32)
    assert figures.sign_test(3, 3) == 1
    assert figures.sign_test(0, 0) == 1


def test_a_comparison_counts_pairs_and_judges_them() -> None:
    pairs = [(1.0, 0.0)] * 9 + [(0.5, 0.5 + 1e-9)]
    seen = figures.compared(pairs)
    assert (seen.better, seen.worse, seen.equal, seen.verdict) == (9, 0, 1, "holds")
    assert seen.p == 2 / 512 < 0.05 / 11
    assert figures.compared([(b, a) for a, b in pairs]).verdict == "contradicted"
    assert figures.compared(pairs[:8]).verdict == "not shown"


def test_the_rows_of_the_table() -> None:
    rows = figures.rows(results(found(0, 0.6), found(1, 0.1), found(2, 0.58)), "coffee")
    expert, agent, label, state, cloning = rows
    assert (expert.paper, expert.truth, expert.reached) == (0.55, 0.5, None)
    assert expert.ours == pytest.approx(0.51)
    assert (agent.paper, agent.ours, agent.least, agent.most) == (0.68, 0.58, 0.1, 0.6)
    assert agent.reached == pytest.approx(2 / 3)
    assert [row.ours for row in (label, state, cloning)] == [0.1, 0.3, 0.2]


def test_outcomes_and_the_machines_that_stand_for_them() -> None:
    triples = (found(0, 0.1, gap=1.0), found(1, 0.7, TASK), found(2, 0.7, TASK, gap=-2.0))
    assert figures.outcome(triples) == figures.Outcome(
        preferred=1, equal=1, missed=1, same=2, same_in_world=2
    )
    assert most_frequent(triples) == (TASK, 2)
    assert figures.best(triples).seed == 1


def test_the_page_says_what_the_figures_say() -> None:
    triples = [found(seed, 0.6, TASK) for seed in range(3)]
    others = [found(s, 0.1, variant=v.name) for v in ABLATION for s in range(3)]
    made = results(*triples, *others, ablation=True)
    text = page(made)
    assert "| coffee | r_a, this method | 0.68 | 0.600 | 0.600 to 0.600 | 100% | 0.700 |" in text
    assert "It is the true machine." in text
    assert "| coffee | 0 | 5 | 1.5 | 0 of 27 | 2 of 3,000 |" in text
    assert "| uniform prior | 3, 0, 0 | 3, 0, 0 | 0.25 | **not shown** |" in text
    assert "| one changed entry | 0, 3, 0 | 0, 3, 0 | 1 | **not shown** |" in text
    assert set(machines(made)) == {"coffee-most-frequent", "coffee-best"}
    assert all(f"({name}.svg)" in text for name in machines(made))
    assert "| behavioural cloning | 3, 0, 0 | 3, 0, 0 | 0.25 | **not shown** |" in text
    short = page(results(*triples))
    assert "claims" not in short
    assert "--no-ablation" in short


def test_summaries_and_pairs_of_variants() -> None:
    made = results(
        *(found(s, 0.6) for s in range(3)),
        *(found(s, 0.1, gap=s - 1.0, variant="one-change") for s in range(3)),
    )
    seen = claims.summary(made, "coffee", "one-change")
    assert (seen.median, seen.reached, seen.same_in_world) == (0.1, 0, 0)
    claim = claims.CLAIMS[1]
    assert claims.by_return(made, claim, ("coffee",)).better == 3
    by_score = claims.by_score(made, claim, ("coffee",))
    assert (by_score.better, by_score.equal, by_score.worse) == (1, 1, 1)
    assert {c.variant for c in claims.CLAIMS} == {v.name for v in ABLATION}


def test_the_page_says_who_is_to_blame() -> None:
    for gaps, sentence in (
        ((-1.0, -1.0, -1.0), "the truth scores higher every time"),
        ((1.0, 1.0, 1.0), "prefers another machine to the truth every time"),
        ((1.0, -1.0, -1.0), "short of the truth in 2 of 3 triples, and the score prefers another"),
    ):
        text = page(results(*(found(s, 0.1, gap=gap) for s, gap in enumerate(gaps))))
        assert sentence in text


def test_worlds_disagree_where_the_signs_do() -> None:
    plan = Plan(("coffee", "recharge"), triples=1, ablation=True)
    triples = [found(0, 0.6), found(0, 0.1, variant="alpha-5"), found(0, 0.6, variant="alpha-500")]
    other = [replace(f, world="recharge", agent=0.7 - f.agent) for f in triples]
    made = Results(plan, {}, (*triples, *other), ())
    by_name = {claim.variant: claim for claim in claims.CLAIMS}
    assert claims.disagreement(made, by_name["alpha-5"])
    assert not claims.disagreement(made, by_name["alpha-500"])
    assert figures.against_baseline(results(found(0, 0.2)), ("coffee",), "per_state").worse == 1
