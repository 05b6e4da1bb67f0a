"""The revision log (decision 13): history, and rollback of one element or of one request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.errors import KipError
from kip.nexus import Nexus, Session

SCHEMA = (
    'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Drug"} } '
    'CONCEPT ?a { {type: "$ConceptType", name: "Audit"} SET ATTRIBUTES { append_only: true } } '
    'CONCEPT ?p { {type: "$PropositionType", name: "treats"} } '
    'CONCEPT ?s { {type: "$PropositionType", name: "supports"} } }'
)


@pytest.fixture
def session() -> Iterator[Session]:
    nexus = Nexus(SqliteBackend(":memory:"))
    nexus.session().execute(SCHEMA)
    yield nexus.session("ada", session="s1", reason="trying")
    nexus.close()


def _upsert(session: Session, name: str, dose: int) -> str:
    command = 'UPSERT { CONCEPT ?d { {type: "Drug", name: :name} SET ATTRIBUTES { dose: :dose } } }'
    return session.execute(command, {"name": name, "dose": dose})["upsert_concept_nodes"][0]


def _drugs(session: Session) -> list[tuple[object, ...]]:
    return session.rows('FIND(?d.name, ?d.attributes.dose, ?d.metadata._version) WHERE { ?d {type: "Drug"} }')


def test_history_tells_who_did_what_and_why(session: Session) -> None:
    id = _upsert(session, "A", 1)
    _upsert(session, "A", 2)
    session.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    found = session.history(id)
    assert [(item.kind, item.version) for item in found] == [("remove", 3), ("update", 2), ("create", 1)]
    assert [item.before.attributes if item.before else None for item in found] == [{"dose": 2}, {"dose": 1}, None]
    by = found[0].authorship
    assert (by.actor, by.session, by.reason) == ("ada", "s1", "trying")
    assert len({item.authorship.request for item in found}) == 3
    assert session.history("C:999998") == []


def test_an_element_goes_back_to_an_earlier_version(session: Session) -> None:
    id = _upsert(session, "A", 1)
    _upsert(session, "A", 2)
    _upsert(session, "A", 3)
    assert session.rollback(element=id, version=1) == {"restored": 1}
    assert _drugs(session) == [("A", 1, 4)]
    assert session.rollback(element=id, version=4) == {"restored": 0}
    assert session.rollback(element=id, version=3) == {"restored": 1}
    assert _drugs(session) == [("A", 3, 5)]


def test_a_removed_element_comes_back_under_its_id_and_is_found_again(session: Session) -> None:
    id = _upsert(session, "Aspirin", 1)
    session.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    assert session.execute('SEARCH CONCEPT "aspirin"') == []
    session.rollback(element=id, version=1)
    assert session.rows("FIND(?d.name, ?d.metadata._version) WHERE { ?d {id: :id} }", {"id": id}) == [("Aspirin", 3)]
    assert [hit["id"] for hit in session.execute('SEARCH CONCEPT "aspirin"')] == [id]


def test_a_taken_identity_is_not_taken_back(session: Session) -> None:
    id = _upsert(session, "A", 1)
    session.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug"} }')
    _upsert(session, "A", 2)
    with pytest.raises(KipError) as caught:
        session.rollback(element=id, version=1)
    assert caught.value.code == "KIP_3003"
    assert [row[:2] for row in _drugs(session)] == [("A", 2)]


def test_a_whole_request_is_undone(session: Session) -> None:
    _upsert(session, "A", 1)
    made = session.execute(
        'UPSERT { CONCEPT ?a { {type: "Drug", name: "A"} SET ATTRIBUTES { dose: 9 } } '
        'CONCEPT ?b { {type: "Drug", name: "B"} SET PROPOSITIONS { ("treats", ?a) } } '
        'PROPOSITION ?s { (?a, "supports", (?b, "treats", ?a)) } }'
    )
    request = session.history(made["upsert_concept_nodes"][1])[0].authorship.request
    assert session.rollback(request=request) == {"restored": 4}
    assert _drugs(session) == [("A", 1, 3)]
    assert session.execute('FIND(COUNT(?l)) WHERE { ?l (?x, "treats" | "supports", ?y) }') == 0


def test_a_deletion_with_its_cascade_is_undone(session: Session) -> None:
    session.execute(
        'UPSERT { CONCEPT ?a { {type: "Drug", name: "A"} } CONCEPT ?b { {type: "Drug", name: "B"} } '
        'PROPOSITION ?l { (?a, "treats", ?b) } PROPOSITION ?s { (?b, "supports", ?l) } }'
    )
    [(id,)] = session.rows('FIND(?d.id) WHERE { ?d {type: "Drug", name: "A"} }')
    session.execute('DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "A"} }')
    request = session.history(str(id))[0].authorship.request
    assert session.rollback(request=request) == {"restored": 3}
    rows = session.rows('FIND(?x.name, ?y.name) WHERE { ?l (?x, "treats", ?y) (?z, "supports", ?l) }')
    assert rows == [("A", "B")]


def test_what_was_changed_since_is_not_undone(session: Session) -> None:
    id = _upsert(session, "A", 1)
    request = session.history(id)[0].authorship.request
    _upsert(session, "A", 2)
    with pytest.raises(KipError) as caught:
        session.rollback(request=request)
    assert caught.value.code == "KIP_3005"
    assert _drugs(session) == [("A", 2, 2)]


def test_what_was_linked_since_is_not_undone(session: Session) -> None:
    id = _upsert(session, "A", 1)
    request = session.history(id)[0].authorship.request
    session.execute(
        'UPSERT { CONCEPT ?b { {type: "Drug", name: "B"} SET PROPOSITIONS { ("treats", {id: :id}) } } }', {"id": id}
    )
    with pytest.raises(KipError) as caught:
        session.rollback(request=request)
    assert caught.value.code == "KIP_3005"
    assert len(_drugs(session)) == 2


def test_append_only_binds_rollback_too(session: Session) -> None:
    made = session.execute('UPSERT { CONCEPT ?a { {type: "Audit", name: "one"} SET ATTRIBUTES { n: 1 } } }')
    request = session.history(made["upsert_concept_nodes"][0])[0].authorship.request
    with pytest.raises(KipError) as caught:
        session.rollback(request=request)
    assert caught.value.code == "KIP_3004"
    assert session.execute('FIND(COUNT(?a)) WHERE { ?a {type: "Audit"} }') == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "KIP_2002"),
        ({"element": "C:2"}, "KIP_2002"),
        ({"element": "C:2", "version": 1, "request": "x"}, "KIP_2002"),
        ({"request": "unknown"}, "KIP_3002"),
        ({"element": "C:999998", "version": 1}, "KIP_3002"),
    ],
)
def test_what_a_rollback_refuses(session: Session, arguments: dict[str, object], code: str) -> None:
    with pytest.raises(KipError) as caught:
        session.rollback(**arguments)  # type: ignore[arg-type]
    assert caught.value.code == code
