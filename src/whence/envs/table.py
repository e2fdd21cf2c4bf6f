"""Outcomes from an environment's own transition table, `env.unwrapped.P`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whence._arrays import Bools
from whence.envs.labelling import shown
from whence.envs.outcomes import Codes, Outcomes, codes, mask_of, source_of
from whence.errors import WorldError

TOLERANCE = 1e-6  # how far from 1 probabilities may sum to

Row = dict[tuple[int, bool], float]  # the probability of each successor, ended or not


def has_table(env: Any) -> bool:
    """Whether an environment has a transition table."""
    return getattr(env.unwrapped, "P", None) is not None


def table_outcomes(env: Any, initial: Any = None, *, masks: bool = True) -> Outcomes:
    """Return the outcomes in `P[state][action]`, a list of (p, next state, reward, terminated).

    Args:
        env: the environment.
        initial: where episodes start, instead of `env.unwrapped.initial_state_distrib`: an
            observation, or pairs of an observation and its probability.
        masks: whether states lack the actions that `env.unwrapped.action_mask(state)` leaves out,
            where there is such a function.
    """
    source = source_of(env)
    observations = codes(env.observation_space, "state", source)
    actions = codes(env.action_space, "action", source)
    _refuse_wrapped(env, source)
    table = env.unwrapped.P
    states, choices = _keys(table, observations), None
    numbers = {key: number for number, key in enumerate(states)}
    rows: list[tuple[int, int, int, float, bool]] = []
    for state in range(observations.n):
        by_action = _entry(table, states[state], f"{source}: state {states[state]}")
        choices = choices or _keys(by_action, actions)
        for action in range(actions.n):
            place = f"{source}: state {states[state]}, action {choices[action]}"
            listed = _entry(by_action, choices[action], place)
            for (successor, ended), p in _row(listed, numbers, place).items():
                rows.append((state, action, successor, p, ended))
    columns = tuple(zip(*rows, strict=True))
    return Outcomes(
        source=source,
        observations=observations,
        actions=actions,
        state=np.array(columns[0]),
        action=np.array(columns[1]),
        successor=np.array(columns[2]),
        probability=np.array(columns[3], dtype=np.float64),
        ended=np.array(columns[4], dtype=np.bool_),
        initial=_initial(env, initial, observations, source),
        known=np.ones(observations.n, dtype=np.bool_),
        available=_available(env, states, actions.n, source, masks),
    )


def _available(env: Any, states: list[int], n_actions: int, source: str, masks: bool) -> Bools:
    """Return bool[S, A]: what the environment's own masks leave, or everything."""
    result = np.ones((len(states), n_actions), dtype=np.bool_)
    tell = getattr(env.unwrapped, "action_mask", None)
    if masks and callable(tell):
        for number, state in enumerate(states):
            place = f"{source}: state {state}"
            mask = mask_of(_told(tell, state, place), n_actions, place)
            result[number] = result[number] if mask is None else mask
    return result


def _told(tell: Callable[..., Any], state: int, place: str) -> Any:
    """Return what an environment's own function says about a state."""
    try:
        return tell(state)
    except Exception as error:
        raise WorldError(
            f"{place}: env.unwrapped.action_mask raised {type(error).__name__}: {error}; make it "
            "answer for every state, or say available='all'"
        ) from error


def _refuse_wrapped(env: Any, source: str) -> None:
    """Refuse wrappers that leave the table with other states or actions than the environment."""
    for what in ("observation_space", "action_space"):
        if getattr(env, what) != getattr(env.unwrapped, what):
            raise WorldError(
                f"{source}: a wrapper changed the {what}, so the table does not fit; unwrap the "
                "environment, or estimate a model: give steps"
            )


def _keys(table: Any, members: Codes) -> list[int]:
    """Return the table's key of each member: its value, or its number where that is used."""
    values = [members.member(number) for number in range(members.n)]
    by_value = isinstance(table, Mapping) and all(
        isinstance(value, int) and value in table for value in values
    )
    return values if by_value else list(range(members.n))


def _entry(table: Any, key: int, place: str) -> Any:
    try:
        return table[key]
    except (KeyError, IndexError, TypeError):
        raise WorldError(
            f"{place}: env.unwrapped.P has no entry; give every state and action one"
        ) from None


def _row(listed: Any, numbers: dict[int, int], place: str) -> Row:
    """Return the outcomes of a pair: repeated ones added up, impossible ones left out."""
    result: Row = defaultdict(float)
    try:
        outcomes = [(float(p), int(s), bool(ended)) for p, s, _, ended in listed]
    except (TypeError, ValueError):
        raise WorldError(
            f"{place}: the outcomes are {shown(listed)}; list (probability, next state, reward, "
            "terminated)"
        ) from None
    for p, successor, ended in outcomes:
        if not 0 <= p <= 1 + TOLERANCE:
            raise WorldError(
                f"{place}: the probability of next state {successor} is {p}; give a number from "
                "0 to 1"
            )
        if successor not in numbers:
            raise WorldError(
                f"{place}: next state {successor} is not in the observation space "
                f"({len(numbers)} states); correct env.unwrapped.P"
            )
        if p > 0:
            result[numbers[successor], ended] += p
    total = math.fsum(result.values())
    if abs(total - 1) > TOLERANCE:
        raise WorldError(
            f"{place}: the probabilities sum to {total:.9g}, not 1; correct env.unwrapped.P"
        )
    return result


def _initial(
    env: Any, given: Any, observations: Codes, source: str
) -> tuple[tuple[int, float], ...]:
    if given is not None:
        pairs = given if isinstance(given, list) else [(given, 1.0)]
        try:
            return tuple((observations.number(member), float(p)) for member, p in pairs)
        except (TypeError, ValueError):
            raise WorldError(
                f"{source}: initial is {shown(given)}; give an observation, or a list of pairs "
                "(observation, probability)"
            ) from None
    chances = getattr(env.unwrapped, "initial_state_distrib", None)
    if chances is None:
        raise WorldError(
            f"{source}: env.unwrapped has no initial_state_distrib; say where episodes start: "
            "initial=observation, or initial=[(observation, probability), ...]"
        )
    weights = np.asarray(chances, dtype=np.float64)
    if weights.shape != (observations.n,):
        raise WorldError(
            f"{source}: initial_state_distrib has shape {weights.shape}; give one probability for "
            f"each of the {observations.n} states"
        )
    return tuple((int(s), float(weights[s])) for s in np.flatnonzero(weights))
