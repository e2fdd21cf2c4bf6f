"""One thread for BLAS, here and in the processes that tests start.

Threads that wait for each other spin: two workers on two cores spend sixteen times the time of
one thread on the small systems that the readable engine solves.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
