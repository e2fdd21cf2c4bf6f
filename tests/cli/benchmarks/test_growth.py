from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest

from whence.cli.benchmarks import growth, timing
from whence.cli.benchmarks.series import Growth, Sizes, WorldPoint

TINY = Sizes(
    worlds=(49, 100, 225),
    world_machines=2,
    episodes=20,
    machine_states=(1, 2, 3),
    steps=(200, 1_000, 5_000),
    machines=6,
    grids=(10_000, 20_000),
    threads=(1, 2),
    batch=10,
)


@pytest.fixture(scope="module")
def tiny() -> Growth:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "ENOUGH", 0.0)
        return growth.measure(TINY, seed=0, tell=lambda _: None)


def test_every_figure_is_finite_and_positive(tiny: Growth) -> None:
    series = (
        tiny.worlds, tiny.machine_states, tiny.demonstrations, tiny.threads, tiny.deterministic
    )  # fmt: skip
    assert [len(points) for points in series] == [3, 3, 3, 2, 2]
    for points in series:
        for point in points:
            figures = {k: v for k, v in asdict(point).items() if v is not None}
            assert set(asdict(point)) - set(figures) <= {"cell_nanoseconds"}
            assert all(math.isfinite(v) and v > 0 for v in figures.values()), point


def test_evidence_grows_with_the_steps(tiny: Growth) -> None:
    steps = [p.steps for p in tiny.demonstrations]
    cells = [p.cells for p in tiny.demonstrations]
    histories = [p.histories for p in tiny.demonstrations]
    assert steps == [200, 1_000, 5_000]
    assert cells == sorted(set(cells))
    assert histories == sorted(set(histories))
    assert all(p.histories < p.cells <= p.steps for p in tiny.demonstrations)


def test_worlds_are_as_large_as_asked_and_scored_by_the_same_machines(tiny: Growth) -> None:
    assert [p.states for p in tiny.worlds] == [49, 100, 225]
    assert [p.transitions for p in tiny.worlds] == [12 * s - 8 for s in (49, 100, 225)]
    assert {p.machines for p in tiny.worlds} == {2}
    for p in tiny.worlds:
        assert p.nanoseconds * p.transitions == pytest.approx(1e3 * p.microseconds)


def test_grids_without_slip_have_the_same_demonstrations(tiny: Growth) -> None:
    small, large = tiny.deterministic
    assert (small.states, large.states) == (10_000, 142**2)
    assert small.cells == large.cells
    assert small.kept_megabytes < small.map_megabytes < large.map_megabytes


def test_a_batch_of_one_state_machines_holds_no_copies() -> None:
    # of three symbols and two levels, seven one-state machines pay anything
    assert growth.states_point(1, 200, seed=0).machines == 7


def test_the_speedup_is_over_the_first_number_of_threads(tiny: Growth) -> None:
    one, two = tiny.threads
    assert one.speedup == 1
    assert two.speedup == pytest.approx(one.seconds / two.seconds)


def test_growth_in_proportion_has_exponent_and_excess_of_one() -> None:
    small = WorldPoint(10_000, 119_992, 5, 2, microseconds=10.0, nanoseconds=1.0)
    more = replace(small, states=1_000_000, transitions=11_999_200, microseconds=1_000.0)
    tiny = replace(small, states=100, microseconds=7.0)
    linear = growth.rise([tiny, small, more])
    assert (linear.from_states, linear.to_states) == (10_000, 1_000_000)
    assert (linear.excess, linear.exponent) == pytest.approx((1, 1))
    steep = growth.rise([tiny, small, replace(more, microseconds=10_000.0)])
    assert (steep.excess, steep.exponent) == pytest.approx((10, 1.5))


def test_sizes_are_powers_of_ten_within_the_bound() -> None:
    sizes = growth.sizes_up_to(20_000, machines=7)
    assert sizes.worlds == (100, 1_000, 10_000)
    assert sizes.steps == (1_000, 10_000, 100_000)
    assert sizes.grids == (10_000,)
    assert growth.sizes_up_to(10**6, 7).worlds[-1] == 10**6
    assert growth.sizes_up_to(10**6, 7).steps[-1] == 10**7


def test_the_least_of_the_runs_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    calls: list[str] = []
    found = timing.least(lambda: calls.append("run"), warm_up=lambda: calls.append("warm"))
    assert found.wall == 2.0
    assert calls == ["warm", "run", "run", "run"]


def test_what_runs_on_one_thread_counts_by_its_core() -> None:
    assert timing.Timing(wall=9.0, cpu=4.0).core == 4.0
    assert timing.Timing(wall=0.02, cpu=0.0).core == 0.02
