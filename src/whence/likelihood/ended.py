"""What endings add to a log likelihood, over all worlds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence._arrays import Ints
from whence.likelihood.compiled import readable
from whence.likelihood.endings import EndingTerm, compile_endings
from whence.likelihood.evidence import Evidence
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP


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
