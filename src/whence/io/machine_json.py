"""Machines as JSON, `whence/machine/1`."""

from __future__ import annotations

import msgspec

from whence.errors import FormatError, MachineError
from whence.io import documents
from whence.model.machine import RewardMachine

TAG = "whence/machine/1"


class _Document(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    format: str
    alphabet: list[str]
    transitions: list[list[int]]
    rewards: list[list[float]]
    names: list[str] | None = None


def dumps(machine: RewardMachine) -> str:
    """Write a machine."""
    document = _Document(
        format=TAG,
        alphabet=list(machine.alphabet),
        transitions=machine.transitions.tolist(),
        rewards=machine.rewards.tolist(),
        names=None if machine.names is None else list(machine.names),
    )
    try:
        return msgspec.json.encode(document).decode() + "\n"
    except UnicodeEncodeError as error:
        raise MachineError(f"a symbol or name cannot be written as UTF-8: {error}") from None


def loads(text: str, source: str) -> RewardMachine:
    """Read a machine."""
    document = documents.decode(text, _Document, TAG, source)
    for field in ("transitions", "rewards"):
        for state, row in enumerate(getattr(document, field)):
            if len(row) != len(document.alphabet):
                raise FormatError(
                    f"{source}: {field}, state {state}: {len(row)} entries for an alphabet of "
                    f"{len(document.alphabet)} symbols; give one entry a symbol"
                )
    try:
        return RewardMachine(
            document.alphabet, document.transitions, document.rewards, document.names
        )
    except MachineError as error:
        raise FormatError(f"{source}: {error}") from None
