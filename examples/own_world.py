"""Your own world and task: draw a map, write the task as arrows, watch, evaluate."""

import whence

MAP = """
slip: 0.1
labels: c=coffee o=office *=plant
starts: S

map:
+---+---+
|S..|..o|
|... .*.|
|..c|...|
+---+---+
"""

mdp = whence.LabeledMDP.from_map(MAP, source="two rooms")
task = whence.RewardMachine.from_arrows(
    [
        "before -coffee-> holding",
        "before -plant-> over",
        "holding -office/1-> over",
        "holding -plant-> over",
    ],
    alphabet=mdp.alphabet,
)
expert = whence.Expert(alpha=30, discount=0.95)
demos = whence.simulate(mdp, task, expert, episodes=50, length=60, seed=0)
print(mdp)
print(task)
print(demos, "that fit the world:", demos.check(mdp).ok)

policy = whence.plan(mdp, task, discount=0.95)
result = whence.evaluate(mdp, policy, truth=task, length=60)
print(f"expected return {result.expected_return:.3f}, at best {result.horizon_optimum:.3f}")
