"""What the paper leaves open, what was chosen, and the figures that speak for it."""

from __future__ import annotations

from functools import cache

from whence.model.expert import Expert
from whence.paper.figures import table
from whence.paper.published import TABLE_1
from whence.paper.worlds import BUILT_IN, World
from whence.planning.evaluation import expected_return
from whence.planning.policies import expert_policy, plan

Start = tuple[int, int] | None

USUAL = (None, 30.0, 0.92)
OTHERS: tuple[tuple[Start, float, float], ...] = (
    ((2, 1), 30.0, 0.92),
    ((7, 4), 30.0, 0.92),
    (None, 20.0, 0.92),
    (None, 50.0, 0.92),
    (None, 30.0, 0.9),
    (None, 30.0, 0.95),
)

OPEN = """\
## What the paper leaves open

The paper gives no map with coordinates, no start, no discount and no rationality of the expert who demonstrates. They
were chosen so that the exact expected returns of the expert and of the truth's own policy come out as in its Table 1
(r_e / r_a; the paper's are averages of 100 episodes). The row in bold is used:

{evidence}

From the office's usual start, (2, 1), r_a would be well above the paper's on coffee and half of it on multi coffee,
whatever the expert's alpha.

| open | chosen | why |
|---|---|---|
| where a machine reads | the label of each state entered; the first state's is not read | what the paper's product says: the reward is that of L(s') |
| states without a label | the machine stays and pays 0 | the paper's labels cover every state, its figures have no symbol for the rest |
| expert's alpha and alpha in inference | 30 and 50 | 50 is the paper's for inference; an expert of 50 earns more than its r_e on coffee (table above) |
| "changed to a new uniformly random value" | another value, each of the others equally likely | "new" |
| "with a minimum of one change" | drawn given that there is at least one | the distribution of draws that do not count without a change |
| an invalid neighbour | drawn again from the same machine | "we simply resample" |
| the first machine | uniform over valid machines | Algorithm 1, line 3 |
| the score of the best | P(D given R)^(1/T) P(R) at the lowest T, as in Algorithm 1 | the text prints P(R given D)^(1/T) P(R), which counts the prior twice |
| what competes for the best | every proposal and the first machine, before acceptance | Algorithm 1, lines 4 and 10 |
| the schedules | T and p change after iterations k, 2k, ... | Algorithm 1, lines 15 to 17 |
| what the agent does | the policy that is optimal for the machine found; equally good actions share evenly | policy iteration would pick one of them by the order of the actions |
| which score the standard rule of the ablation is judged by | the same as the paper's rule; acceptance alone differs | one change at a time |
| the return of the agent | exact expected undiscounted return in as many steps as a demonstration has | no error of 100 episodes |
| how often it was tried | a triple of runs on each of {triples} demonstration sets | the paper shows one |
"""  # noqa: E501


def section(worlds: tuple[str, ...], triples: int) -> str:
    """Return the section of the page, its table computed."""
    return OPEN.format(evidence=evidence(worlds), triples=triples)


@cache
def evidence(worlds: tuple[str, ...]) -> str:
    """Return a table: exact returns of expert and agent under other starts and experts."""
    published = [f"{TABLE_1[w].expert:.2f} / {TABLE_1[w].agent:.2f}" for w in worlds]
    rows = [["the paper", *published], _row(USUAL, worlds, "**{}**")]
    rows += [_row(setting, worlds, "{}") for setting in OTHERS]
    return table(["start of the office, alpha, discount", *worlds], rows)


def _row(setting: tuple[Start, float, float], worlds: tuple[str, ...], style: str) -> list[str]:
    start, alpha, discount = setting
    words = f"{start or (10, 3)}, {alpha:g}, {discount:g}"
    cells = [words] + [_returns(BUILT_IN[name](None), *setting) for name in worlds]
    return [style.format(cell) if cell else "" for cell in cells]


def _returns(world: World, start: Start, alpha: float, discount: float) -> str:
    """Return r_e / r_a; recharge has its own start, and is left out where another is tried."""
    mdp = world.mdp
    if start is not None:
        if world.name == "recharge":
            return ""
        assert mdp.grid is not None
        mdp = mdp.with_initial(mdp.grid.state(*start))
    watched = expert_policy(mdp, world.task, Expert(alpha, discount))
    agent = plan(mdp, world.task, discount)
    earned = [expected_return(mdp, p, world.task, world.length) for p in (watched, agent)]
    return f"{earned[0]:.2f} / {earned[1]:.2f}"
