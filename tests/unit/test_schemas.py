"""The capsules in schemas/ against behaviours.md 003.1-11 and decisions 26 and 29, transcribed below.

A line reads ``name[*] type [{enum}] [= default]``: ``*`` is required; s, n, b, o are string, number, boolean and
object, ``s[]`` is an array of strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from kip.lang import ast, parse
from kip.resources import BOOTSTRAP, read_text

STATES = "{CANDIDATE, EVALUATING, VALIDATED, DEGRADED, SUSPENDED, RETIRED}"

TYPES = {
    "Experience": """
        experience_class* s {task_execution, problem_solving, decision_making, exploration, interaction, \
self_reflection}
        goal* s
        initial_state* o
        status* s {ongoing, completed, aborted} = "completed"
        started_at* s
        outcome s
        prediction_error s
        ended_at s
        raw_trace_ref s
        learning_value_scored_at s
        success b
        surprise_score n
        learning_value n
        salience_score n
        context o
        consolidation_status s {pending, partially_consolidated, completed, archived} = "pending"
    """,
    "ExperienceStep": """
        index* n
        kind* s {observation, decision, action, feedback}
        summary* s
        timestamp s
        decision_rationale s
        tool s
        expected_observation s
        actual_observation s
        prediction_error s
        raw_data_ref s
        state o
        success b
    """,
    # lifecycle_state is not in 003.3: decision 2 of behaviours.md adds it.
    "Skill": f"""
        skill_class* s {{procedure, diagnostic, decision_policy, recovery, tool_use, communication}}
        description* s
        goal* s
        expected_outcome* s
        trigger_conditions* s[]
        procedure* s[]
        preconditions s[]
        decision_rules s[]
        success_criteria s[]
        failure_signals s[]
        recovery_strategy s
        implementation_ref s
        last_validated_at s
        execution_mode s {{advisory, supervised, autonomous}} = "advisory"
        maturity s {{candidate, validated, needs_review, deprecated}} = "candidate"
        lifecycle_state s {STATES} = "CANDIDATE"
        utility n
        evidence_count n
        success_count n
        failure_count n
        applicability_context o
    """,
    # 003.4 and 003.6 give classes in round brackets: usual values, not the only ones.
    "Insight": """
        insight_class* s
        description* s
        trigger s
        correction s
        context s
        first_observed s
        last_observed s
        evidence_count n
        aliases s[]
    """,
    "Event": """
        event_class* s
        start_time* s
        content_summary* s
        end_time s
        outcome s
        raw_content_ref s
        salience_scored_at s
        participants s[]
        key_concepts s[]
        context o
        salience_score n
        consolidation_status s {pending, completed, archived} = "pending"
    """,
    "Commitment": """
        commitment_class* s
        description* s
        due_at s
        fulfilled_at s
        outcome s
        beneficiary s
        status s {pending, fulfilled, cancelled, expired} = "pending"
    """,
    "SleepTask": """
        target_type* s
        target_name* s
        reason* s
        requested_action* s {consolidate_to_semantic, compile_to_skill, archive, merge_duplicates, reclassify, review, \
resolve_contradiction}
        status s {pending, in_progress, completed, failed} = "pending"
        priority n = 1
        result s
    """,
    "Preference": """
        description* s
        category s
        first_observed s
        last_observed s
        source_memory s
        source_event s
        evidence_count n
    """,
    "Person": """
        person_class* s
        id s
        name s
        handle s
        status s = "active"
        persona s
        core_mission s
        relationship_to_self s
        identity_narrative s
        last_sleep_cycle s
        cognitive_state s {waking, sleeping}
        capabilities s[]
        strengths s[]
        weaknesses s[]
        core_directives o[]
        behavior_preferences o[]
        values o[]
        service_endpoints o[]
        maintenance_log o[]
        growth_log o[]
        avatar o
        interaction_summary o
        privacy_settings o
    """,
    "Fact": """
        predicate* s
        value* any
        asserted_at* s
        valid_from s
        valid_until s
        superseded_by s
    """,
    "ExternalRecord": """
        owner* s {interaction, continuity, work, capability}
        record_class* s
        locator* s
        system s
    """,
    "SystemExpectation": """
        expected_help* s
        success_criteria* s[]
        stated_at* s
        help_method s
        run_ref s
    """,
    "OutcomeRecord": """
        outcome_class* s {SUCCEEDED, PARTIAL, FAILED, REJECTED, CORRECTED, UNKNOWN}
        observed_at* s
        evidence_source s {user_statement, own_observation, tool_output, foreign_text}
        summary s
        verification s
        verification_ref s
        unmet_criteria s[]
    """,
    "ReflectionCandidate": """
        reflection_class* s {recurring_failure, capability_gap, correction, violated_expectation, conflict, drift}
        reason* s
        raised_at* s
        raised_by* s {rule, model, person}
        rule s
        occurrence_count n
        question s
        proposal s
    """,
    "CapabilityGap": """
        gap_class* s {missing, failing, not_permitted}
        needed* s
        observed_at* s
        workaround s
    """,
    "SkillTransition": f"""
        from_state s {STATES}
        to_state* s {STATES}
        maturity* s {{candidate, validated, needs_review, deprecated}}
        actor* s
        reason* s
        decided_at* s
        rule s
        figures o
    """,
    "Domain": """
        description* s
        display_hint s
        scope_note s
        aliases s[]
        steward s
    """,
    "$ConceptType": """
        description* s
        display_hint s
        instance_schema o
        key_instances s[]
        append_only b = false
    """,
    "$PropositionType": """
        description* s
        subject_types* s[]
        object_types* s[]
        is_symmetric b = false
        is_transitive b = false
        append_only b = false
    """,
}

PREDICATES = {
    "belongs_to_domain": "* -> Domain",
    "has_step": "Experience -> ExperienceStep",
    "caused_by": "ExperienceStep -> ExperienceStep",
    "derived_insight": "Experience -> Insight",
    "compiled_to": "Experience -> Skill",
    "counterexample_to": "Experience -> Skill",
    "consolidated_to": "Event|Experience -> *",
    "mentions": "Event|Experience -> *",
    "involves": "Event|Experience -> Person",
    "derived_from": "* -> Event|Experience",
    "prefers": "Person -> Preference",
    "learned": "Person -> Insight",
    "committed_to": "Person -> Commitment",
    "owed_to": "Commitment -> Person",
    "assigned_to": "SleepTask -> Person",
    "prompted_by": "Experience|SystemExpectation -> Event|Commitment|ExternalRecord",
    "used_capability": "Experience|SystemExpectation -> Skill|ExternalRecord",
    "expects": "Experience -> SystemExpectation",
    "answered_by": "Experience -> Event|ExternalRecord",
    "about_experience": "OutcomeRecord|ReflectionCandidate|CapabilityGap -> Experience",
    "about_capability": "ReflectionCandidate|CapabilityGap -> Skill|ExternalRecord",
    "judged_against": "OutcomeRecord -> SystemExpectation",
    "transition_of": "SkillTransition -> Skill",
    "evidenced_by": "SkillTransition|OutcomeRecord|ReflectionCandidate|CapabilityGap"
    " -> OutcomeRecord|ReflectionCandidate|CapabilityGap|Event|Experience|ExternalRecord",
    "fact_about": "Fact -> *",
}

APPEND_ONLY = {
    "SystemExpectation",
    "OutcomeRecord",
    "ReflectionCandidate",
    "CapabilityGap",
    "SkillTransition",
    "judged_against",
    "transition_of",
    "evidenced_by",
}

BOOTSTRAP_METADATA = {"source": "SystemBootstrap", "author": "$system", "confidence": 1.0, "status": "active"}

KINDS = {"s": "string", "n": "number", "b": "boolean", "o": "object", "any": "any"}
LINE = re.compile(r"(\w+)(\*?) (s|n|b|o|any)(\[\])?(?: \{([^}]*)\})?(?: = (.+))?")


Identity = tuple[str, str]


class Node(NamedTuple):
    type: str
    name: str
    attributes: dict[str, Any]


def plain(value: object) -> Any:
    if value is None:
        return {}
    assert isinstance(value, ast.Literal), "a capsule holds no placeholders"
    return value.value


def statements(file: str) -> tuple[ast.UpsertStatement, ...]:
    command = parse(read_text("schemas", file))
    assert isinstance(command, ast.Upsert)
    return command.statements


def concepts() -> Iterator[Node]:
    for file in BOOTSTRAP:
        for statement in statements(file):
            for block in statement.blocks:
                if isinstance(block, ast.ConceptBlock):
                    matcher = block.matcher
                    yield Node(plain(matcher.type), plain(matcher.name), plain(block.attributes))


def definitions(meta_type: str) -> dict[str, dict[str, Any]]:
    return {node.name: node.attributes for node in concepts() if node.type == meta_type}


def expected_schema(table: str) -> dict[str, dict[str, Any]]:
    schema: dict[str, dict[str, Any]] = {}
    for line in filter(None, map(str.strip, table.splitlines())):
        match = LINE.fullmatch(line)
        assert match, line
        name, required, kind, array, enum, default = match.groups()
        entry: dict[str, Any] = {"type": "array" if array else KINDS[kind], "is_required": required == "*"}
        if array:
            entry["item_type"] = KINDS[kind]
        if enum:
            entry["enum"] = enum.split(", ")
        if default:
            entry["default_value"] = json.loads(default)
        schema[name] = entry
    return schema


def test_every_type_is_defined_once() -> None:
    names = [node.name for node in concepts() if node.type == "$ConceptType"]
    assert sorted(names) == sorted(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_attributes_of_the_table(name: str) -> None:
    schema = definitions("$ConceptType")[name]["instance_schema"]
    described = {attribute: entry.pop("description") for attribute, entry in schema.items()}
    assert schema == expected_schema(TYPES[name])
    for attribute, description in described.items():
        assert description.endswith("."), f"{name}.{attribute} has no description in sentences"


@pytest.mark.parametrize("name", TYPES)
def test_a_default_is_one_of_the_allowed_values(name: str) -> None:
    for entry in definitions("$ConceptType")[name]["instance_schema"].values():
        if "enum" in entry and "default_value" in entry:
            assert entry["default_value"] in entry["enum"]


def test_the_predicates_are_those_of_the_table() -> None:
    found = {
        name: f"{'|'.join(attributes['subject_types'])} -> {'|'.join(attributes['object_types'])}"
        for name, attributes in definitions("$PropositionType").items()
    }
    assert found == PREDICATES


def test_predicates_connect_registered_types() -> None:
    for name, attributes in definitions("$PropositionType").items():
        assert {*attributes["subject_types"], *attributes["object_types"]} <= {"*", *TYPES}, name


def test_records_are_append_only() -> None:
    flagged = {
        node.name
        for node in concepts()
        if node.type in {"$ConceptType", "$PropositionType"} and node.attributes.get("append_only")
    }
    assert flagged == APPEND_ONLY


def test_every_node_follows_the_schema_of_its_type() -> None:
    types = definitions("$ConceptType")
    for node in concepts():
        schema = types[node.type]["instance_schema"]
        required = {key for key, entry in schema.items() if entry["is_required"]}
        assert required <= node.attributes.keys() <= schema.keys(), f"{node.type} {node.name}"
        if "description" in schema:
            assert node.attributes["description"].endswith(".")


@pytest.mark.parametrize("file", BOOTSTRAP)
def test_metadata_is_given_once_for_each_statement(file: str) -> None:
    for statement in statements(file):
        assert plain(statement.metadata) == BOOTSTRAP_METADATA
        for block in statement.blocks:
            assert block.metadata is None
            assert block.expect_version is None


def links(
    block: ast.ConceptBlock | ast.PropositionBlock, handles: dict[str | None, Identity]
) -> Iterator[tuple[Identity, str, Identity]]:
    """The links that a block makes, with handles resolved."""
    if isinstance(block, ast.ConceptBlock):
        for entry in block.propositions:
            yield identity(block.matcher, handles), plain(entry.predicate), identity(entry.target, handles)
    else:
        matcher = block.matcher
        assert isinstance(matcher, ast.TripleMatcher)
        assert isinstance(matcher.predicate, ast.PredicateNames)
        yield identity(matcher.subject, handles), plain(matcher.predicate.names[0]), identity(matcher.object, handles)


def identity(end: ast.Endpoint, handles: dict[str | None, Identity]) -> Identity:
    if isinstance(end, ast.Variable):
        return handles[end.name]
    assert isinstance(end, ast.ConceptMatcher)
    return plain(end.type), plain(end.name)


def test_everything_is_defined_before_it_is_used() -> None:
    known: set[Identity] = set()
    for file in BOOTSTRAP:
        for statement in statements(file):
            handles: dict[str | None, Identity] = {}
            for block in statement.blocks:
                if isinstance(block, ast.ConceptBlock):
                    own = identity(block.matcher, handles)
                    assert own not in known, f"{own} is written twice"
                    assert block.handle not in handles, f"?{block.handle} stands for two nodes"
                    known.add(own)  # before its type is looked up: $ConceptType defines itself
                    handles[block.handle] = own
                    assert ("$ConceptType", own[0]) in known, own
                for subject, predicate, target in links(block, handles):
                    assert {subject, ("$PropositionType", predicate), target} <= known


def test_every_node_is_filed_under_the_core_schema() -> None:
    filed: set[Identity] = set()
    for file in BOOTSTRAP:
        for statement in statements(file):
            handles = {
                block.handle: identity(block.matcher, {})
                for block in statement.blocks
                if isinstance(block, ast.ConceptBlock)
            }
            for block in statement.blocks:
                for subject, predicate, target in links(block, handles):
                    assert (predicate, target) == ("belongs_to_domain", ("Domain", "CoreSchema"))
                    filed.add(subject)
    everything = {(node.type, node.name) for node in concepts()}
    assert filed == everything - {("Domain", "CoreSchema")}


def test_the_domains_and_actors_of_a_new_store() -> None:
    instances = {(node.type, node.name) for node in concepts() if node.type not in {"$ConceptType", "$PropositionType"}}
    assert instances == {
        ("Domain", "CoreSchema"),
        ("Domain", "Unsorted"),
        ("Domain", "Archived"),
        ("Domain", "System"),
        ("Person", "$self"),
        ("Person", "$system"),
    }


@pytest.mark.parametrize("actor", ["$self", "$system"])
def test_an_actor_holds_directives_and_nothing_that_evolves(actor: str) -> None:
    attributes = next(node.attributes for node in concepts() if node.name == actor)
    assert attributes.keys() <= {"person_class", "core_mission", "core_directives"}
    names = [directive["name"] for directive in attributes["core_directives"]]
    assert len(names) == len(set(names)) >= 5
    assert all(directive["description"].endswith(".") for directive in attributes["core_directives"])
