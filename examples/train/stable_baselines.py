"""Train a deep agent on an inferred task, with Stable-Baselines3 (`pip install 'whence[train]'`).

Frozen lake: touch the flag in the far corner, then reach the goal. The task is inferred from 100
demonstrations; PPO trains in four environments that the inferred machine pays; the true task
judges its policy by exact expected return.
"""

import gymnasium
import numpy as np

import whence
from whence.envs import GymWorld, RewardMachineEnv

try:
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
except ImportError:
    raise SystemExit(
        "this example needs stable-baselines3; install it with: pip install 'whence[train]'"
    ) from None

LENGTH = 40
EXPERT = whence.Expert(alpha=50, discount=0.95)
TASK = whence.RewardMachine.from_arrows(
    [
        "before -flag-> flagged",
        "before -goal,hole-> over",
        "flagged -goal/1-> over",
        "flagged -hole-> over",
    ],
    alphabet=("flag", "goal", "hole"),
)
LABELS = {3: "flag", 15: "goal", 5: "hole", 7: "hole", 11: "hole", 12: "hole"}


def make_env(machine: whence.RewardMachine) -> RewardMachineEnv:
    """Return the lake, paid by a machine, with flat observations."""
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=LENGTH)
    return RewardMachineEnv(
        lake, machine, label=LABELS, observation="one-hot", end_when_settled=True
    )


def policy_of(model: PPO, world: GymWorld, machine: whence.RewardMachine) -> whence.Policy:
    """Return the agent's deterministic policy as one of the world's."""
    chosen = np.zeros((machine.n_states, world.mdp.n_states, world.mdp.n_actions))
    for memory in range(machine.n_states):
        for state in range(world.mdp.n_states):
            seen = np.zeros(16 + machine.n_states, dtype=np.float32)
            seen[min(state, 15)] = seen[16 + memory] = 1.0
            action, _ = model.predict(seen, deterministic=True)
            chosen[memory, state, int(action)] = 1.0
    return whence.Policy(machine, chosen, EXPERT.discount)


def main() -> None:
    """Infer, train and evaluate."""
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = GymWorld.from_env(lake, label=LABELS, alphabet=TASK.alphabet)
    demos = whence.simulate(world.mdp, TASK, EXPERT, episodes=100, length=LENGTH, seed=0)
    machine = whence.infer(world.mdp, demos, states=3, expert=EXPERT, seed=0).best
    print(machine)

    envs = make_vec_env(lambda: make_env(machine), n_envs=4, seed=0)
    model = PPO("MlpPolicy", envs, n_steps=256, ent_coef=0.02, gamma=0.95, seed=0)
    for steps in range(10_240, 102_401, 10_240):
        model.learn(10_240, reset_num_timesteps=False)
        policy = policy_of(model, world, machine)
        result = whence.evaluate(world.mdp, policy, truth=TASK, length=LENGTH)
        print(f"{steps} steps: return {result.expected_return:.3f} of {result.reference:.3f}")
        if result.regret < 1e-9:
            break


if __name__ == "__main__":
    main()
