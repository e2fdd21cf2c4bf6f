"""What acting on a wrong machine loses: the policy of each route, where another is the truth."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.ask.belief import Belief
from whence.model.product import restricted
from whence.planning.evaluation import expected_return
from whence.planning.policies import plan

ROUTES = 6  # that one chooses among; a lighter one counts as the likeliest of them
STEPS = 60  # that a policy is deployed for


def losses(known: Belief) -> Floats:
    """Return float64[L, K]: what the best policy for each of L routes loses under each machine.

    A route is stood for by its heaviest machine, with that one's discount. Returns are exact,
    undiscounted, over 60 steps, and means over the worlds; none is a loss below 0.
    """
    routes, first = np.unique(known.route, return_index=True)
    heads = np.sort(first[routes >= 0])[:ROUTES]
    plans = known.sample.plans.plans
    size = len(heads)
    earned = np.zeros((size, size))
    for mdp in known.sample.worlds:
        machines = [restricted(plans.machines[known.plan[k]], mdp) for k in heads]
        policies = [
            plan(mdp, machine, plans.discounts[known.plan[k]])
            for machine, k in zip(machines, heads, strict=True)
        ]
        for i, policy in enumerate(policies):
            for j, truth in enumerate(machines):
                earned[i, j] += expected_return(mdp, policy, truth, STEPS)
    earned /= len(known.sample.worlds)
    between = np.maximum(np.diag(earned) - earned, 0.0)
    number = {int(known.route[k]): at for at, k in enumerate(heads.tolist())}
    column = [number.get(route, 0) for route in known.route.tolist()]
    return np.asarray(between[:, column])
