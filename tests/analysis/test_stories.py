"""Stories with a known task, told short: the answer is what the expert wanted."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import whence

PATH = Path(__file__).parents[2] / "benchmarks" / "answers.py"


def story(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("answers", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["answers"] = module
    spec.loader.exec_module(module)
    return module.STORIES[name]()


@pytest.mark.parametrize(
    ("name", "asked", "sentence"),
    [
        ("rat", {"states": 2, "method": "exhaustive", "expert": whence.Expert(8, 0.9, 0.05)},
         "The expert wants first light, then water, over and over"),
        ("key", {"init": True, "steps": 250},
         "The expert wants first key, then door, then goal"),
    ],
)  # fmt: skip
def test_a_story_is_told(name: str, asked: dict[str, Any], sentence: str) -> None:
    told = story(name)
    demos = whence.simulate(told.mdp, told.task, told.expert, episodes=20, length=40, seed=0)
    if asked.pop("init", False):
        asked |= {"init": told.task, "states": 4, "expert": told.expert}
    run = whence.infer(told.mdp, demos, seed=0, **asked)
    assert run.answer.startswith(sentence), run.answer
