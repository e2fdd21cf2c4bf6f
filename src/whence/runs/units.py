"""What a worker does: a unit of work, a pure function of what it is given.

A unit names the job that it belongs to by the hash of its inputs. A worker that does not know the
job says so, and is sent it once. Nothing else is kept but log likelihoods, which are functions of
the machine alone: whoever does a unit, and however often, finds the same.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections import OrderedDict
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from whence._files import __version__
from whence.errors import WhenceError
from whence.runs import manifest, wire
from whence.runs.checkpoint import filled
from whence.runs.walk import Walk

JOBS = 2  # that a worker knows at once; a job holds at most 250,000 log likelihoods a discount
SHARED = 4  # censuses that it knows at once
Request = dict[str, Any]
Reply = dict[str, Any]


class Known(NamedTuple):
    """A job that this process knows: the search before its first step."""

    walk: Walk
    shared: OrderedDict[str, Any]


_known: OrderedDict[str, Known] = OrderedDict()
_lock = threading.Lock()


@cache
def identity() -> dict[str, str]:
    """Return what decides the last bits of a result: versions, and what processors compile to."""
    import llvmlite.binding as llvm
    import numba

    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    found = [*simd.get("baseline", ()), *simd.get("found", ())]
    features = numba.config.CPU_FEATURES
    if features is None:  # numba then takes the host's, also for a processor that was named
        features = llvm.get_host_cpu_features().flatten()
    return {
        "whence": __version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "processor": f"{platform.machine()} {numba.config.CPU_NAME or llvm.get_host_cpu_name()}",
        "processor features": wire.key_of(features.encode(), " ".join(found).encode())[:12],
        "C library": " ".join(platform.libc_ver()) or platform.system(),
    }


def difference(theirs: dict[str, str], here: dict[str, str]) -> str | None:
    """Return how a worker differs from who sends it work, in words, with the cure; or None."""
    for name, wanted in theirs.items():
        found = here.get(name)
        if found != wanted:
            return (
                f"{name} is {found} there and {wanted} here, and results would differ in their "
                f"last bits; {_CURES.get(name, _PROCESSOR)}"
            )
    return None


def me() -> str:
    """Return a name of this process: its machine and its number."""
    return f"{platform.node()}:{os.getpid()}"


def work(request: Request) -> Reply:
    """Do a unit of work.

    Args:
        request: see `whence.runs.crew`; only text, numbers and bytes.

    Returns:
        `worker`, who did it; and `refused`, why it cannot, or `missing`, what it must be sent
        first, or `done`, what it found, and the `seconds` that it took.
    """
    worker = me()
    try:
        refused = difference(request["identity"], identity())
        if refused is not None:
            return {"worker": worker, "refused": refused}
        known = _job(request)
        shared = None if known is None else _shared(known, request)
        if known is None or (request["shared"] is not None and shared is None):
            return {"worker": worker, "missing": "job" if known is None else "shared"}
        began = time.perf_counter()
        method = known.walk.method
        part = wire.part_of(method, known.walk.state, request, shared)
        done = wire.reply_of(method.carried(known.walk.rng, part))
    except WhenceError as error:
        return {"worker": worker, "refused": str(error)}
    return {"worker": worker, "done": done, "seconds": time.perf_counter() - began}


def _job(request: Request) -> Known | None:
    """Return the job of a request, if it is known or comes with it."""
    key, parcel = request["job"], request["parcel"]
    with _lock:
        known = _known.get(key)
        if known is None and parcel is not None:
            job = manifest.unparcelled(parcel)
            known = Known(Walk.start(job, job.problem(request["threads"])), OrderedDict())
            _known[key] = known
            while len(_known) > JOBS:
                _known.popitem(last=False)
        elif known is not None:
            _known.move_to_end(key)
    return known


def _shared(known: Known, request: Request) -> Any:
    """Return what the parts of a state share, if it is known or comes with the request."""
    key, data = request["shared"], request["shared_data"]
    if key is None:
        return None
    with _lock:
        if key not in known.shared and data is not None:
            like = known.walk.method.shared_like()
            known.shared[key] = filled(like, wire.unpacked(data), "shared", wire.SOURCE)
            while len(known.shared) > SHARED:
                known.shared.popitem(last=False)
        return known.shared.get(key)


_PROCESSOR = (
    "use workers of one kind, or a common subset: set NUMBA_CPU_NAME, NUMBA_CPU_FEATURES and "
    "NPY_DISABLE_CPU_FEATURES to the same everywhere"
)
_CURES = {name: f"install the same {name} on all workers" for name in ("whence", "numpy", "numba")}
