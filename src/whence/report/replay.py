"""A replay: a typical episode of the expert beside what the inferred agent would do.

Nothing runs: the marks move by the style sheet alone. Whoever asks for less motion, and paper,
sees the ways as lines.
"""

from __future__ import annotations

from whence.drawing import machine_svg
from whence.drawing.ways import COARSE, FINE, HOLD, Scene, lighting
from whence.report.html import (
    Html,
    counted,
    drawn,
    figure,
    fill,
    join,
    paragraph,
    section,
    width,
)
from whence.report.study import Study
from whence.report.walks import LONGEST, Walk, predicted, typical

LARGEST = 150_000  # characters of one map
STEP = 0.5  # seconds


def replay(study: Study) -> Html:
    """Return the section."""
    title = "Replay"
    found = typical(study)
    mdp, _ = study.worlds[0]
    scene = scene_of(study, 0)
    if found is None or scene is None:
        why = "There is no episode to show." if found is None else "The world is too large for it."
        return section("replay", title, paragraph(why))
    number, watched = found
    steps = len(watched.states) - 1
    agent = predicted(
        mdp, study.shown, study.run.expert.discount, watched.states[0],
        steps=steps, loops=True,
    )  # fmt: skip
    seconds = STEP * steps + 1
    shown = [
        _panel(study, scene, watched, "expert", f"The expert, episode {number}.", steps),
        _panel(study, scene, agent, "agent", _of_agent(agent, watched), steps),
    ]  # fmt: skip
    lead = (
        f"An episode that fits as well as most, {counted(steps, 'step')}"
        f"{' of it' if len(watched.states) > LONGEST else ''}, beside what an agent does that "
        "plans with the machine. The state of the machine lights up as labels are read."
    )
    return section(
        "replay",
        title,
        paragraph(lead),
        fill(
            '<input type="checkbox" id="still" class="still"><label for="still">Hold still'
            '</label><div class="replay cards" style="--length:{seconds}s">{all}</div>',
            seconds=f"{seconds:.1f}",
            all=join(shown),
        ),
    )


def _of_agent(agent: Walk, watched: Walk) -> str:
    """Return what is said of the agent's way."""
    text = (
        "The agent that was inferred, from the same start; every action leads where it usually "
        "does."
    )
    if len(agent.states) >= len(watched.states):
        return text
    return f"{text} After {counted(len(agent.states) - 1, 'step')} nothing more can be earned."


def scene_of(study: Study, world: int) -> Scene | None:
    """Return a scene of a world whose map is not too large for the page."""
    for most in (FINE, COARSE):
        scene = Scene.of(study.worlds[world][0], most)
        if scene is None or len(scene.svg("")) <= LARGEST:
            return scene
    return None


def _panel(study: Study, scene: Scene, walk: Walk, name: str, caption: str, steps: int) -> Html:
    """Return a map with a mark that moves, above the machine whose states light up.

    All marks of a replay take as long for a step: one that has less than all `steps` to go
    waits at its end.
    """
    hold = 1 - (1 - HOLD) * (len(walk.states) - 1) / max(steps, 1)
    over = [scene.way(walk.states, f"{name}-way"), scene.token(walk.states, f"{name}-moves")]
    world = scene.svg(f"Replay: {name}", over=over)
    lights = lighting(walk.memory, f"{name}-lights", hold)
    rules = [
        f'.{name}-machine [data-state="{state}"] rect{{animation-name:{name}-lights-{state}}}'
        for state in lights
    ]
    styles = [scene.keyframes(walk.states, f"{name}-moves", hold), *lights.values(), *rules]
    machine = machine_svg(study.shown).replace(
        "</svg>", f"<style>{''.join(styles)}</style></svg>", 1
    )
    return fill(
        '<div class="{name}-panel">{world}<div class="drawing light {name}-machine">{machine}'
        "</div></div>",
        name=name,
        world=figure(world, caption, least=min(width(world), 300)),
        machine=drawn(machine),
    )
