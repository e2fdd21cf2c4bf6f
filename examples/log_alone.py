"""A log of named states and actions, nothing else: estimate the world, infer, plan."""

import whence

office = whence.worlds.coffee()  # stands for a place that nobody has a model of
demos = whence.simulate(office.mdp, office.task, office.expert, episodes=300, length=100, seed=0)
demos.save("log.csv", office.mdp)  # episode,step,state,action,label

log = whence.Demonstrations.from_table("log.csv")
world = whence.LabeledMDP.from_demonstrations(log)
print(log.coverage(world))

run = whence.infer(world, log, states=3, expert=whence.Expert(alpha=50, discount=0.92))
print(run.best)
print("doubts:", run.doubts or "none")
for sequence in run.open_questions:
    print("open:", sequence.labels, "- a demonstration from", sequence.start.name, "would tell")
print("the expert's task, in the true world:", run.best.same_in(office.task, office.mdp))

policy = whence.plan(world, run.best, discount=0.92)
print("at (10, 3), with empty hands:", policy.act("(10, 3)"))
