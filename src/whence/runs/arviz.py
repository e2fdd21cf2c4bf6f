"""The draws of a run for ArviZ, versions 0.x and 1.x."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from whence._arrays import Ints
from whence.analysis.sample import draw_classes
from whence.errors import ArgumentError, MissingExtraError

if TYPE_CHECKING:
    from whence.runs.result import Run

VARIABLES = ("n_states", "alpha", "lapse", "discount", "log_likelihood", "log_prior")


def to_arviz(run: Run) -> Any:
    """Return an InferenceData (0.x) or a DataTree (1.x); see `Run.to_arviz`."""
    posterior = variables(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # 0.x announces 1.x when it is imported
        warnings.filterwarnings("ignore", "log_likelihood variable found", UserWarning)
        try:
            import arviz
        except ImportError:
            raise MissingExtraError(
                "to_arviz needs the package arviz; install it with: pip install 'whence[arviz]'"
            ) from None
        attributes = {"inference_library": "whence", "temperature": run.temperature}
        if int(arviz.__version__.partition(".")[0]) < 1:
            return arviz.from_dict(posterior=posterior, attrs=attributes)
        return arviz.from_dict({"posterior": posterior}, attrs={"/": attributes})


def variables(run: Run) -> dict[str, Any]:
    """Return each variable as [chain, draw]: a chain is a ladder."""
    draws, sample = run.draws, run.posterior
    if draws is None or sample is None or draws.exact:
        raise ArgumentError(
            f"method {run.method!r} draws no chains; infer with method='tempering', or read "
            "run.posterior"
        )
    ladders: list[Ints] = [np.flatnonzero(draws.ladder == k) for k in np.unique(draws.ladder)]
    shortest = min(len(ladder) for ladder in ladders)
    rows = np.stack([ladder[:shortest] for ladder in ladders])
    columns = {name: np.asarray(getattr(draws, name))[rows] for name in VARIABLES}
    return columns | {"machine": draw_classes(sample, draws)[rows]}
