"""The three worlds of the paper, such as `whence.worlds.coffee()`."""

from __future__ import annotations

from whence.paper.worlds import BUILT_IN, World, coffee, map_text, multi_coffee, recharge

__all__ = ["BUILT_IN", "World", "coffee", "map_text", "multi_coffee", "recharge"]
