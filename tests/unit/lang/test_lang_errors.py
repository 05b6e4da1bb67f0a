"""Errors say where, what was found, what was expected, and how to repair it: one hint for each common slip."""

from __future__ import annotations

import pytest

from kip.errors import KipError
from kip.lang import parse, position

WHERE = 'WHERE { ?x {type: "Drug"} }'
FIND = f"FIND(?x) {WHERE}"


def error_of(text: str) -> KipError:
    with pytest.raises(KipError) as raised:
        parse(text)
    return raised.value


def clause(text: str) -> str:
    return f"FIND(?x) WHERE {{ {text} }}"


def condition(text: str) -> str:
    return clause(f"FILTER({text})")


def block(text: str) -> str:
    return f'UPSERT {{ CONCEPT ?x {{ {{type: "Drug", name: "A"}} {text} }} }}'


def update(text: str) -> str:
    return f"UPDATE ?x SET ATTRIBUTES {{ n: {text} }} {WHERE}"


SLIPS = [
    # operators
    (condition("?x.name = 1"), "KIP_1001", "=", "Equality is written with two signs: ==."),
    (condition("?x.name === 1"), "KIP_1001", "=", "Equality is written with two signs: ==."),
    (condition("?x.name !== 1"), "KIP_1001", "!", "Inequality is written !=."),
    (condition("?x.name <> 1"), "KIP_1001", "<", "Inequality is written !=."),
    (condition("?x.n => 1"), "KIP_1001", "=", "written >=."),
    (condition("?x.n =~ 1"), "KIP_1001", "=", "REGEX(?x.name"),
    (condition("?x.n == 1 & ?x.n == 2"), "KIP_1001", "&", "AND is written &&."),
    (condition("?x.n == 1 | ?x.n == 2"), "KIP_1001", "|", "OR is written ||."),
    (condition("?x.n == 1 AND ?x.n == 2"), "KIP_1001", "AND", "AND is written &&"),
    (condition("?x.n == 1 or ?x.n == 2"), "KIP_1001", "or", "OR is written ||"),
    (condition("NOT ?x.n == 1"), "KIP_1001", "NOT", "NOT is written !"),
    (condition("NOT(?x.n == 1)"), "KIP_1001", "NOT", "NOT is written !"),
    (condition("?x.n == 1 && NOT (?x.n == 2)"), "KIP_1001", "NOT", "NOT is written !"),
    (condition("!?x.n == 1"), "KIP_1001", "?x.n", "into parentheses"),
    (condition("1 < ?x.n < 3"), "KIP_1001", "<", "join two comparisons by &&"),
    (condition("?x.n + 1 > 2"), "KIP_1001", "+", "no arithmetic"),
    (condition("?x.flag"), "KIP_1001", ")", "== true"),
    (condition("?x.tags == [1]"), "KIP_1001", "[", "IN(?x.name, [..])"),
    (condition("?x.name LIKE 1"), "KIP_1001", "LIKE", "CONTAINS(?x.name"),
    (condition("?x.name IN [1]"), "KIP_1001", "IN", "IN is a function: IN(?x.name"),
    (condition("?x.name IS NULL"), "KIP_1001", "IS", "IS_NULL(?x"),
    (condition("?x.n BETWEEN 1 AND 2"), "KIP_1001", "BETWEEN", "two comparisons"),
    # functions
    (condition("CONTAIN(?x.name, 1)"), "KIP_1001", "CONTAIN", "Did you mean CONTAINS?"),
    (condition("contains(?x.name, 1)"), "KIP_1001", "contains", "Did you mean CONTAINS?"),
    (condition("ISNULL(?x.name)"), "KIP_1001", "ISNULL", "Did you mean IS_NULL?"),
    (condition("FOO(?x.name)"), "KIP_1001", "FOO", "The functions of FILTER are IN"),
    (condition("COUNT(?x) > 1"), "KIP_1001", "COUNT", "not in FILTER"),
    (condition("EXISTS(?x)"), "KIP_1001", "EXISTS", "asks for existence"),
    (condition("IN(?x.name, 1)"), "KIP_1001", "1", "IN takes a list"),
    (condition('CONTAINS(?x.name, "a", "b")'), "KIP_1001", ', "b"', "CONTAINS takes 2 arguments"),
    (condition("CONTAINS(?x.name, 5)"), "KIP_1001", "5", "Quote what to look for"),
    (f"FIND(MEDIAN(?x)) {WHERE}", "KIP_1001", "MEDIAN", "The aggregates are COUNT, SUM, AVG, MIN, MAX."),
    (f"FIND(MAXIMUM(?x), CONT(?x)) {WHERE}", "KIP_1001", "MAXIMUM", "The aggregates are"),
    (f"FIND(CONT(?x)) {WHERE}", "KIP_1001", "CONT", "Did you mean COUNT?"),
    (f"FIND(count(?x)) {WHERE}", "KIP_1001", "count", "in capitals: COUNT"),
    (f"FIND(COUNT(*)) {WHERE}", "KIP_1001", "*", "COUNT(?x)"),
    (f"FIND(SUM(DISTINCT ?x)) {WHERE}", "KIP_1001", "DISTINCT", "Only COUNT(DISTINCT ?x)"),
    (f"FIND(DISTINCT ?x) {WHERE}", "KIP_1001", "DISTINCT", "distinct already"),
    (update("SUB(?x.attributes.n, 1)"), "KIP_1001", "SUB", "The functions of UPDATE are ADD, MUL, CLAMP, COALESCE."),
    (update("COALESC(?x.attributes.n, 1)"), "KIP_1001", "COALESC", "Did you mean COALESCE?"),
    (update("CLAMP(1, 2)"), "KIP_1001", ")", "CLAMP takes 3 arguments"),
    (update('ADD("a", 1)'), "KIP_1001", '"a"', "compute with numbers"),
    (update("?x.attributes.n + 1"), "KIP_1001", "+", "ADD, MUL, CLAMP"),
    (update("ADD(?y.attributes.n, 1)"), "KIP_1001", "?y", "?x.attributes.count"),
    (update("[ADD(1, 2)]"), "KIP_1001", "ADD", "plain JSON values"),
    (block("SET ATTRIBUTES { n: ADD(1, 2) }"), "KIP_1001", "ADD", "stand in UPDATE only"),
    # variables
    (f"FIND(x) {WHERE}", "KIP_1001", "x", "begin with a question mark: ?x"),
    (f"FIND(x.name) {WHERE}", "KIP_1001", "x", "begin with a question mark: ?x"),
    (clause('x {type: "Drug"}'), "KIP_1001", "x {", "begin with a question mark: ?x"),
    (clause('(x, "p", ?y)'), "KIP_1001", "x", "begin with a question mark: ?x"),
    (condition("x.name == 1"), "KIP_1001", "x.name", "begin with a question mark: ?x"),
    (f"FIND(COUNT(x)) {WHERE}", "KIP_1001", "x", "begin with a question mark: ?x"),
    (f"{FIND} ORDER BY x.name", "KIP_1001", "x.name", "begin with a question mark: ?x"),
    (block("").replace("?x", "drug"), "KIP_1001", "drug", "begin with a question mark: ?drug"),
    (f"DELETE CONCEPT x DETACH {WHERE}", "KIP_1001", "x", "begin with a question mark: ?x"),
    (f"DELETE PROPOSITIONS {WHERE}", "KIP_1001", "WHERE", "A variable is missing before WHERE."),
    ('DELETE CONCEPT {type: "A", name: "B"} DETACH', "KIP_1001", "{", "match it in WHERE"),
    (f"FIND(?1x) {WHERE}", "KIP_1002", "?1x", "'?' and a letter"),
    (f"FIND(?my-var) {WHERE}", "KIP_1002", "?my-var", "'?' and a letter"),
    (f"FIND(?) {WHERE}", "KIP_1002", "?", "'?' and a letter"),
    (f"FIND(?é) {WHERE}", "KIP_1002", "?é", "'?' and a letter"),
    (f"DELETE CONCEPT my-var DETACH {WHERE}", "KIP_1002", "my-var", "'?' and a letter"),
    (f"FIND(?x. name) {WHERE}", "KIP_1001", "?x.", "no blanks"),
    (f"FIND(?x..name) {WHERE}", "KIP_1001", "?x..", "no empty parts"),
    (f"FIND(?x.attributes.a.b) {WHERE}", "KIP_1001", "?x.attributes.a.b", "read as a whole"),
    (f"FIND(?x.name.first) {WHERE}", "KIP_1001", "?x.name.first", "read as a whole"),
    (clause('?x.name {type: "Drug"}'), "KIP_1001", "?x.name", "Name the variable only, ?x"),
    # strings and values
    (clause("?x {type: 'Drug'}"), "KIP_1001", "'Drug'", "plain double quotes"),
    (clause("?x {type: “Drug”}"), "KIP_1001", "“Drug”", "plain double quotes"),
    (clause("?x {type: ‘Drug’}"), "KIP_1001", "‘Drug’", "plain double quotes"),
    (clause("?x {type: «Drug»}"), "KIP_1001", "«Drug»", "plain double quotes"),
    (clause("?x {type: `Drug`}"), "KIP_1001", "`Drug`", "plain double quotes"),
    (clause("?x {type: Drug}"), "KIP_1001", "Drug", 'Strings are quoted: "Drug".'),
    (clause("?x {type: my-type}"), "KIP_1001", "my-type", 'Strings are quoted: "my-type".'),
    (clause("?x {name: 5}"), "KIP_1001", "5", 'Strings are quoted: "5".'),
    (clause("(?x, treats, ?y)"), "KIP_1001", "treats", 'Strings are quoted: "treats".'),
    (condition("?x.name == Aspirin"), "KIP_1001", "Aspirin", 'Strings are quoted: "Aspirin".'),
    (block("SET ATTRIBUTES { a: yes }"), "KIP_1001", "yes", 'Strings are quoted: "yes".'),
    ("SEARCH CONCEPT aspirin", "KIP_1001", "aspirin", 'Strings are quoted: "aspirin".'),
    ("DESCRIBE CONCEPT TYPE Drug", "KIP_1001", "Drug", 'Strings are quoted: "Drug".'),
    (clause("?x {type: $ConceptType}"), "KIP_1001", "$", "quoted"),
    (block("SET ATTRIBUTES { a: None }"), "KIP_1001", "None", "Write null."),
    (block("SET ATTRIBUTES { a: NULL }"), "KIP_1001", "NULL", "Write null."),
    (block("SET ATTRIBUTES { a: undefined }"), "KIP_1001", "undefined", "Write null."),
    (block("SET ATTRIBUTES { a: True }"), "KIP_1001", "True", "Write true."),
    (block("SET ATTRIBUTES { a: FALSE }"), "KIP_1001", "FALSE", "Write false."),
    (condition("?x.flag == TRUE"), "KIP_1001", "TRUE", "Write true."),
    (clause('?x {type = "Drug"}'), "KIP_1001", "=", "colon between key and value"),
    (clause('?x {type "Drug"}'), "KIP_1001", '"Drug"', "followed by a colon"),
    (clause('?x {type："Drug"}'), "KIP_1001", "：", "plain character ':'"),
    (clause("?x {risk: 3}"), "KIP_1001", "risk", "FILTER(?x.attributes.risk == ..)"),
    (clause("?x {}"), "KIP_1001", "}", "Say what to match"),
    (clause('?x {id: "C:1", name: "A"}'), "KIP_1001", "{id", "Keep {id: ..}"),
    (block("SET ATTRIBUTES { a: 1 b: 2 }"), "KIP_1001", "b", "separated by commas"),
    (block("SET ATTRIBUTES { a: [b: 2] }"), "KIP_1001", "b", 'Strings are quoted: "b".'),
    (block("SET ATTRIBUTES ( a: 1 )"), "KIP_1001", "( a", "Entries stand in braces"),
    ("DELETE ATTRIBUTES {a} FROM ?x " + WHERE, "KIP_1001", "a", 'Quote the keys: "a".'),
    ('DELETE ATTRIBUTES {"a": 1} FROM ?x ' + WHERE, "KIP_1001", ": 1", "without values"),
    ('DELETE ATTRIBUTES ["a"] FROM ?x ' + WHERE, "KIP_1001", "[", "in braces"),
    ('UPSERT { CONCEPT ?x { {type: "Drug, name: "A"} } }', "KIP_1001", "A", "quote missing before it"),
    # trailing commas
    (f"FIND(?x,) {WHERE}", "KIP_1001", ")", "Remove the comma"),
    (f"FIND(?x, {WHERE}", "KIP_1001", "WHERE", "Remove the comma"),
    (clause('?x {type: "Drug",}'), "KIP_1001", "}", "Remove the comma"),
    (clause('(?x, "p", ?y,)'), "KIP_1001", ",)", "three parts"),
    (clause("FILTER(IN(?x.a, [1],))"), "KIP_1001", ",)", "IN takes 2 arguments"),
    (f"{FIND} ORDER BY ?x.name,", "KIP_1001", None, "Remove the comma"),
    (f"{FIND} ORDER BY ?x.name, LIMIT 1", "KIP_1001", "LIMIT", "Remove the comma"),
    ('DELETE ATTRIBUTES {"a",} FROM ?x ' + WHERE, "KIP_1001", "}", "Remove the comma"),
    (clause('?x {type: "Drug"}, ?y {type: "Drug"}'), "KIP_1001", ", ?y", "without commas"),
    (clause('?x {type: "Drug"};'), "KIP_1001", ";", "no semicolon"),
    # patterns
    (clause('(?e, "p", ?y {name: "Yan"})'), "KIP_1001", "{name", "An embedded endpoint takes no variable"),
    (clause('(?e {name: "Yan"}, "p", ?y)'), "KIP_1001", "{name", "An embedded endpoint takes no variable"),
    (clause('(?p, "cites", ?e (?a, "b", ?c))'), "KIP_1001", "(?a", "An embedded endpoint takes no variable"),
    (
        block('SET PROPOSITIONS { ("p", ?y {name: "A"}) }'),
        "KIP_1001",
        "{name",
        "An embedded endpoint takes no variable",
    ),
    (clause('{type: "Drug"}'), "KIP_1001", "{type", "begins with a variable"),
    (clause('(?x, "p")'), "KIP_1001", ")", "three parts"),
    (clause('(?x "p" ?y)'), "KIP_1001", '"p"', "separated by commas"),
    (clause('("treats", ?y)'), "KIP_1001", '"treats"', "three parts"),
    (clause("(?x, ?p{1,2}, ?y)"), "KIP_1001", "{1", "literal predicates"),
    (clause('(?x, ?p | "q", ?y)'), "KIP_1001", "|", "literal predicates"),
    (clause('(?x, "p"{1,2} | "q", ?y)'), "KIP_1001", "|", "UNION"),
    (clause('(?x, "p"{2,1}, ?y)'), "KIP_1001", "{2", "the least"),
    (clause('(?x, "p"{1..3}, ?y)'), "KIP_1001", "1..3", "{m,n}"),
    (clause('(?x, "p"*, ?y)'), "KIP_1001", "*", "no arithmetic"),
    (clause("(?a)-[:p]->(?b)"), "KIP_1001", ")", "three parts"),
    (clause("?x a ?y"), "KIP_1001", "a", "stands with what it matches"),
    (clause('NOT (?x, "p", ?y)'), "KIP_1001", "(", "stand in braces"),
    (clause('!{ ?x {id: "a"} }'), "KIP_1001", "!", "NOT { .. }"),
    (clause("MATCH (?x)"), "KIP_1001", "MATCH", "KIP reads with FIND"),
    (clause('OPTIONL { ?x {id: "a"} }'), "KIP_1001", "OPTIONL", "Did you mean OPTIONAL?"),
    (clause('not { ?x {id: "a"} }'), "KIP_1001", "not", "in capitals: NOT"),
    (clause('?x {id: "a"} OR ?y {id: "b"}'), "KIP_1001", "OR", "use UNION"),
    (clause("FILTER ?x.a == 1"), "KIP_1001", "?x.a", "FILTER(condition)"),
    (clause(""), "KIP_1001", "{", "at least one clause"),
    # other languages
    ("SELECT ?x FROM y", "KIP_1001", "SELECT", "KIP reads with FIND"),
    ("MATCH (n) RETURN n", "KIP_1001", "MATCH", "KIP reads with FIND"),
    ("insert into x", "KIP_1001", "insert", "KIP writes with UPSERT"),
    ("CREATE (n)", "KIP_1001", "CREATE", "KIP writes with UPSERT"),
    (f"{FIND} RETURN ?x", "KIP_1001", "RETURN", "stands first: FIND"),
    (f"{FIND} LIMIT 5 OFFSET 10", "KIP_1001", "OFFSET", "page with LIMIT and CURSOR"),
    (f"{FIND} SKIP 10", "KIP_1001", "SKIP", "page with LIMIT and CURSOR"),
    (f"{FIND} GROUP BY ?x", "KIP_1001", "GROUP", "Grouping is implicit"),
    (f"FIND(?x AS ?y) {WHERE}", "KIP_1001", "AS", "no aliases"),
    ("-- comment\n" + FIND, "KIP_1001", "--", "Comments begin with //."),
    ("# comment\n" + FIND, "KIP_1001", "#", "Comments begin with //."),
    ("/* comment */ " + FIND, "KIP_1001", "/*", "Comments begin with //"),
    (clause("?x {name: {{name}}}"), "KIP_1001", "{{name", ""),
    (clause("?x {name: @name}"), "KIP_1001", "@", "Placeholders are written :name"),
    (clause("?x {name: ${name}}"), "KIP_1001", "$", "placeholders with ':'"),
    (clause("?x {name: : name}"), "KIP_1001", ": name", "without a blank"),
    # keywords and order
    (f"find(?x) {WHERE}", "KIP_1001", "find", "in capitals: FIND"),
    ('FIND(?x) where { ?x {id: "a"} }', "KIP_1001", "where", "in capitals: WHERE"),
    (f"{FIND} limit 5", "KIP_1001", "limit", "in capitals: LIMIT"),
    (f"{FIND} ORDER BY ?x.name desc", "KIP_1001", "desc", "in capitals: DESC"),
    (f"{FIND} ORDER BY ?x.name DESCENDING", "KIP_1001", "DESCENDING", "written DESC"),
    ("describe primer", "KIP_1001", "describe", "in capitals: DESCRIBE"),
    ("FNID(?x)", "KIP_1001", "FNID", "Did you mean FIND?"),
    ('FIND(?x) { ?x {id: "a"} }', "KIP_1001", "{", "WHERE stands before the brace"),
    ("FIND(?x) LIMIT 5 " + WHERE, "KIP_1001", "LIMIT", "stands before ORDER BY, LIMIT and CURSOR"),
    (f"{FIND} LIMIT 5 ORDER BY ?x.name", "KIP_1001", "ORDER", "in this order, each once: FIND, WHERE, ORDER BY, LIMIT"),
    (f"{FIND} LIMIT 5 LIMIT 6", "KIP_1001", "LIMIT 6", "each once"),
    (f'{FIND} CURSOR "a" LIMIT 6', "KIP_1001", "LIMIT", "in this order"),
    (f"{FIND} ORDER ?x.name", "KIP_1001", "?x.name", "BY"),
    (f"{FIND} LIMIT 0", "KIP_1001", "0", "whole number"),
    (f'{FIND} LIMIT "5"', "KIP_1001", '"5"', "without quotes"),
    (f"{FIND} LIMIT:n", "KIP_1001", ":n", "LIMIT :n"),
    (f'{FIND} CURSOR ""', "KIP_1001", '""', "Leave CURSOR out for the first page"),
    ('SEARCH CONCEPT "a" LIMIT 5 MODE "hybrid"', "KIP_1001", "MODE", "SEARCH, WITH TYPE, MODE, THRESHOLD, LIMIT"),
    ('SEARCH CONCEPT "a" TYPE "Drug"', "KIP_1001", "TYPE", "SEARCH, WITH TYPE"),
    ('SEARCH CONCEPT "a" MODE "fuzzy"', "KIP_1001", '"fuzzy"', '"keyword", "semantic" or "hybrid"'),
    ('SEARCH CONCEPT "a" THRESHOLD 1.5', "KIP_1001", "1.5", "from 0 to 1"),
    ('SEARCH CONCEPT "a" THRESHOLD "high"', "KIP_1001", '"high"', "without quotes"),
    ('SEARCH "a"', "KIP_1001", '"a"', "SEARCH CONCEPT"),
    ("DESCRIBE TYPES", "KIP_1001", "TYPES", "CONCEPT TYPES"),
    ("DESCRIBE CONCEPT TYPESX", "KIP_1001", "TYPESX", "Did you mean TYPES?"),
    ("DESCRIBE PRIMER LIMIT 5", "KIP_1001", "LIMIT", "the other forms take neither"),
    ('DESCRIBE CONCEPT TYPE"Drug"', "KIP_1001", "TYPE", "Put a blank after TYPE"),
    ("MERGE CONCEPT?a INTO ?b " + WHERE, "KIP_1001", "CONCEPT?", "Put a blank after CONCEPT"),
    ("MERGE ?a INTO ?b " + WHERE, "KIP_1001", "?a", "MERGE CONCEPT ?a INTO ?b"),
    (f"DELETE CONCEPT ?x {WHERE}", "KIP_1001", "WHERE", "DETACH is mandatory: DELETE CONCEPT ?x DETACH WHERE"),
    (f"DELETE PROPOSITION ?x {WHERE}", "KIP_1001", "PROPOSITION", "Did you mean PROPOSITIONS?"),
    (f"DELETE ?x {WHERE}", "KIP_1001", "?x", "DELETE CONCEPT ?x DETACH"),
    (f'DELETE ATTRIBUTES {{"a"}} ?x {WHERE}', "KIP_1001", "?x", "FROM ?x"),
    # UPSERT and UPDATE
    (block("SET ATTRIBUTES { a: 1 } EXPECT VERSION 1"), "KIP_1001", "EXPECT", "right after the identity"),
    (block("EXPECT VERSION -1"), "KIP_1001", "-1", "whole number"),
    (f"UPDATE ?x EXPECT VERSION 1 SET ATTRIBUTES {{ a: 1 }} {WHERE}", "KIP_1001", "EXPECT", "UPSERT blocks only"),
    (f"DELETE PROPOSITIONS ?x EXPECT VERSION 1 {WHERE}", "KIP_1001", "EXPECT", "UPSERT blocks only"),
    (block("WITH METADATA { a: 1 }"), "KIP_1001", "WITH", "after the closing brace of the block"),
    (block("SET METADATA { a: 1 }"), "KIP_1001", "METADATA", "WITH METADATA { .. } after"),
    (block("SET ATTRIBUTE { a: 1 }"), "KIP_1001", "ATTRIBUTE {", "Did you mean ATTRIBUTES?"),
    (block("SET ATTRIBUTES { a: 1 } SET ATTRIBUTES { b: 1 }"), "KIP_1001", "SET ATTRIBUTES { b", "into one block"),
    (block('SET PROPOSITIONS { "p", ?y }'), "KIP_1001", '"p"', "into parentheses"),
    (block('SET PROPOSITIONS { ("p", {type: "X"}) }'), "KIP_1001", '{type: "X"}', "Give both"),
    (block('SET PROPOSITIONS { (?x, "p", ?y) }'), "KIP_1001", "?x, ", "variable cannot stand here"),
    ("UPSERT { CONCEPT ?x { SET ATTRIBUTES { a: 1 } } }", "KIP_1001", "SET", "identity comes first"),
    ('UPSERT { CONCEPT ?x { {name: "A"} } }', "KIP_1001", "{name", "Give both"),
    ('UPSERT CONCEPT ?x { {id: "a"} }', "KIP_1001", "CONCEPT", "stand in braces: UPSERT {"),
    ('UPSERT { CONCEP ?x { {id: "a"} } }', "KIP_1001", "CONCEP", "Did you mean CONCEPT?"),
    ("UPSERT { }", "KIP_1001", "}", "at least one block"),
    ("UPSERT { PROPOSITION { (?a, ?p, ?b) } }", "KIP_1001", "?p", "Name the predicate"),
    ('UPSERT { PROPOSITION { (?a, "p"{1,2}, ?b) } }', "KIP_1001", "{1", "for WHERE"),
    ('UPSERT { PROPOSITION { (?a, "p", ?b) SET PROPOSITIONS {} } }', "KIP_1001", "PROPOSITIONS", "CONCEPT blocks only"),
    (f"UPDATE ?x {WHERE}", "KIP_1001", "WHERE", "stands before WHERE"),
    (f"UPDATE ?x SET PROPOSITIONS {{ }} {WHERE}", "KIP_1001", "PROPOSITIONS", "written by UPSERT"),
    (f"UPDATE ?x WITH METADATA {{ a: 1 }} {WHERE}", "KIP_1001", "WITH", "SET METADATA { .. }, before WHERE"),
    (f"UPDATE ?x SET ATTRIBUTES {{ }} {WHERE}", "KIP_1001", "{ }", "at least one key"),
    (f'UPDATE ?x SET ATTRIBUTES {{ a: 1 }} {WHERE} LIMIT 5 CURSOR "c"', "KIP_1001", "CURSOR", "there is no CURSOR"),
    # more of the same, one for each place
    (clause('?x {type"Drug"}'), "KIP_1001", "type", "Put a colon after the key: type: .."),
    ("SEARCH CONCEPT'a'", "KIP_1001", "CONCEPT'", "plain double quotes"),
    (f"FIND(?x、?y) {WHERE}", "KIP_1001", "、", "plain character ','"),
    (clause("?a -[:p]-> ?b"), "KIP_1001", "-[", 'written as a triple: (?a, "predicate", ?b)'),
    (update("?x.attributes.n - 1"), "KIP_1001", "- 1", "no arithmetic"),
    ("FIND( ... ) WHERE { ... }", "KIP_1001", "...", "write it out"),
    (f"FIND(?x .name) {WHERE}", "KIP_1001", ".name", "no blanks"),
    (block("SET ATTRIBUTES { a: [1: 2] }"), "KIP_1001", ": 2", "values only"),
    (block("SET ATTRIBUTES { a: (1) }"), "KIP_1001", "(1", "SET PROPOSITIONS"),
    (block("SET ATTRIBUTES { a: 1 }, SET PROPOSITIONS { }"), "KIP_1001", ", SET", "without commas"),
    ('UPSERT { PROPOSITION { {id: "a"} } }', "KIP_1001", "{id", '(?s, "predicate", ?o)'),
    ("UPSERT { PROPOSITION { EXPECT VERSION 1 } }", "KIP_1001", "EXPECT", "identity comes first"),
    ('UPSERT { CONCEPT { {id: "a"} }, CONCEPT { {id: "b"} } }', "KIP_1001", ", C", "without commas"),
    (
        'UPSERT { CONCEPT { {id: "a"} } SET ATTRIBUTES { a: 1 } }',
        "KIP_1001",
        "SET",
        "inside a CONCEPT or PROPOSITION block",
    ),
    ('UPSERT { NODE { {id: "a"} } }', "KIP_1001", "NODE", "a CONCEPT block"),
    (block('SET PROPOSITIONS { ("p") }'), "KIP_1001", ")", "two parts"),
    (block('SET PROPOSITIONS { ("p", ?y, ?z) }'), "KIP_1001", ", ?z", "two parts"),
    (update("yes"), "KIP_1001", "yes", 'Strings are quoted: "yes".'),
    (update("ADD(yes, 1)"), "KIP_1001", "yes", 'Strings are quoted: "yes".'),
    (update("1, n: 2"), "KIP_1001", "n: 2", "Keep one"),
    ("UPDATE ?x SET ATTRIBUTES { a: 1 }", "KIP_1001", None, "Write UPDATE ?x SET ATTRIBUTES"),
    (f"UPDATE ?x SET METADAT {{ a: 1 }} {WHERE}", "KIP_1001", "METADAT ", "Did you mean METADATA?"),
    (clause('?x {type: "A", type: "B"}'), "KIP_1001", 'type: "B"', "Keep one"),
    (clause("?x {5: 1}"), "KIP_1001", "5", "id, type or name"),
    (clause('(5, "p", ?y)'), "KIP_1001", "5", "the subject"),
    (clause('(?x, "p"{a}, ?y)'), "KIP_1001", "a}", "{m,n}"),
    (clause("5"), "KIP_1001", "5", "a clause"),
    (clause('?x {id: "a"} LIMIT 5'), "KIP_1001", "LIMIT", "Close the WHERE block with '}' before LIMIT"),
    (clause("?x 5"), "KIP_1001", "5", "'{' or '('"),
    (condition("[1]"), "KIP_1001", "[", "for membership use IN"),
    (condition(""), "KIP_1001", ")", "comparison or a function"),
    (condition("?x.n > COUNT(?y)"), "KIP_1001", "COUNT", "not in FILTER"),
    (condition("?x.n > )"), "KIP_1001", ")", "a value or variable after '>'"),
    (condition("?x.n == 1, ?x.n == 2"), "KIP_1001", ", ?x", "joined by && or ||"),
    (condition("?x.n == 1 NOT ?x.n == 2"), "KIP_1001", "NOT", "NOT is written !"),
    (f"FIND() {WHERE}", "KIP_1001", ")", "at least one variable"),
    (f"FIND(COUNT()) {WHERE}", "KIP_1001", ")", "one variable or path"),
    (f"FIND(?x ?y) {WHERE}", "KIP_1001", "?y", "by commas"),
    (f"FIND(5) {WHERE}", "KIP_1001", "5", "a variable, path or aggregate"),
    (f'DELETE ATTRIBUTES {{"a" "b"}} FROM ?x {WHERE}', "KIP_1001", '"b"', "by commas"),
    ("DELETE CONCEPT", "KIP_1001", None, "the variable of the concept to delete"),
    # the end of a statement, and beyond
    (f"{FIND}\n{FIND}", "KIP_1001", "FIND", "One command holds one statement"),
    (f'UPSERT {{ CONCEPT {{ {{id: "a"}} }} }}\n{FIND}', "KIP_1001", "FIND", "One command holds one statement"),
    ("DESCRIBE PRIMER; DESCRIBE DOMAINS", "KIP_1001", ";", "send each statement as a command of its own"),
    (f"{FIND} }}", "KIP_1001", "}", "one closing bracket too many"),
    ("", "KIP_1001", None, "DESCRIBE PRIMER"),
    ("  // only a comment", "KIP_1001", None, "DESCRIBE PRIMER"),
    # odd characters
    ("\ufeff" + FIND, "KIP_1001", "\ufeff", "byte order mark"),
    ("FIND(?x)\u00a0" + WHERE, "KIP_1001", "\u00a0", "plain blanks"),
    ("FIND(?x)\u3000" + WHERE, "KIP_1001", "\u3000", "plain blanks"),
    ("FIND(?x)\u2028" + WHERE, "KIP_1001", "\u2028", "plain blanks"),
    ("FIND(?x)\u200b" + WHERE, "KIP_1001", "\u200b", "Remove it"),
    ("FIND(?x)\x00" + WHERE, "KIP_1001", "\x00", ""),
    ("FIND（?x） " + WHERE, "KIP_1001", "（", "plain character '('"),
    (clause("😀"), "KIP_1001", "😀", "Remove it"),
    (FIND + "\ud83d", "KIP_2003", "\ud83d", "U+FFFD"),
]


