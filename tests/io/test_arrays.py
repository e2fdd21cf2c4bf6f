from __future__ import annotations

import io

import numpy as np
import pytest

from whence.io import arrays


def test_archives_are_those_of_numpy_byte_for_byte() -> None:
    fields: arrays.Arrays = {
        "format": np.array("whence/test/1"),
        "numbers": np.arange(12).reshape(3, 4),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "empty": np.zeros((0, 2), dtype=np.int8),
        "words": np.array(["a", "word"]),
    }
    buffer = io.BytesIO()
    np.savez(buffer, **fields)  # type: ignore[arg-type]
    assert arrays.write(fields) == buffer.getvalue()
    found = arrays.load(arrays.write(fields), "f.npz")
    assert list(found) == list(fields)
    assert all((found[name] == fields[name]).all() for name in fields)


def test_objects_are_not_written() -> None:
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        arrays.write({"trap": np.array([object()])})
