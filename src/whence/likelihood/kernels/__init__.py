"""Every compiled kernel. One stamp over all files of this folder guards their disk cache.

How products are solved (`scoring`): by value iteration on several machines at once. A row of
values belongs to one world state and holds LANES numbers, one for each state of each machine in
the pack, side by side. A sweep goes over the world's states in place (Gauss-Seidel), and each of
its instructions works on the whole row. All lanes read the same successors, so nothing is
gathered: only where a state has a label do the machines move, and there a second row holds what
it is worth to *enter* that state from each machine state.

The first PLAIN rounds are plain sweeps, which machines make side by side on a *porch*. Then
Anderson's method extrapolates from the last WINDOW rounds of REPEAT sweeps, with weights for
each machine of its own, which ends the loops through which rewards come back again and again. A
large world is swept in tiles, and keeps the last steps in the place of the last iterates, as
32-bit numbers: what is read from memory takes most of the time there, and a step is as small as
what is left to do, so that its rounding does no harm. Extrapolation is watched: where the
changes grow, or do not halve for long, the machine goes on with plain sweeps for a while, each
time for longer, so that no machine can fail to converge. A machine that is done leaves its lanes
to the next one and waits at a *desk*, where several are read side by side. Lanes do not see one
another, so a machine's numbers do not depend on its company.

A sweep is a contraction by the discount: if the last one changed no value by more than d, every
value is within d * discount / (1 - discount) of exact, whatever came before: the stop rule.

Values in rows are multiplied by the discount, so that an unlabelled state's row is also what it
is worth to enter it, and probabilities are multiplied by the discount in advance.

Rows of the world are padded to `width` successors where that is cheap, else `width` is 0 and
`offsets` tells where they begin.
"""
