"""Demonstrations as a dataset of Minari, and back; needs the extra `minari`."""

import os
import tempfile

import whence

os.environ["MINARI_DATASETS_PATH"] = tempfile.mkdtemp()  # leave the user's own datasets alone

world = whence.worlds.recharge()
demos = whence.simulate(world.mdp, world.task, world.expert, episodes=20, length=25, seed=0)
dataset = demos.to_minari("recharge/expert-v0", world.mdp)
print("Minari has", dataset.total_episodes, "episodes and", dataset.total_steps, "steps")

again = whence.Demonstrations.from_minari("recharge/expert-v0", mdp=world.mdp)
print(again, "that fit the world:", again.check(world.mdp).ok)

posterior = whence.Posterior(world.mdp, again, expert=world.expert)
print(f"log likelihood of the true task: {posterior.finest(world.task):.1f}")
