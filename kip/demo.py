"""``kip demo``: a few releases that went well or badly, and what memory makes of them before the next one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kip.api import Brain
from kip.memory.model import RunReceipt
from kip.memory.render import Line, page
from kip.values import Json

_COUNTED = ("Experience", "ExperienceStep", "Event", "Person")

GOAL = "Release orders 4.5 to production"
STATE: dict[str, Json] = {
    "service": "orders",
    "environment": "production",
    "symptom": "startup fails: column orders.discount_code does not exist",
}
TOOLS = ("kubectl", "alembic", "psql", "vault")


def _step(kind: str, summary: str, tool: str | None = None, result: str | None = None, **arguments: Json) -> Json:
    step: dict[str, Json] = {"kind": kind, "summary": summary}
    if tool:
        step |= {"tool": tool, "arguments": arguments}
    return step | {"result_status": result} if result else step


def _run(goal: str, at: str, outcome: tuple[str, str], state: dict[str, Json], *steps: Json) -> dict[str, Json]:
    status, summary = outcome
    return {
        "goal": goal,
        "initial_state": state,
        "trace": [*steps],
        "outcome": {"status": status, "summary": summary},
        "context": {"agent": "release-bot", "counterparty": "Mira", "topic": "releases"},
        "timestamp": at,
    }


def _place(service: str, environment: str, symptom: str) -> dict[str, Json]:
    return {"service": service, "environment": environment, "symptom": symptom}


_NO_COLUMN = "startup fails: column orders.{} does not exist"

RUNS: tuple[dict[str, Json], ...] = (
    _run(
        "Release orders 4.2 to staging",
        "2026-03-02T09:10:00Z",
        ("success", "healthy after the database target was corrected"),
        _place("orders", "staging", _NO_COLUMN.format("gift_note")),
        _step("action", "Roll out orders 4.2", "kubectl", None, command="kubectl apply -f orders.yaml"),
        _step("observation", "Pods restart: column orders.gift_note does not exist", result="failure"),
        _step("decision", "A migration seems to be missing"),
        _step("action", "Run the migrations", "alembic", None, command="alembic upgrade head"),
        _step("observation", "Nothing to do: the schema is at head", result="failure"),
        _step("decision", "The service may be talking to another database than the migrations"),
        _step("action", "Read the service's database address", "kubectl", None, command="kubectl get configmap orders"),
        _step("observation", "DATABASE_HOST is orders-old.internal, migrated was orders-main.internal"),
        _step("action", "Point the service at orders-main", "kubectl", None, command="kubectl patch configmap orders"),
        _step("feedback", "All pods healthy", result="success"),
    ),
    _run(
        "Release orders 4.3 to production",
        "2026-03-09T14:00:00Z",
        ("failure", "rolled back after an hour; the cause was found later: wrong database target"),
        _place("orders", "production", _NO_COLUMN.format("loyalty_tier")),
        _step("action", "Roll out orders 4.3", "kubectl", None, command="kubectl apply -f orders.yaml"),
        _step("observation", "Pods restart: column orders.loyalty_tier does not exist", result="failure"),
        _step("decision", "A migration seems to be missing"),
        _step("action", "Run the migrations", "alembic", None, command="alembic upgrade head"),
        _step("observation", "Nothing to do: the schema is at head", result="failure"),
        _step("action", "Add the column by hand", "psql", None, sql="ALTER TABLE orders ADD COLUMN loyalty_tier text"),
        _step("observation", "ERROR: column loyalty_tier already exists", result="failure"),
        _step("action", "Roll back", "kubectl", None, command="kubectl rollout undo deployment/orders"),
        _step("feedback", "Mira: we lost the afternoon window", result="failure"),
    ),
    _run(
        "Release billing 2.0 to staging",
        "2026-03-12T08:30:00Z",
        ("success", "image pulled after the registry credential was renewed"),
        _place("billing", "staging", "image pull fails with 403"),
        _step("action", "Roll out billing 2.0", "kubectl", None, command="kubectl apply -f billing.yaml"),
        _step("observation", "ImagePullBackOff: registry answers 403", result="failure"),
        _step("action", "Look at the credential's expiry", "vault", None, command="vault read registry/billing"),
        _step("observation", "The credential expired on 2026-03-11"),
        _step("action", "Renew the credential", "vault", None, command="vault write registry/billing ttl=30d"),
        _step("feedback", "Image pulled, pods healthy", result="success"),
    ),
    _run(
        "Release billing 2.1 to production",
        "2026-03-19T16:20:00Z",
        ("failure", "given up after three attempts"),
        _place("billing", "production", "image pull fails with 403"),
        _step("action", "Roll out billing 2.1", "kubectl", None, command="kubectl apply -f billing.yaml"),
        _step("observation", "ImagePullBackOff: registry answers 403", result="failure"),
        _step("action", "Try again", "kubectl", None, command="kubectl rollout restart deployment/billing"),
        _step("observation", "ImagePullBackOff: registry answers 403", result="failure"),
        _step("action", "Open the network policy", "kubectl", None, command="kubectl edit networkpolicy egress"),
        _step("observation", "Still 403", result="failure"),
    ),
    _run(
        "Release orders 4.4 to production",
        "2026-04-01T09:05:00Z",
        ("success", "healthy at the first attempt"),
        _place("orders", "production", "none yet"),
        _step("action", "Read the service's database address", "kubectl", None, command="kubectl get configmap orders"),
        _step("observation", "DATABASE_HOST is orders-old.internal again"),
        _step("action", "Point the service at orders-main", "kubectl", None, command="kubectl patch configmap orders"),
        _step("action", "Roll out orders 4.4", "kubectl", None, command="kubectl apply -f orders.yaml"),
        _step("feedback", "All pods healthy", result="success"),
    ),
    _run(
        "Release search 1.9 to staging",
        "2026-04-03T11:00:00Z",
        ("success", "this time a migration really was missing"),
        _place("search", "staging", "startup fails: column documents.language does not exist"),
        _step("action", "Roll out search 1.9", "kubectl", None, command="kubectl apply -f search.yaml"),
        _step("observation", "Pods restart: column documents.language does not exist", result="failure"),
        _step("action", "Read the service's database address", "kubectl", None, command="kubectl get configmap search"),
        _step("observation", "DATABASE_HOST is search-main.internal, as it should be"),
        _step("action", "Run the migrations", "alembic", None, command="alembic upgrade head"),
        _step("feedback", "Migrated, all pods healthy", result="success"),
    ),
    _run(
        "Release search 2.0 to production",
        "2026-04-10T10:15:00Z",
        ("failure", "search was down for ten minutes"),
        _place("search", "production", "startup fails: column documents.boost does not exist"),
        _step("action", "Roll out search 2.0", "kubectl", None, command="kubectl apply -f search.yaml"),
        _step("observation", "Pods restart: column documents.boost does not exist", result="failure"),
        _step("decision", "Last time it was the database target"),
        _step("action", "Point the service at search-old", "kubectl", None, command="kubectl patch configmap search"),
        _step("observation", "The old database refuses connections", result="failure"),
    ),
)

TALK: tuple[dict[str, Json], ...] = (
    {"messages": [{"role": "user", "content": "Hi there!"}, {"role": "assistant", "content": "Hello! Nice day."}]},
    {
        "messages": [
            {"role": "user", "name": "Mira", "content": "From now on I prefer releases before noon."},
            {"role": "assistant", "content": "Noted."},
        ],
        "timestamp": "2026-03-10T08:00:00Z",
    },
)


def tell(brain: Brain) -> Iterator[Line]:
    """Record the runs in ``brain``, say what was stored, and brief for the next release."""
    result = brain.record([*RUNS, *TALK, RUNS[0]])
    yield Line("title", "Seven releases, two conversations, and one run that was sent twice")
    yield Line("verdict", result.summary)
    yield Line("section", "Recorded")
    for receipt in result.receipts:
        yield from _told(receipt)
    yield Line("section", "In the store, counted with FIND(COUNT(?x)) WHERE { ?x {type: ..} }")
    yield Line("item", ", ".join(f"{count} {kind}" for kind, count in counts(brain, _COUNTED)))
    yield Line("section", f"The agent is about to: {GOAL}")
    yield Line("item", "state " + ", ".join(f"{key}={value}" for key, value in STATE.items()))
    yield from page(brain.brief(GOAL, state=STATE, tools=TOOLS))


def _told(receipt: RunReceipt) -> Iterator[Line]:
    if receipt.status == "recorded":
        yield Line("item", f"{receipt.name}  ({receipt.steps} steps)")
    else:
        yield Line("item", f"{receipt.status}: {receipt.name or receipt.reason}")


def counts(brain: Brain, kinds: Sequence[str]) -> list[tuple[str, int]]:
    """How many concepts of each of ``kinds`` the store holds."""
    session = brain.nexus.session()
    query = "FIND(COUNT(?x)) WHERE { ?x {type: :kind} }"
    return [(kind, session.execute(query, {"kind": kind})) for kind in kinds]
