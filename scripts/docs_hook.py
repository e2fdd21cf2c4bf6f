"""What the documentation site needs beyond the pages in docs: the examples, and a last look.

Pages in docs link to `../examples/NAME.py`, so that the links work where the repository is read as
plain files. On the site these programs become pages, and the links lead to them. A page that would
ask another host for anything when it is read is refused.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

EXAMPLES = Path(__file__).parent.parent / "examples"
LINK = re.compile(r"\]\((?:\.\./)+examples/([\w/]+)\.py\)")
FETCHED = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=["']?(?:https?:)?//"""
)


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each example; the navigation need not name them."""
    for path in sorted(EXAMPLES.rglob("*.py")):
        name = path.relative_to(EXAMPLES).with_suffix(".md").as_posix()
        page = File.generated(config, f"examples/{name}", content=_page(path))
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to examples to their pages."""
    up = "../" * page.file.src_uri.count("/")
    return LINK.sub(rf"]({up}examples/\1.md)", markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that fetches something from elsewhere."""
    found = FETCHED.search(output)
    if found:
        raise PluginError(f"{page.file.src_uri}: fetches from elsewhere: {found.group()}...")
    return output


def _page(path: Path) -> str:
    source = path.read_text("utf-8")
    first = (ast.get_docstring(ast.parse(source)) or path.stem).splitlines()[0]
    place = path.relative_to(EXAMPLES.parent).as_posix()
    return f"# {place}\n\n{first}\n\n```python\n{source}```\n"
