"""Methods of models that reach into other rooms: files, tables, drawings, Gymnasium.

`world.save`, `machine.draw` and the like are what people expect of a model, but what they do
lives in rooms above. This is the only module that imports upward, and it does so inside
functions: models themselves know nothing of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.envs.labelling import Label as GymLabel
    from whence.io.trajectories import Label, Meaning
    from whence.model.asking import Question
    from whence.model.checks import Findings
    from whence.model.coverage import Coverage
    from whence.model.demos import Demonstrations
    from whence.model.machine import RewardMachine
    from whence.model.mdp import LabeledMDP
    from whence.runs.result import Run


class WorldMethods:
    """What worlds do beyond their own room."""

    @classmethod
    def from_map(cls, text: str, *, source: str = "map") -> LabeledMDP:
        """Build a grid world from a drawing; `docs/maps.md` describes the format."""
        from whence.io import world_map as map_format

        return map_format.loads(text, source)

    @classmethod
    def from_gymnasium(
        cls,
        env: Any,
        *,
        label: GymLabel,
        alphabet: Iterable[str] | None = None,
        actions: Sequence[str] | None = None,
        initial: Any = None,
        steps: int | None = None,
        seed: int = 0,
        available: str = "mask",
        endings: str = "world",
    ) -> LabeledMDP:
        """Build the world of a Gymnasium environment; `docs/gymnasium.md` tells more.

        State s is the environment's state s. Labels of steps, and states in which some episodes
        end and others go on, need further states; `whence.envs.GymWorld.from_env` knows them.

        Args:
            env: has a transition table, `env.unwrapped.P`, or discrete spaces.
            label: a function of (state) or of (state, action, next state), which returns a
                symbol, a set of propositions or None; or a mapping from states to such.
            alphabet: the symbols; by default those of the labels, in order of appearance.
            actions: a name for each.
            initial: where episodes start, where a table comes without `initial_state_distrib`.
            steps: how many steps to explore, to estimate a model in place of a table.
            seed: of the exploration.
            available: `mask`, the actions that the environment's masks allow, all where there are
                none (`env.unwrapped.action_mask(state)`, `info["action_mask"]`); or `all`.
            endings: `world`, a step that ends an episode leads to where nothing follows; or
                `task`, it leads where it leads, and demonstrations say when a task is over.
        """
        from whence.envs import need_gymnasium

        need_gymnasium("LabeledMDP.from_gymnasium")
        from whence.envs.world import GymWorld

        return GymWorld.from_env(
            env, label=label, alphabet=alphabet, actions=actions, initial=initial,
            steps=steps, seed=seed, available=available, endings=endings,
        ).mdp  # fmt: skip

    @classmethod
    def from_demonstrations(
        cls,
        demos: Demonstrations,
        *,
        labels: Mapping[str | int, str | None] | None = None,
        alphabet: Iterable[str] | None = None,
        actions: Sequence[str] | None = None,
        smoothing: float = 0.1,
        available: str = "all",
    ) -> LabeledMDP:
        """Estimate a world from demonstrations alone; `demos.coverage(world)` says how well.

        Probabilities are Dirichlet means: `smoothing` is the weight, in steps, of a prior that is
        uniform over the successors seen from a state under any action and the state itself. A
        state-action pair that was never seen stays put, and stands in `unseen`. Episodes start
        as often in a state as they do in the log.

        Args:
            demos: with labels, each state always having the same one, or with `labels` below.
            labels: the symbol of each state, by name or number, in place of the log's.
            alphabet: the symbols, in order; by default those of the log, sorted.
            actions: the action names, where the log gives numbers.
            smoothing: the weight of the prior; 0 takes the frequencies as they are.
            available: `all`, every state has every action; or `seen`, those that were ever taken
                in it, with a warning where a state was left too rarely to tell.
        """
        from whence.model import estimation

        return estimation.estimate(
            demos, labels=labels, alphabet=alphabet, actions=actions, smoothing=smoothing,
            available=available,
        )  # fmt: skip

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LabeledMDP:
        """Read a world: `*.json`, `*.npz` or `*.map`."""
        from whence import io

        return io.load_world(path)

    def save(self: Any, path: str | os.PathLike[str]) -> None:
        """Write the world: `*.json`, `*.npz`, `*.map`, or a picture, `*.svg` or `*.png`."""
        from whence import io

        io.save_world(self, path)

    def __str__(self: Any) -> str:
        if self.grid is None:
            return repr(self)
        from whence.drawing import terminal

        return terminal.grid_text(self)

    def _repr_svg_(self: Any) -> str | None:
        if self.grid is None:
            return None
        from whence.drawing import grid_svg

        return grid_svg(self)


class MachineMethods:
    """What machines do beyond their own module."""

    @classmethod
    def from_arrows(
        cls: Any, arrows: Iterable[str], alphabet: Iterable[str] | None = None
    ) -> RewardMachine:
        """Build a machine from lines such as `"holding -o/1-> over"`.

        The first state named is initial. Several symbols are separated by commas; what is not
        said stays put and pays 0. Without `alphabet`, symbols come in order of appearance.
        """
        from whence.io.arrows import tables

        machine: RewardMachine = cls(*tables(list(arrows), alphabet))
        return machine

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RewardMachine:
        """Read a machine; the file's ending says in which format."""
        from whence import io

        return io.load_machine(path)

    def save(self: Any, path: str | os.PathLike[str]) -> None:
        """Write the machine; the file's ending says in which format."""
        from whence import io

        io.save_machine(self, path)

    def same_in(self: Any, other: RewardMachine, mdp: LabeledMDP) -> bool:
        """Whether both pay the same on every label sequence that the world can produce."""
        return self.difference(other, mdp) is None

    def difference(
        self: Any, other: RewardMachine, mdp: LabeledMDP | None = None
    ) -> tuple[str, ...] | None:
        """Return the shortest label sequence on which the rewards differ, or None.

        With `mdp`, only sequences that this world can produce from its initial states count.
        """
        from whence.model import equivalence

        if mdp is None:
            return equivalence.difference(self, other)
        return equivalence.difference_in(self, other, mdp)

    def __str__(self: Any) -> str:
        from whence.drawing import terminal

        return terminal.machine_text(self)

    def _repr_svg_(self: Any) -> str:
        from whence.drawing import machine_svg

        return machine_svg(self)