@pytest.mark.parametrize(("text", "code", "at", "hint"), SLIPS, ids=[str(number) for number in range(len(SLIPS))])
def test_slips(text: str, code: str, at: str | None, hint: str) -> None:
    error = error_of(text)
    assert error.code == code, str(error)
    assert hint in error.hint, (str(error), error.hint)
    assert error.line is not None
    assert error.column is not None
    found_at = sum(len(line) + 1 for line in text.split("\n")[: error.line - 1]) + error.column - 1
    assert text[found_at:].startswith(at) if at is not None else found_at == len(text), str(error)


@pytest.mark.parametrize(
    ("text", "expected", "opened"),
    [
        ('FIND(?x\nWHERE { ?x {type: "Drug"} }', "',' or ')'", "'(' of line 1, column 5"),
        ('FIND(?x)\nWHERE {\n ?x {type: "Drug"}\n', "a clause or '}' of WHERE", "'{' of line 2, column 7"),
        ('FIND(?x) WHERE { ?x {type: "Drug" ', "',' or '}'", "'{' of line 1, column 21"),
        ('FIND(?x) WHERE { (?x, "p", ?y }', "')' after the object", "'(' of line 1, column 18"),
        ("FIND(?x) WHERE { FILTER((?a == 1 } ", "'&&', '||' or ')'", "'(' of line 1, column 25"),
        ('UPSERT { CONCEPT ?x { {id: "a"} SET ATTRIBUTES { a: [1, 2 } } }', "',' or ']'", "'[' of line 1, column 53"),
        ('UPSERT { CONCEPT ?x { {id: "a"} ', "SET or '}'", "'{' of line 1, column 21"),
        ('UPSERT {\n CONCEPT ?x { {id: "a"} }', "CONCEPT, PROPOSITION or '}' of UPSERT", "'{' of line 1, column 8"),
    ],
)
def test_a_missing_closing_bracket_names_the_opening_one(text: str, expected: str, opened: str) -> None:
    error = error_of(text)
    assert f"expected {expected}, found " in error.message
    assert opened in error.hint


