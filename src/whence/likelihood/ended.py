"""What endings add to a log likelihood, over all worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.compiled import readable
from whence.likelihood.endings import EndingTerm, compile_endings
from whence.likelihood.evidence import Evidence, compile_evidence
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

BesideSteps = Callable[[Ints, Floats], Floats]  # what machines [B, n, m] have beside their steps


def ending_term(
    worlds: Sequence[tuple[LabeledMDP, Demonstrations]],
    evidence: Sequence[Evidence],
    columns: Sequence[Ints],
) -> EndingTerm:
    """Return what endings add; symbols that no world shows are not read.

    Args:
        worlds: each with its demonstrations.
        evidence: of each.
        columns: int64[m'] of each, the columns of its symbols.
    """
    read = np.zeros(max(int(own.max(initial=-1)) for own in columns) + 1, dtype=np.bool_)
    parts = []
    for (mdp, demos), seen, own in zip(worlds, evidence, columns, strict=True):
        read[own[readable(mdp, seen)]] = True
        parts.append(compile_endings(mdp, demos, own))
    return EndingTerm([part for part in parts if part is not None], read)


def endings_shown(
    worlds: Sequence[tuple[LabeledMDP, Demonstrations]], alphabet: Sequence[str]
) -> EndingTerm:
    """Return what endings add, of machines over an alphabet."""
    columns = [
        np.array([alphabet.index(symbol) for symbol in mdp.alphabet], dtype=np.int64)
        for mdp, _ in worlds
    ]
    return ending_term(worlds, [compile_evidence(*pair) for pair in worlds], columns)