class DemonstrationsMethods:
    """What demonstrations do beyond their own module."""

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        mdp: LabeledMDP | None = None,
        episode: str = "episode",
        step: str | None = None,
        state: str = "state",
        action: str = "action",
        label: str | None = None,
        ended: str | None = None,
        subject: str | None = None,
        numbers: bool = True,
        gaps: str = "error",
        bins: Mapping[str, Any] | None = None,
        boxes: str | os.PathLike[str] | None = None,
    ) -> Demonstrations:
        """Build demonstrations from a table with one row a state; `docs/tables.md` says how.

        Args:
            table: a path (`*.csv`, `*.tsv`, `*.parquet`), a frame of pandas or polars, a table of
                pyarrow, or a dictionary of columns.
            mdp: the world whose names or numbers the table uses; else names are sorted.
            episode: the column that says which episode a row belongs to.
            step: the column of numbers, times or dates that orders rows; `step`, if there is one.
            state: the column of states.
            action: the column of the actions taken there; an episode's last row may have none.
            label: the column of the states' labels, empty for blank; by default `label`, if any.
            ended: the column that says, in an episode's last row, whether the task was over.
            subject: the column that says who acted; `subject`, if there is one.
            numbers: whether, without a world, whole numbers are no names of states and actions.
            gaps: `error` refuses episodes that lack a step, `cut` keeps what is before it, and
                `ignore` takes the column for a time.
            bins: columns of numbers that make up the states, each cut into bins of one width:
                how many, such as `{"x": 20}`, or `{"x": (20, 0.0, 2.5)}` with their ends.
            boxes: a file of labelled regions, for binned states.
        """
        from whence import io
        from whence.io import binning, columns, tables

        names = tables.ColumnNames(episode, step, state, action, label, ended, subject)
        if isinstance(table, str | os.PathLike):
            found = io.load_table(table)
        else:
            found = columns.framed(table, "table")
        return tables.demonstrations(
            found,
            names,
            mdp=mdp,
            numbers=numbers,
            gaps=gaps,
            bins=binning.cuts(bins or {}),
            boxes=None if boxes is None else binning.read_boxes(io.load_table(boxes)),
        )

    def to_table(self: Any, mdp: LabeledMDP | None = None) -> dict[str, list[Any]]:
        """Return the columns episode, step, state, action and, where known, others.

        With `mdp`, states and actions have its names and every state its label.
        """
        from whence.io import table_writer

        return table_writer.columns(self, mdp)

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Iterable[Any] | str | os.PathLike[str],
        *,
        state: Meaning | None = None,
        action: Meaning | None = None,
        label: Label = None,
        mdp: LabeledMDP | None = None,
    ) -> Demonstrations:
        """Build demonstrations from objects with `obs` and `acts`, such as those of imitation.

        Args:
            trajectories: the objects (or mappings), or the folder that imitation saved them to.
            state: what an observation stands for: a number or a name; by default itself.
            action: what an action stands for; by default itself.
            label: the symbol of an observation, or None; or the key of `infos` that holds it.
                Without, labels are left to the world.
            mdp: the world whose names or numbers these are.
        """
        from whence.io import trajectories as records

        if isinstance(trajectories, str | os.PathLike):
            found, source = records.saved_records(trajectories), os.fspath(trajectories)
        else:
            found, source = list(records.records_of(trajectories)), "trajectories"
        return records.from_records(
            found, state=state, action=action, label=label, mdp=mdp, source=source
        )

    @classmethod
    def from_minari(
        cls,
        dataset: Any,
        *,
        state: Meaning | None = None,
        action: Meaning | None = None,
        label: Label = "label",
        mdp: LabeledMDP | None = None,
    ) -> Demonstrations:
        """Build demonstrations from a dataset of Minari.

        Args:
            dataset: its id, its folder, or the dataset itself.
            state: what an observation stands for: a number or a name; by default itself.
            action: what an action stands for; by default itself.
            label: the symbol of an observation, or None; or the key of `infos` that holds it.
            mdp: the world whose names or numbers these are.
        """
        from whence.io import minari

        return minari.load(dataset, state=state, action=action, label=label, mdp=mdp)

    def to_minari(self: Any, dataset_id: str, mdp: LabeledMDP | None = None) -> Any:
        """Write a dataset of Minari and return it.

        Observations are the states' numbers; `infos` hold labels, names and subjects.
        Minari keeps datasets in the folder that MINARI_DATASETS_PATH names.
        """
        from whence.io import minari

        return minari.save(self, dataset_id, mdp)

    @classmethod
    def load(cls, path: str | os.PathLike[str], mdp: LabeledMDP | None = None) -> Demonstrations:
        """Read `*.jsonl`, `*.npz` or a table, `*.csv`, `*.tsv` or `*.parquet`.

        With `mdp`, states and actions may be given by name.
        """
        from whence import io

        return io.load_demonstrations(path, mdp)

    def save(self: Any, path: str | os.PathLike[str], mdp: LabeledMDP | None = None) -> None:
        """Write `*.jsonl`, `*.npz` or a table, the latter with the names that `mdp` has."""
        from whence import io

        io.save_demonstrations(self, path, mdp)

    def check(self: Any, mdp: LabeledMDP) -> Findings:
        """Compare with a world; the findings name each place where the two do not fit."""
        from whence.model import checks

        return checks.check(self, mdp)

    def coverage(self: Any, mdp: LabeledMDP) -> Coverage:
        """Return how often each state-action pair of a world was seen; print it."""
        from whence.model import coverage

        return coverage.coverage(self, mdp)