def test_the_message_says_what_was_found_and_expected_and_where() -> None:
    error = error_of("FIND(?x)\nWHERE {\n  ?x {type: Drug}\n}")
    assert (error.line, error.column) == (3, 13)
    assert str(error) == (
        "InvalidSyntax: expected the type, a string in double quotes or a placeholder, found 'Drug' (line 3, column 13)"
    )


def test_a_fault_inside_a_string_is_placed_inside_it() -> None:
    error = error_of('FIND(?x) WHERE { ?x {name: "bad\\q"} }')
    assert error.column == len('FIND(?x) WHERE { ?x {name: "bad') + 1


def test_long_pieces_of_the_command_are_cut_in_the_message() -> None:
    for text in (
        "W" * 5000,
        f"FIND(?{'x' * 5000}.a.b.c) {WHERE}",
        clause(f"?x {{name: {'9' * 500}}}"),
        "?" + "é" * 5000,
    ):
        error = error_of(text)
        assert len(str(error)) + len(error.hint) < 500


@pytest.mark.parametrize("text", [None, 5, b"FIND(?x)", ["FIND"], {"command": "x"}])
def test_only_text_is_a_command(text: object) -> None:
    with pytest.raises(KipError) as raised:
        parse(text)  # type: ignore[arg-type]  # what a careless caller does
    assert raised.value.code == "KIP_1001"
    assert type(text).__name__ in raised.value.message


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (1, 1)), (1, (1, 2)), (2, (1, 3)), (3, (2, 1)), (4, (3, 1)), (6, (3, 3))]
)
def test_position(offset: int, place: tuple[int, int]) -> None:
    assert position("ab\n\ncd", offset) == place
