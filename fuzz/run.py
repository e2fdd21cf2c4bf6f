"""Throw mutated bytes at a reader until it breaks, guided by what they reach in whence.

    pip install atheris
    python fuzz/run.py --reader world-json --executions 1000000
    python fuzz/run.py --reader all --executions 1000000

The readers are those of `tests/support/readers.py`, the seeds those of `tests/corpus/READER/`.
Inputs that reach something new are kept in `.fuzz/READER/`; one that breaks a reader is left
beside them as `crash-...`, `timeout-...` or `oom-...`: mend the reader, and move the input to
the corpus, which the tests replay. The executions of each run are added to `.fuzz/counts.csv`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".fuzz"
SECONDS = 10  # that one input may take
MEBIBYTES = 1024  # that the process may hold
LONGEST = 4096  # bytes of an input


def main() -> None:
    """Fuzz one reader here, or each in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reader", required=True)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.here:
        fuzz(chosen.reader, chosen.executions)
        return
    sys.path.insert(0, str(ROOT / "tests"))
    from support.readers import READERS

    names = list(READERS) if chosen.reader == "all" else [chosen.reader]
    broken = [name for name in names if not counted(name, chosen.executions)]
    if broken:
        sys.exit(f"found something: {', '.join(broken)}; see {KEPT}")


def counted(name: str, executions: int) -> bool:
    """Fuzz a reader in a process of its own; return whether nothing was found."""
    folder = KEPT / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        __file__,
        "--here",
        "--reader",
        name,
        "--executions",
        str(executions),
    ]
    log = folder.with_suffix(".log")
    with log.open("w") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT).returncode
    text = log.read_text(errors="replace")
    done = re.findall(r"stat::number_of_executed_units: (\d+)|^#(\d+)\s", text, re.MULTILINE)
    count = max((int(a or b) for a, b in done), default=0)
    with (KEPT / "counts.csv").open("a") as file:
        file.write(f"{name},{count},{code}\n")
    print(f"{name}: {count:,} executions, {'nothing found' if code == 0 else 'FOUND'}", flush=True)
    return code == 0


def fuzz(name: str, executions: int) -> None:
    """Fuzz a reader in this process, which ends with it."""
    import atheris

    sys.path.insert(0, str(ROOT / "tests"))
    with atheris.instrument_imports(include=["whence"]):
        from support import readers
    folder = KEPT / name
    folder.mkdir(parents=True, exist_ok=True)
    seeds = ROOT / "tests" / "corpus" / name
    words = dictionary(seeds, folder)
    options = [
        f"-runs={executions}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEBIBYTES}",
        f"-max_len={LONGEST}", f"-artifact_prefix={folder}/", f"-dict={words}",
        "-print_final_stats=1", "-verbosity=1",
    ]  # fmt: skip
    places = [str(folder / "corpus"), *([str(seeds)] if seeds.is_dir() else [])]
    (folder / "corpus").mkdir(exist_ok=True)
    readers.read(name, b"")  # what is compiled or made once does not count as slow
    atheris.Setup([sys.argv[0], *options, *places], lambda data: _once(readers, name, data))
    atheris.Fuzz()


def _once(readers: object, name: str, data: bytes) -> None:
    readers.read(name, data)  # type: ignore[attr-defined]


def dictionary(seeds: Path, folder: Path) -> Path:
    """Write the words of the seeds, which mutations then insert."""
    found = {"1e400", "-0", "NaN", "99999999999", "null", "\\ud800", "\\\\", "1e-320"}
    for path in sorted(seeds.glob("*")) if seeds.is_dir() else []:
        text = path.read_bytes().decode("utf-8", "ignore")
        found.update(word for word in re.findall(r"[\w.]{2,20}|\S{1,3}", text) if word.isascii())
    kept = sorted(found)[:400]
    path = folder / "words"
    escaped = (w.replace("\\", "\\\\").replace('"', '\\"') for w in kept)
    path.write_text("".join(f'"{word}"\n' for word in escaped if word.isprintable()))
    return path


if __name__ == "__main__":
    main()
