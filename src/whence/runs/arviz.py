"""The draws of a run for ArviZ, versions 0.x and 1.x."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from whence._arrays import Ints
from whence.analysis.sample import PosteriorSample, draw_classes
from whence.errors import ArgumentError, MissingExtraError
from whence.search.draws import Draws

VARIABLES = ("n_states", "alpha", "lapse", "discount", "log_likelihood", "log_prior")


def to_arviz(posterior: dict[str, Any], temperature: float) -> Any:
    """Return variables as an InferenceData (0.x) or a DataTree (1.x); see `Run.to_arviz`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # 0.x announces 1.x when it is imported
        warnings.filterwarnings("ignore", "log_likelihood variable found", UserWarning)
        try:
            import arviz
        except ImportError:
            raise MissingExtraError(
                "to_arviz needs the package arviz; install it with: pip install 'whence[arviz]'"
            ) from None
        attributes = {"inference_library": "whence", "temperature": temperature}
        if int(arviz.__version__.partition(".")[0]) < 1:
            return arviz.from_dict(posterior=posterior, attrs=attributes)
        return arviz.from_dict({"posterior": posterior}, attrs={"/": attributes})


def variables(draws: Draws | None, sample: PosteriorSample | None, method: str) -> dict[str, Any]:
    """Return each variable as [chain, draw]: a chain is a ladder."""
    if draws is None or sample is None or draws.exact:
        raise ArgumentError(
            f"method {method!r} draws no chains; infer with method='tempering', or read "
            "run.posterior"
        )
    ladders: list[Ints] = [np.flatnonzero(draws.ladder == k) for k in np.unique(draws.ladder)]
    shortest = min(len(ladder) for ladder in ladders)
    rows = np.stack([ladder[:shortest] for ladder in ladders])
    columns = {name: np.asarray(getattr(draws, name))[rows] for name in VARIABLES}
    return columns | {"machine": draw_classes(sample, draws)[rows]}