class RunMethods:
    """What runs do with answers to questions, see `whence.ask`, and with groups of subjects."""

    def of_group(self: Any, group: int) -> Run:
        """Return one group of `run.groups.groups`, numbered from 0, as a run of its own.

        It has the group's episodes and machines, and the mean of its subjects as expert.
        """
        from whence.runs import alone

        return alone.of_group(self, group)

    def answered(self: Any, question: Question, answer: object, *, refresh: bool = True) -> Run:
        """Return the run as an answer makes it, which is kept where the run has a folder.

        Args:
            question: one that `whence.ask.questions` returned.
            answer: a reward level, `first` or `second`, or an episode; see `question.answers`.
            refresh: whether the chains sample anew where too few draws agree with the answers.
        """
        from whence.runs import answering

        return answering.answered(self, question, answer, refresh)

    def withdrawn(self: Any, answer: str, *, refresh: bool = True) -> Run:
        """Return the run without an answer, by its `id`; the folder remembers both."""
        from whence.runs import answering

        return answering.withdrawn(self, answer, refresh)

    def refreshed(self: Any, *, progress: bool | None = None) -> Run:
        """Return the run sampled anew, with the answers in the target."""
        from whence.runs import answering

        return answering.refreshed(self, progress)

    @property
    def worn(self: Any) -> bool:
        """Whether too few draws agree with the answers, so that `refreshed` should be called."""
        from whence.runs import reweighing

        return reweighing.worn(self)
