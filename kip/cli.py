"""The command line: ``kip demo | record | brief | query | status | version``.

Exit status: 0 when all went well, 2 for bad input, 1 for any other failure. Results go to standard output,
errors with their code and hint to standard error. Heavy modules are imported by the commands that need them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer

from kip import __version__
from kip.errors import KipError

if TYPE_CHECKING:
    from kip.api import Brain
    from kip.memory.model import RecordResult
    from kip.memory.render import Line

app = typer.Typer(
    name="kip",
    help="A memory with which an agent learns from experience.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Store = Annotated[str, typer.Option("--store", envvar="KIP_STORE", help="The store: a file path, or sqlite:///path.")]
Space = Annotated[str, typer.Option("--space", envvar="KIP_SPACE", help="Which of the store's separate memories.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

BAD_INPUT = 2
FAILURE = 1


def main() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    try:
        app()
    except KipError as error:
        _complain(error.code, str(error), error.hint)
        raise SystemExit(_exit_status(error.code)) from None
    except Exception as error:  # noqa: BLE001 - the outermost boundary: a person gets a message, not a traceback
        failure = KipError("KIP_4003", f"{type(error).__name__}: {error}")
        _complain(failure.code, str(failure), failure.hint)
        raise SystemExit(FAILURE) from None
    raise SystemExit(0)


def _exit_status(code: str) -> int:
    return FAILURE if code.startswith("KIP_4") else BAD_INPUT


def _complain(code: str, message: str, hint: str) -> None:
    typer.echo(f"error {code} {message}", err=True)
    typer.echo(f"hint: {hint}", err=True)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"kip {__version__}")


@app.command()
def demo(
    keep: Annotated[Path | None, typer.Option("--keep", help="Keep the demo's store at this path.")] = None,
) -> None:
    """Record a few releases in a store of their own and show the briefing for the next one."""
    from kip import api  # noqa: PLC0415
    from kip import demo as story  # noqa: PLC0415

    if keep is not None and keep.exists():
        raise KipError("KIP_2002", f"{keep} exists already", hint="Give a free path; the demo wants a new store.")
    with (
        tempfile.TemporaryDirectory(prefix="kip-demo-") as folder,
        api.open(keep or Path(folder) / "demo.db") as brain,
    ):
        _print_page([*story.tell(brain)])
    if keep is not None:
        typer.echo(f"\nThe store is kept. Try: kip brief {story.GOAL!r} --store {keep}")


@app.command()
def record(
    files: Annotated[list[str], typer.Argument(help="JSON or JSON Lines files; - reads standard input.")],
    adapter: Annotated[str | None, typer.Option(help="Name of the format, when it is not to be guessed.")] = None,
    context: Annotated[str | None, typer.Option(help="JSON object: counterparty, agent, source, topic.")] = None,
    as_json: AsJson = False,
    store: Store = "kip.db",
    space: Space = "default",
) -> None:
    """Form memory from runs: experiences with their steps, events, or nothing where there is nothing to learn."""
    from kip import api  # noqa: PLC0415

    hints = _object(context, "--context")
    codes: list[str] = []
    with api.open(store, space) as brain:
        for file in files:
            try:
                source = sys.stdin.buffer.read() if file == "-" else Path(file)
                result = brain.record(source, adapter=adapter, context=hints)
            except KipError as error:
                _complain(error.code, str(error), error.hint)
                codes.append(error.code)
                continue
            codes.extend(receipt.error.code for receipt in result.receipts if receipt.error)
            _report(file, result, as_json=as_json)
    if codes:
        raise typer.Exit(max(map(_exit_status, codes)))


def _report(file: str, result: RecordResult, *, as_json: bool) -> None:
    if as_json:
        typer.echo(result.model_dump_json())
    else:
        typer.echo(f"{file}: {result.summary}")
        for receipt in result.receipts:
            if receipt.status in ("skipped", "event"):
                typer.echo(f"  {receipt.where} {receipt.status}: {receipt.reason}")
        for warning in result.warnings:
            typer.echo(f"  warning {warning}")
    for receipt in result.receipts:
        if receipt.error is not None:
            _complain(receipt.error.code, receipt.error.message, receipt.error.hint)


@app.command()
def brief(  # noqa: PLR0913, PLR0917 - each one is an option of the command
    goal: Annotated[str, typer.Argument(help="What is to be achieved.")],
    state: Annotated[str | None, typer.Option(help="What holds now: a JSON object, or a description.")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="A tool at hand; may be given several times.")] = None,
    counterparty: Annotated[str | None, typer.Option(help="The person whom the action concerns.")] = None,
    as_json: AsJson = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    store: Store = "kip.db",
    space: Space = "default",
) -> None:
    """Say what memory knows before an action: what worked, what failed, and where the two part."""
    from kip import api  # noqa: PLC0415
    from kip.memory import render  # noqa: PLC0415

    known = _object(state, "--state") if state and state.lstrip().startswith("{") else state
    with api.open(store, space, create=False) as brain:
        briefing = brain.brief(goal, state=known, tools=tool or (), counterparty=counterparty)
    if as_json:
        typer.echo(briefing.model_dump_json(indent=2))
    elif markdown:
        typer.echo(render.as_markdown(render.page(briefing)))
    else:
        _print_page(render.page(briefing))


@app.command()
def query(
    text: Annotated[str, typer.Argument(help="KIP text; - reads standard input.")],
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="A parameter, name=JSON or name=text.")
    ] = None,
    as_json: AsJson = False,
    store: Store = "kip.db",
    space: Space = "default",
) -> None:
    """Run one KIP command and print its result: solutions of a FIND as a table, anything else as JSON."""
    from kip import api  # noqa: PLC0415

    command = sys.stdin.read() if text == "-" else text
    parameters = dict(map(_parameter, param or ()))
    with api.open(store, space) as brain:
        response = brain.nexus.execute_kip({"command": command, "parameters": parameters})
    if "error" in response:
        error = response["error"]
        _complain(error["code"], error["message"], error["hint"])
        raise typer.Exit(_exit_status(error["code"]))
    heads = None if as_json else _columns(command)
    if heads is None:
        typer.echo(json.dumps(response, ensure_ascii=False, indent=2))
    else:
        _print_table(heads, response["result"])
        if "next_cursor" in response:
            typer.echo(f"more with CURSOR {json.dumps(response['next_cursor'])}")


@app.command()
def status(as_json: AsJson = False, store: Store = "kip.db", space: Space = "default") -> None:
    """Count what a memory holds, by type and by predicate."""
    from kip import api  # noqa: PLC0415

    with api.open(store, space, create=False) as brain:
        concepts, links = _counts(brain)
    if as_json:
        typer.echo(json.dumps({"store": store, "space": space, "concepts": concepts, "propositions": links}, indent=2))
        return
    typer.echo(f"{store}, space {space}: {sum(concepts.values())} concepts, {sum(links.values())} propositions")
    for name, count in [*concepts.items(), *links.items()]:
        typer.echo(f"  {count:>8}  {name}")


def _counts(brain: Brain) -> tuple[dict[str, int], dict[str, int]]:
    session = brain.nexus.session()
    defined = "FIND(?t.name) WHERE { ?t {type: :meta} } ORDER BY ?t.name"
    queries = (
        ("$ConceptType", "FIND(COUNT(?x)) WHERE { ?x {type: :name} }"),
        ("$PropositionType", "FIND(COUNT(?x)) WHERE { ?x (?s, :name, ?o) }"),
    )
    concepts, links = (
        {str(name): session.execute(query, {"name": name}) for (name,) in session.rows(defined, {"meta": meta})}
        for meta, query in queries
    )
    return ({name: n for name, n in concepts.items() if n}, {name: n for name, n in links.items() if n})


# --- input and output ----------------------------------------------------------------------------


def _object(text: str | None, option: str) -> dict[str, Any]:
    if text is None:
        return {}
    hint = 'Give an object such as {"env": "staging"}.'
    try:
        value = json.loads(text)
    except ValueError as error:
        raise KipError("KIP_1001", f"{option} is not JSON: {error}", hint=hint) from None
    if not isinstance(value, dict):
        raise KipError("KIP_2003", f"{option} is not a JSON object", hint=hint)
    return cast(dict[str, Any], value)


def _parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise KipError("KIP_1002", f"{text!r} is not name=value", hint="Write -p goal='deploy' or -p limit=3.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _columns(command: str) -> list[str] | None:
    """The FIND expressions as written; None for another command."""
    from kip.lang import ast, parse  # noqa: PLC0415

    tree = parse(command)
    if not isinstance(tree, ast.Find):
        return None
    return [command[projection.span.start : projection.span.end] for projection in tree.projections]


def _print_table(heads: Sequence[str], result: Any) -> None:
    columns: list[Any] = [result] if len(heads) == 1 else result
    cells = [list(map(_cell, cast(list[Any], column) if isinstance(column, list) else [column])) for column in columns]
    rows = list(zip(*cells, strict=False))
    widths = [max(len(head), *map(len, column), 0) for head, column in zip(heads, cells, strict=True)]
    for row in [heads, ["-" * width for width in widths], *rows]:
        typer.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    typer.echo(f"({len(rows)} solution{'s' * (len(rows) != 1)})")


def _cell(value: Any) -> str:
    if isinstance(value, dict) and "type" in value and "name" in value:
        node = cast(dict[str, Any], value)
        return f"{node['type']} {node['name']!r}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = "".join(character if character.isprintable() else " " for character in text)
    return line if len(line) <= 100 else line[:99] + "…"


_STYLES = {
    "mark": "dim",
    "title": "bold",
    "verdict": "bold cyan",
    "section": "bold underline",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "item": "",
    "detail": "dim",
}


def _print_page(lines: Sequence[Line]) -> None:
    """A page with colours on a terminal, as plain text elsewhere."""
    from kip.memory.render import as_text  # noqa: PLC0415

    if not sys.stdout.isatty():
        typer.echo(as_text(lines))
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False)
    for line in lines:
        console.print(Text(as_text([line]), style=_STYLES[line.role]))
