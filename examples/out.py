"""From a run to ArviZ, pyrewardmachines and PRISM; ArviZ needs the extra `arviz`."""

import whence
from whence import io as formats

world = whence.worlds.coffee()
demos = whence.simulate(world.mdp, world.task, world.expert, episodes=20, length=100, seed=0)
run = whence.infer(world.mdp, demos, states=2, discount=0.92, seed=0, steps=100)

data = run.to_arviz()
chains, draws = data["posterior"]["alpha"].shape
print(f"{chains} chains of {draws} draws:", ", ".join(data["posterior"].data_vars))

run.best.save("task.py")  # a class for the library pyrewardmachines
print("wrote task.py,", ", ".join(formats.save_product(world.mdp, run.best, "product")))
