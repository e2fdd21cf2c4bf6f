"""What a run says of a demonstration that would settle an open question."""

from __future__ import annotations

from typing import Any

import pytest

from whence.cli._findings import where_to_look


@pytest.mark.parametrize(
    ("nats", "said"),
    [
        (None, "a demonstration from the hall would tell"),
        (5.0, "a demonstration from the hall would tell"),
        (0.2, "a demonstration from the hall would tell a little"),
        (0.0, "no demonstration would tell: the expert acts the same either way"),
    ],
)
def test_how_much_a_demonstration_would_tell(nats: float | None, said: str) -> None:
    each: dict[str, Any] = {"start_name": "the hall", "nats": nats}
    assert where_to_look(each) == said
