"""Facts about whole reports: complete, readable by machines, self-contained, small."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whence
from support import studies
from support.pages import Element, parsed
from whence import RewardMachine
from whence.analysis.design import best_start
from whence.analysis.facts import GRANTED, Fact, percent
from whence.analysis.rivals import BARELY, Untold
from whence.drawing import text
from whence.errors import FileError
from whence.report import Study, render, write
from whence.report.answer import _lead
from whence.report.html import Html, counted, fill, fixed, nats, safe, share, share_with_error
from whence.report.maps import seen
from whence.report.words import WORDS, anchor_of

SECTIONS = [
    "answer",
    "facts",
    "next",
    "worlds",
    "replay",
    "machine",
    "alternatives",
    "prediction",
    "fit",
    "diagnostics",
    "episodes",
    "recipe",
]
STUDIES = [studies.grid, studies.chain, studies.two_worlds, studies.annealed, studies.nasty]


def page(study: Study) -> Element:
    return parsed(render(study))


def section(root: Element, name: str) -> Element:
    return next(each for each in root.all("section") if each.attributes["id"] == name)


@pytest.mark.parametrize("make", STUDIES)
def test_every_section_is_there_and_every_link_leads_somewhere(make: object) -> None:
    root = page(make())  # type: ignore[operator]
    assert [each.attributes["id"] for each in root.all("section")] == SECTIONS
    ids = [
        e.attributes["id"]
        for e in root.all(*{e.name for e in _every(root)})
        if "id" in e.attributes
    ]
    assert len(ids) == len(set(ids))
    for link in root.all("a"):
        assert link.attributes["href"][1:] in ids


@pytest.mark.parametrize("make", STUDIES)
def test_landmarks_headings_tables_and_drawings_speak_to_screen_readers(make: object) -> None:
    root = page(make())  # type: ignore[operator]
    assert [len(root.all(name)) for name in ("header", "nav", "main", "footer", "h1")] == [1] * 5
    levels = [int(each.name[1]) for each in root.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for each in root.all("section"):
        assert any(
            h.attributes.get("id") == each.attributes["aria-labelledby"] for h in each.all("h2")
        )
    for table in root.all("table"):
        assert table.all("caption")[0].text
        assert all(cell.attributes["scope"] in ("col", "row") for cell in table.all("th"))
        widths = {len(row.all("th", "td")) for row in table.all("tr")}
        assert len(widths) == 1
    drawings = root.all("svg")
    assert drawings
    for svg in drawings:
        assert svg.attributes["role"] == "img"
        assert svg.all("title")[0].text
        assert svg.all("desc")[0].text


@pytest.mark.parametrize("make", STUDIES)
def test_nothing_is_loaded_and_nothing_runs(make: object) -> None:
    shown = render(make())  # type: ignore[operator]
    root = parsed(shown)
    assert len(shown.encode()) < 3_000_000
    assert not root.all("script", "iframe", "object", "embed", "img", "base", "form")
    for element in _every(root):
        for name, value in element.attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href"):
                assert value.startswith("#") or value == "data:,"
    style = root.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style
    policy = next(m for m in root.all("meta") if "http-equiv" in m.attributes)
    assert "default-src 'none'" in policy.attributes["content"]
    assert "script" not in policy.attributes["content"]


def test_the_answer_is_the_sentence_with_its_confidence() -> None:
    study = studies.grid()
    shown = section(page(study), "answer")
    assert study.run.found is not None
    assert study.run.found.sure
    lead = next(p for p in shown.all("p") if p.attributes.get("class") == "lead")
    assert lead.text.startswith(study.run.found.statement.replace("`", ""))
    assert f"{percent(study.run.found.confidence[0])} sure" in lead.text
    assert f"{studies.demonstrations(study.worlds[0][0]).n_steps:,} steps" in shown.text
    assert len(shown.all("svg")) == 2  # the machine and the map
    sample = study.run.posterior
    assert sample is not None
    assert share(float(sample.weights[0])) not in shown.text  # of a single machine


def test_an_answer_that_nothing_is_sure_of_says_so() -> None:
    study = studies.chain()
    found = study.run.found
    assert found is not None
    unsure = replace(found, untested=frozenset(range(len(found.every))))
    run = replace(study.run, doubts=())
    vars(run)["found"] = unsure
    shown = section(page(replace(study, run=run)), "answer").text
    assert "Nothing is sure yet; probably the expert wants" in shown


def test_every_fact_route_and_open_question_is_listed() -> None:
    study = studies.grid()
    root = section(page(study), "facts")
    stated, plans = root.all("table")[:2]
    told = [fact for fact in study.run.facts if fact.kind in ("route", "ends", "avoids", "pays")]
    assert len(stated.all("tr")) == 1 + len(told) > 1
    for fact in told:
        assert fact.text.replace("`", "")[1:] in stated.text  # a capital begins it there
    sample = study.run.posterior
    assert sample is not None
    rows = plans.all("tr")[1:]
    assert len(rows) == min(5, len(sample.routes))
    for row, route in zip(rows, sample.routes, strict=False):
        assert row.all("td")[0].text.startswith(share(route.probability))
    for question in study.run.open_questions:
        assert ", ".join(question.labels) in root.text


def test_doubts_are_said_with_what_to_do_about_them() -> None:
    study = studies.grid()
    doubtful = replace(study, run=replace(study.run, doubts=("the ladders <differ>",)))
    root = page(doubtful)
    shown = section(root, "answer")
    assert "Do not trust this yet" in shown.text
    assert "if the doubts below are unfounded" in shown.text
    steps = 2 * study.run.steps
    commands = [c.text for c in shown.all("code") if c.attributes.get("class") == "command"]
    assert commands == [f"whence resume RUN --steps {steps}"] * 2  # to be surer, and the doubt
    assert "The ladders <differ>." in section(root, "diagnostics").text
    sure = replace(study, run=replace(study.run, doubts=()), folder="a run")
    shown = section(page(sure), "answer")
    assert "No doubts. Checked were the search: made twice, independently, with" in shown.text
    assert [a.text for a in shown.all("a")] == ["alpha", "lapse", "discount", "discount"]
    assert "the dynamics: the world's own" in shown.text


def test_what_was_hardly_tested_is_what_the_next_demonstration_is_for() -> None:
    study = studies.grid()
    run = replace(study.run, doubts=(), open_questions=())
    fact = Fact(
        "indifferent", f"whether it wants `c` first, or rather `o`, {BARELY}", 1, 0, ("c",)
    )
    pair = study.run.best, RewardMachine.from_arrows(["0 -o/1-> 0"], alphabet=("c", "o", "*"))
    untold = Untold(fact, *pair, ("`c`", "`o`"))
    mdp = study.worlds[0][0]
    run.__dict__["next_test"] = untold, best_start([mdp], pair, (0.5, 0.5), run.expert)
    root = page(replace(study, run=run))
    assert run.next_test is not None
    name = mdp.state_name(run.next_test[1].state)
    surer = next(p for p in section(root, "answer").all("p") if p.text.startswith("To be surer"))
    assert surer.text == (
        f"To be surer: one more demonstration from {name} would tell whether it wants c first, or "
        "rather o."
    )
    card = section(root, "next")
    assert f"Start in {name}" in card.text
    assert [item.text.strip().partition(":")[0] for item in card.all("li")] == [
        "if it wants c",
        "if it wants o",
    ]
    run.__dict__["next_test"] = None
    assert "none is needed" in section(page(replace(study, run=run)), "next").text


def test_the_weights_of_the_alternatives_are_those_of_the_sample() -> None:
    study = studies.grid()
    sample = study.run.posterior
    assert sample is not None
    rows = section(page(study), "alternatives").all("table")[0].all("tr")[1:]
    assert len(rows) == min(5, len(sample))
    for row, weight in zip(rows, sample.weights, strict=False):
        assert row.all("td")[0].text.startswith(share(float(weight)))


def test_undetermined_arrows_are_dashed_and_supported() -> None:
    study = studies.grid()
    drawing = section(page(study), "machine").all("svg")[0]
    dashed = [path for path in drawing.all("path") if "stroke-dasharray" in path.attributes]
    assert bool(dashed) == any(not each.determined for each in study.certainty)
    rows = section(page(study), "machine").all("table")[0].all("tr")[1:]
    assert [row.all("td")[2].text for row in rows] == [
        "yes" if each.determined else "open" for each in study.certainty
    ]


def test_visits_add_up_to_the_demonstrated_steps() -> None:
    study = studies.grid()
    mdp, demos = study.worlds[0]
    there = seen(study, mdp, demos)
    assert there.visits.sum() == demos.n_steps
    states = [state for episode in demos for state in list(episode.states)[: len(episode.actions)]]
    assert np.array_equal(there.visits.sum(axis=0), np.bincount(states, minlength=mdp.n_states))


def test_a_grid_is_drawn_once_a_machine_state() -> None:
    study = studies.grid()
    drawings = section(page(study), "worlds").all("svg")
    assert len(drawings) == study.shown.n_states
    assert any(path.attributes.get("class") == "policy" for path in drawings[0].all("path"))
    assert any(path.attributes.get("class") == "heat" for path in drawings[0].all("path"))


def test_what_is_no_grid_gets_a_graph_and_a_table() -> None:
    root = page(studies.chain())
    there = section(root, "worlds")
    assert len(there.all("svg")) == studies.chain().shown.n_states
    assert "4 places" in there.all("svg")[0].text
    assert len(there.all("table")[0].all("tr")) > 2
    assert "machines were scored" in section(root, "answer").text


def test_each_of_several_worlds_is_shown() -> None:
    there = section(page(studies.two_worlds()), "worlds")
    assert [each.text for each in there.all("h3")] == ["world 0", "world 1"]


def test_why_there_is_no_comparison_is_said() -> None:
    assert "at least 5 are needed" in section(page(studies.chain()), "prediction").text
    assert "not asked for" in section(page(studies.annealed()), "prediction").text


def test_a_method_without_probabilities_says_so() -> None:
    root = page(studies.annealed())
    assert "no probabilities" in section(root, "answer").text
    assert "annealing, gives no probabilities" in section(root, "alternatives").text


def test_what_every_machine_says_does_not_look_sure() -> None:
    found = SimpleNamespace(sure=(1,), granted=True, surety=GRANTED, statement="It wants a")
    run = SimpleNamespace(found=found, doubts=(), provisional=False, until_now="")
    text = str(_lead(cast("Study", SimpleNamespace(run=run))))
    assert f'class="sure shaky">{GRANTED}</span>' in text


def test_the_model_is_checked_on_the_episodes_set_aside() -> None:
    study = studies.grid()
    assert study.check is not None
    assert study.comparison is not None
    assert study.check.chosen == study.comparison.chosen
    found = section(page(study), "fit")
    assert study.check.lines[0] in found.text
    assert study.check.discrepancies[0].name in found.text
    assert "not asked for" in section(page(studies.annealed()), "fit").text


def test_the_comparison_lists_every_method() -> None:
    rows = section(page(studies.grid()), "prediction").all("table")[0].all("tr")[1:]
    assert len(rows) == 5
    assert rows[-1].text.startswith("every action equally likely")


def test_an_episode_against_the_machine_is_the_outlier_that_is_listed() -> None:
    run, mdp, demos = studies.grid_run()
    assert mdp.grid is not None
    start, trap = mdp.grid.state(0, 1), mdp.grid.state(0, 0)
    down, left = mdp.actions.index("down"), mdp.actions.index("left")
    episodes = [(list(e.states), list(e.actions)) for e in demos]
    wrong = ([start, *[trap] * 40], [down, *[left] * 39])
    mixed = whence.Demonstrations.from_episodes([*episodes, wrong])
    true = replace(
        run,
        best=studies.TASK,
        expert=studies.EXPERT,
        posterior=None,
        certainty=(),
        open_questions=(),
    )
    shown = section(page(Study.of(true, mdp, mixed, compare=False)), "episodes")
    assert "1 episode is an outlier. An episode is an outlier when" in shown.text
    assert "<a " not in shown.text  # links are links
    (row,) = shown.all("table")[0].all("tr")[1:]
    assert row.all("th")[0].text.startswith(f"episode {len(episodes)} of ")
    assert [cell.text for cell in row.all("td")][2] == "40"
    usual = section(page(Study.of(true, mdp, demos, compare=False)), "episodes")
    assert "None. An episode is an outlier when" in usual.text
    assert not usual.all("table")


def test_the_command_stands_there_as_it_is() -> None:
    study = studies.grid()
    assert study.command in section(page(study), "recipe").all("pre")[0].text


def test_without_a_command_a_call_makes_the_run_again() -> None:
    study = replace(studies.grid(), command="")
    shown = section(page(study), "recipe").all("pre")[0].text
    run, mdp, demos = studies.grid_run()
    names: dict[str, object] = {"whence": whence, "world": mdp, "demos": demos}
    exec(shown, names)
    again = names["run"]
    assert isinstance(again, whence.Run)
    assert again.best == run.best
    assert again.score == run.score


def test_the_call_names_known_arrows_and_the_discounts_to_choose_among() -> None:
    study = studies.grid()
    job = study.run.job
    unknown = replace(job.unknowns, discounts=(0.8, 0.9))
    run = replace(study.run, job=replace(job, unknowns=unknown))
    told = replace(study, run=run, command="", fix=("a -c-> b",), discounts=(0.8, 0.9))
    shown = section(page(told), "recipe").all("pre")[0].text
    assert "discount=(0.8, 0.9)" in shown
    assert "fix=('a -c-> b',)" in shown


@pytest.mark.parametrize("side", [40, 120])
def test_large_worlds_stay_within_the_size(side: int) -> None:
    mdp = studies.plain_grid(side)
    demos = whence.simulate(mdp, studies.TASK, studies.EXPERT, episodes=3, length=50, seed=0)
    run = replace(
        studies.grid().run, best=studies.TASK, posterior=None, certainty=(), open_questions=()
    )
    shown = render(Study.of(run, mdp, demos, compare=False))
    assert len(shown) < 3_000_000
    assert "Steps taken in each state" in shown


def test_a_report_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere"):
        write(tmp_path / "nowhere" / "report.html", studies.grid())
    write(tmp_path / "report.html", studies.grid())
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render(studies.grid())


@given(st.text())
def test_text_stays_text(anything: str) -> None:
    root = parsed(fill('<p title="{x}">{x}</p>', x=anything))
    assert len(_every(root)) == 1
    assert root.text == text.visible(anything)
    assert root.children[0].attributes["title"] == text.visible(anything)
    assert safe(Html("<b>")) == "<b>"


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (share(0.25), "25.0%"),
        (share(1.0), "100%"),
        (share(1e-9), "<0.1%"),
        (share(1 - 1e-9), ">99.9%"),
        (share_with_error(0.5, 0.01), "50.0% ± 1.0%"),
        (nats(float("-inf")), "−∞"),
        (nats(-1234.56), "−1,234.6"),
        (counted(1, "episode"), "1 episode"),
        (counted(1200, "episode"), "1,200 episodes"),
        (fixed(-0.12345, 3), "−0.123"),
    ],
)
def test_numbers_are_written_for_people(shown: str, wanted: str) -> None:
    assert shown == wanted


def test_colours_have_enough_contrast() -> None:
    from whence.report.style import DARK, LIGHT

    for palette in (LIGHT, DARK):
        colour = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", palette))
        for ink in ("ink", "quiet", "accent", "loss"):
            for ground in ("paper", "panel", "shade"):
                assert _contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground)
        for ground in ("good", "doubt", "alive"):
            assert _contrast(colour["ink"], colour[ground]) >= 4.5
        assert _contrast(colour["quiet"], colour["dead"]) >= 4.5


def _contrast(one: str, other: str) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def _every(root: Element) -> list[Element]:
    found = []
    for child in root.children:
        found += [child, *_every(child)]
    return found


@pytest.mark.parametrize("make", [studies.grid, studies.chain])
def test_words_lead_to_what_they_mean(make: object) -> None:
    root = page(make())  # type: ignore[operator]
    meant = {each.attributes["id"] for each in root.all("dt") if "id" in each.attributes}
    assert {f"word-{anchor_of(word)}" for word in WORDS} == meant
    used = [a.attributes["href"] for a in root.all("a") if "#word-" in a.attributes["href"]]
    assert "#word-plan" in used
    assert {link[1:] for link in used} <= meant
