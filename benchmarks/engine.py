"""The engine beside hand-written SQL: ``python benchmarks/engine.py --n N --json OUT``.

Each figure stands beside the same work as hand-written SQL, run with apsw in the same run, in turns. Reads run on
kip's own file, through a connection with kip's settings, and their answers are compared; commands are repeated with
other parameters, so kip has parsed and compiled them (``every text new`` shows what that saves). Writes run on a
second file with the same tables, indexes and settings (see engine_load.py). Files are on disk, every commit is
synced. ``--growth`` shows how point, anchored, paged and single-write work grow from the smallest N to the largest.

Where commits wait long for the disk, writes differ little; ``--dir /dev/shm`` shows what they take beside the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter, strftime
from typing import Any

import apsw
from engine_load import Hand, execute, open_kip
from engine_reads import ANCHORED, PAGE, POINT, READS, Read, Store
from rich.console import Console
from rich.table import Table
from timing import MOST_PAIRS, Call, Timing, percentile, take_turns
from workload import SEED, capsule, newcomers

import kip

UPSERT, LOAD, MEMORY = (
    "UPSERT of one concept with 3 propositions",
    "load of the whole graph",
    "memory after the load, MB",
)
UPSERT_GOAL, LOAD_GOAL, MEMORY_GOAL_MB, GROWTH_GOAL = 4, 5, 200, 1.5
LOADS = 3
"""How often a graph is loaded at most; of large ones once is all that the time allows."""

SHARE_OF_LOADS = 0.25

Row = dict[str, Any]
console = Console(width=140, highlight=False)


def main() -> None:
    arguments = _arguments()
    sizes = sorted(set(arguments.n or ([10_000, 50_000, 250_000] if arguments.growth else [10_000])))
    rows: list[Row] = []
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=arguments.dir, prefix="kip-bench-") as folder:
            run = Run(Path(folder), n, arguments.budget / len(sizes), keep=arguments.keep)
            found = run.rows([POINT, ANCHORED, PAGE] if arguments.growth else READS, loads=not arguments.growth)
        console.print(_table(f"N = {n:,}", found))
        rows.extend(found)
    report: dict[str, Any] = {"metadata": _metadata(arguments), "rows": rows}
    if arguments.growth:
        report["growth"] = _growth(rows)
        console.print(_growth_table(report["growth"]))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures kip's engine beside hand-written SQL.")
    parser.add_argument("--n", type=int, nargs="+", metavar="N", help="Persons of the graph (default 10000)")
    parser.add_argument("--store", choices=("sqlite", "neo4j"), default="sqlite")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    parser.add_argument("--budget", type=float, default=120, metavar="SECONDS", help="time for all that is repeated")
    parser.add_argument("--growth", action="store_true", help="only what must stay flat, over several N")
    parser.add_argument("--dir", type=Path, help="where the files are made, and removed again")
    parser.add_argument("--keep", type=Path, help="keep loaded files there, and use those of an earlier run")
    arguments = parser.parse_args()
    if arguments.store == "neo4j":
        parser.error("kip has no Neo4j store yet; measure --store sqlite")
    if arguments.n and min(arguments.n) < 200:
        parser.error("a graph has at least 200 Persons")
    return arguments


class Run:
    """One graph size: two files, one written by kip and one by hand."""

    def __init__(self, folder: Path, n: int, budget: float, *, keep: Path | None) -> None:
        self._n = n
        self._folder = folder
        self._keep = keep
        self._end = perf_counter() + budget
        self._budget = budget
        self._kip, self._hand = folder / "kip.db", folder / "hand.db"

    def rows(self, reads: Sequence[Read], *, loads: bool) -> list[Row]:
        """The figures of all works, loads first (they make the files), and compared answers."""
        loaded = self._load(again=loads)
        nexus = open_kip(self._kip)
        store = Store(nexus, self._kip, self._n)
        hand = Hand(self._hand)
        _check_equal(store, hand)
        works: list[tuple[str, float | None, Callable[[], list[tuple[Call, Call]]]]] = [
            (read.work, read.goal, lambda read=read: read.pairs(store)) for read in reads
        ]
        works.append((UPSERT, UPSERT_GOAL, lambda: [_upserts(nexus, hand, self._n)]))
        rows: list[Row] = []
        for number, (work, goal, make) in enumerate(works):
            console.print(f"{work} ..", style="dim")
            pairs = make()
            seconds = max(0.5, (self._end - perf_counter()) / (len(works) - number))
            rows.append(take_turns(pairs, seconds).row(work, self._n, goal))
        store.close()
        hand.close()
        nexus.close()
        return rows + (loaded if loads else [])

    def _load(self, *, again: bool) -> list[Row]:
        """Load both files, each in a process of its own; rows of the load and of its memory."""
        kept = [self._keep / f"{path.stem}-{self._n}.db" for path in (self._kip, self._hand)] if self._keep else []
        if kept and all(path.exists() for path in kept):
            for source, target in zip(kept, (self._kip, self._hand), strict=True):
                shutil.copyfile(source, target)
            return []
        timing = Timing()
        loads: list[tuple[Row, Row]] = []
        start = perf_counter()
        while not loads or (again and len(loads) < LOADS and _time_left(start, len(loads), self._budget)):
            console.print(f"{LOAD}, N = {self._n:,} ..", style="dim")
            _remove(self._kip, self._hand)
            open_kip(self._hand).close()  # the tables, indexes and definitions that both sides start with
            loads.append((_load_process("kip", self._kip, self._n), _load_process("hand", self._hand, self._n)))
            timing.kip.append(loads[-1][0]["seconds"])
            timing.baseline.append(loads[-1][1]["seconds"])
        if self._keep:
            self._keep.mkdir(parents=True, exist_ok=True)
            for source, target in zip((self._kip, self._hand), kept, strict=True):
                shutil.copyfile(source, target)
        self._end = max(self._end, perf_counter() + self._budget * (1 - SHARE_OF_LOADS))
        return [timing.row(LOAD, self._n, LOAD_GOAL), _memory_row(self._n, loads)]


def _time_left(start: float, done: int, budget: float) -> bool:
    spent = perf_counter() - start
    return spent * (done + 1) / done < budget * SHARE_OF_LOADS


def _remove(*paths: Path) -> None:
    for path in paths:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _load_process(side: str, path: Path, n: int) -> Row:
    command = [sys.executable, str(Path(__file__).with_name("engine_load.py")), side, str(path), str(n)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own script
    return json.loads(done.stdout)


def _memory_row(n: int, loads: Sequence[tuple[Row, Row]]) -> Row:
    ours, base = (percentile([load[side]["rss_mb"] for load in loads], 50) for side in (0, 1))
    return {
        "work": MEMORY,
        "n": n,
        "p50_us": None,
        "p95_us": None,
        "baseline_p50_us": None,
        "rss_mb": ours,
        "peak_mb": max(load[0]["peak_mb"] for load in loads),
        "baseline_rss_mb": base,
        "ratio": round(ours / base, 2),
        "goal_mb": MEMORY_GOAL_MB,
    }


def _check_equal(store: Store, hand: Hand) -> None:
    """Both files hold the same graph: as many concepts of each type, links of each predicate and log entries."""
    for sql in (
        "SELECT type, count(*), sum(length(name)) FROM concept GROUP BY type ORDER BY type",
        "SELECT predicate, count(*) FROM link GROUP BY predicate ORDER BY predicate",
        "SELECT kind, count(*) FROM revision GROUP BY kind ORDER BY kind",
    ):
        ours, theirs = store.select(sql, {}), hand.connection.execute(sql).fetchall()
        if ours != theirs:
            raise RuntimeError(f"the files differ: kip {ours}, hand {theirs}")


def _upserts(nexus: Any, hand: Hand, n: int) -> tuple[Call, Call]:
    """A new Person each time, with three links, on both sides."""
    blocks = list(islice(newcomers(n, "new"), MOST_PAIRS))
    commands, batches = iter([capsule([block]) for block in blocks]), iter([[block] for block in blocks])
    return lambda: execute(nexus, next(commands)), lambda: hand.upsert(next(batches))


# --- output -------------------------------------------------------------------------------------


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in ("work", "kip p50", "p95", "SQL p50", "ratio", "of p10", "goal", ""):
        table.add_column(name, justify="left" if name == "work" else "right", no_wrap=True)
    for row in rows:
        if row["work"] == MEMORY:
            figures = [f"{row['rss_mb']:.0f}", f"{row['peak_mb']:.0f}", f"{row['baseline_rss_mb']:.0f}"]
            goal, over = f"{row['goal_mb']} MB", row["rss_mb"] > row["goal_mb"]
        else:
            figures = [_duration(row[key]) for key in ("p50_us", "p95_us", "baseline_p50_us")]
            goal, over = _goal(row["goal"]), row["goal"] is not None and row["ratio"] > row["goal"]
        ratios = [f"{row[key]:.2f}" if key in row else "" for key in ("ratio", "ratio_p10")]
        table.add_row(row["work"], *figures, *ratios, goal, "over" if over else "")
    return table


def _goal(goal: float | None) -> str:
    return "" if goal is None else f"<= {goal}"


def _duration(microseconds: float) -> str:
    if microseconds < 10_000:
        return f"{microseconds:,.0f} us"
    return f"{microseconds / 1e3:,.1f} ms" if microseconds < 1e6 else f"{microseconds / 1e6:,.1f} s"


def _growth(rows: Sequence[Row]) -> list[Row]:
    """Each work's p50 and p10 over those of the smallest N; the baseline's growth beside it tells what is the disk's,
    or SQLite's own."""
    first: dict[str, Row] = {}
    grown: list[Row] = []
    for row in rows:
        start = first.setdefault(row["work"], row)
        grown.append(
            {
                "work": row["work"],
                "n": row["n"],
                "growth": round(row["p50_us"] / start["p50_us"], 2),
                "growth_p10": round(row["p10_us"] / start["p10_us"], 2),
                "baseline_growth": round(row["baseline_p50_us"] / start["baseline_p50_us"], 2),
            }
        )
    return sorted(grown, key=lambda item: list(first).index(item["work"]))


def _growth_table(grown: Sequence[Row]) -> Table:
    table = Table(title=f"p50 over the smallest N (goal <= {GROWTH_GOAL})", title_justify="left")
    for name in ("work", "N", "kip", "of p10", "SQL", ""):
        table.add_column(name, justify="left" if name == "work" else "right")
    for row in grown:
        over = "over" if row["growth"] > GROWTH_GOAL else ""
        figures = [f"{row[key]:.2f}" for key in ("growth", "growth_p10", "baseline_growth")]
        table.add_row(row["work"], f"{row['n']:,}", *figures, over)
    return table


def _metadata(arguments: argparse.Namespace) -> Row:
    return {
        "store": arguments.store,
        "kip": kip.__version__,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "at": strftime("%Y-%m-%dT%H:%M:%S%z"),
        "budget_s": arguments.budget,
        "seed": SEED,
        "directory": str(arguments.dir or tempfile.gettempdir()),
        "settings": "journal_mode WAL, synchronous FULL",
        "baseline": "hand-written SQL with apsw: reads on kip's file, writes on a second file with the same tables",
    }


if __name__ == "__main__":
    main()
