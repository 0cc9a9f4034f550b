"""What recall brings clients and what it costs them: three runs each, and a table."""

from __future__ import annotations

from .check import Check, Run
from .places import MissingError
from .registry import CLIENTS, Client
from .servers import StartError
from .table import cached

USUAL = ["claude", "codex", "opencode", "pi", "gemini", "openai_chat"]
ROOM = 48_000  # of the window, above a client's own prompt: room for `lean`
WAYS = {
    "shipped": [],
    "never": ["--recall", "never"],
    "never-lean": ["--recall", "never", "--preset", "lean"],
}
LOOK_UPS = 2


def main(arguments: list[str], usage: str) -> int:
    known = {client.name: client for client in CLIENTS}
    names = [name.replace("-", "_") for name in arguments] or USUAL
    if unknown := [name for name in names if name not in known]:
        print(f"unknown: {', '.join(unknown)}\n{usage}")
        return 2
    check = Check()
    if gone := check.binaries():
        print(gone)
        return 1
    check.steps, check.result_tokens = 24, 3_000
    check.scripted = ("--look-up", str(check.steps // LOOK_UPS))
    lines, bad, skipped = [], 0, 0
    for client in (known[name] for name in names):
        try:
            runs = all_runs(check, client)
        except MissingError as error:
            print(f"skipped: {client.name}: {error}", flush=True)
            skipped += 1
            continue
        except StartError as error:
            print(error)
            return 1
        wrong = faults(check, client, runs)
        bad += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {client.name}{': ' * bool(wrong)}{'; '.join(wrong)}")
        lines.append(line(client, runs))
    print("\n| Client | folds | look-ups | cached | cost | against `--recall never` | and `lean` |")
    print("|---|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n")
    print(f"{len(lines) - bad} passed, {bad} failed, {skipped} skipped")
    return 1 if bad else 0


def all_runs(check: Check, client: Client) -> dict[str, Run]:
    """The three runs of a client, in a window that its own prompt decides."""
    check.places.command(client)
    check.by_run = bool(check.places.command(client)[1])
    free = check.run(client, "free", 0, through=False)
    window = free.turns("answered")[0]["prompt_tokens"] + ROOM
    runs = {}
    for way, more in WAYS.items():
        check.more = more
        runs[way] = check.run(client, f"recall-{way}", window, through=True)
    return runs


def faults(check: Check, client: Client, runs: dict[str, Run]) -> list[str]:
    """What is not as it should be."""
    wrong = []
    for way, run in runs.items():
        wrong += [] if run.finished else [f"{way}: does not finish: {run.line['error']}"]
        wrong += [f"{way}: refused: {run.stats['refused'][0]}"] if run.totals["refused"] else []
        missing = run.totals["facts_missing"]
        wrong += [f"{way}: {missing} facts are missing"] if missing else []
    if look_ups(runs) != LOOK_UPS:
        wrong.append(f"{look_ups(runs)} look-ups of {LOOK_UPS}")
    folder = check.home / "runs" / client.name / "recall-shipped"
    for file in folder.rglob("*"):
        ours = file.name in ("upstream.log", "midfold.log", "metrics", "stats.json")
        if file.is_file() and not ours and b"midfold_recall" in file.read_bytes():
            wrong.append(f"the client saw the tool: {file}")
    return wrong


def look_ups(runs: dict[str, Run]) -> int:
    """The look-ups whose line came back: the facts that only the first run had."""
    return runs["shipped"].totals["facts_used"] - runs["never"].totals["facts_used"]


def cost(run: Run) -> float:
    answered = [r for r in run.stats["requests"] if r["outcome"] == "answered"]
    return sum(r["cost_tenths"] for r in answered) / 10


def line(client: Client, runs: dict[str, Run]) -> str:
    shipped = runs["shipped"]
    more = [f"{cost(shipped) / cost(runs[way]) - 1:+.1%}" for way in ("never", "never-lean")]
    more = [text.replace("%", " %").replace("-", "−") for text in more]
    shown = [client.title, shipped.folds, look_ups(runs), cached(shipped), f"{cost(shipped):,.0f}"]
    return "| " + " | ".join(map(str, [*shown, *more])) + " |"
