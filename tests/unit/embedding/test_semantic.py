"""Semantic and hybrid SEARCH (5.2.1) with the embedder whose weights come in a package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.embedding.word_llama import WordLlamaEmbedder
from kip.nexus import Nexus

NOTES = {
    "db": ("Database outage", "the primary store stopped answering queries"),
    "bread": ("Sourdough", "baking a loaf with flour, water and salt"),
    "login": ("Sign-in trouble", "the user cannot authenticate with the password"),
    "car": ("Brakes", "the vehicle does not stop when the pedal is pressed"),
}


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def _fill(nexus: Nexus) -> None:
    for name in ("Note", "Other"):
        nexus.session().execute('UPSERT { CONCEPT ?t { {type: "$ConceptType", name: :name} } }', {"name": name})
    for name, (title, text) in NOTES.items():
        nexus.session().execute(
            'UPSERT { CONCEPT ?n { {type: "Note", name: :name} '
            "SET ATTRIBUTES { title: :title, description: :text } } }",
            {"name": name, "title": title, "text": text},
        )


@pytest.fixture
def store(tmp_path: Path, embedder: WordLlamaEmbedder) -> Iterator[Nexus]:
    nexus = Nexus(SqliteBackend(str(tmp_path / "kip.db")), embedder=embedder)
    _fill(nexus)
    yield nexus
    nexus.close()


def _search(nexus: Nexus, term: str, mode: str, **parameters: Any) -> list[str]:
    hits = nexus.session().execute(
        f'SEARCH CONCEPT :term WITH TYPE "Note" MODE "{mode}" LIMIT 3', {"term": term, **parameters}
    )
    scores = [hit["metadata"]["_score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    return [hit["name"] for hit in hits]


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("automobile safety", "car"),
        ("SQL server offline", "db"),
        ("credentials rejected", "login"),
        ("cooking", "bread"),
    ],
)
def test_meaning_is_found_without_a_word_in_common(store: Nexus, term: str, name: str) -> None:
    assert _search(store, term, "keyword") == []
    assert _search(store, term, "semantic")[0] == name
    assert _search(store, term, "hybrid")[0] == name


def test_hybrid_finds_the_exact_word_too(store: Nexus) -> None:
    assert _search(store, "sourdough", "hybrid")[0] == "bread"


def test_without_an_embedder_every_mode_is_keyword(tmp_path: Path) -> None:
    nexus = Nexus(SqliteBackend(str(tmp_path / "plain.db")))
    _fill(nexus)
    assert _search(nexus, "flour", "semantic") == ["bread"]
    assert _search(nexus, "flour", "hybrid") == ["bread"]
    assert nexus.session().execute("DESCRIBE PRIMER")["identity"]["search_modes"] == ["keyword"]
    nexus.close()


def test_the_primer_tells_that_meaning_can_be_searched(store: Nexus) -> None:
    assert store.session().execute("DESCRIBE PRIMER")["identity"]["search_modes"] == ["keyword", "semantic", "hybrid"]


def test_another_process_sees_new_changed_and_removed_vectors(store: Nexus, tmp_path: Path, embedder: Any) -> None:
    other = Nexus(SqliteBackend(str(tmp_path / "kip.db")), embedder=embedder)
    assert _search(other, "automobile safety", "semantic")[0] == "car"
    session = store.session()
    session.execute('DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "car"} }')
    assert "car" not in _search(other, "automobile safety", "semantic")
    session.execute(
        'UPDATE ?n SET ATTRIBUTES { title: "Engine", description: "the vehicle, a car, will not start" } '
        'WHERE { ?n {type: "Note", name: "bread"} }'
    )
    assert _search(other, "automobile", "semantic")[0] == "bread"
    session.execute(
        'UPSERT { CONCEPT ?n { {type: "Note", name: "tyre"} SET ATTRIBUTES { description: "automobile wheels" } } }'
    )
    assert _search(other, "automobile", "semantic")[0] == "tyre"
    other.close()


def test_types_are_kept_apart(store: Nexus) -> None:
    store.session().execute('UPSERT { CONCEPT ?n { {type: "Other", name: "automobile"} } }')
    assert "automobile" not in _search(store, "automobile", "semantic")
    hits = store.session().execute('SEARCH CONCEPT "automobile" MODE "semantic" LIMIT 1')
    assert [hit["name"] for hit in hits] == ["automobile"]


def test_a_hit_passes_a_threshold_of_its_own_score(store: Nexus) -> None:
    command = 'SEARCH CONCEPT "automobile safety" MODE "semantic" LIMIT 1'
    [hit] = store.session().execute(command)
    score = hit["metadata"]["_score"]
    kept = store.session().execute(command.replace(" LIMIT", " THRESHOLD :t LIMIT"), {"t": score})
    assert [item["id"] for item in kept] == [hit["id"]]
    assert store.session().execute(command.replace(" LIMIT", " THRESHOLD :t LIMIT"), {"t": min(1, score + 1e-5)}) == []


def test_purged_concepts_leave_no_vector(store: Nexus) -> None:
    [(id,)] = store.session().rows('FIND(?n.id) WHERE { ?n {type: "Note", name: "car"} }')
    store.session().purge([str(id)])
    assert "car" not in _search(store, "automobile safety", "semantic")
