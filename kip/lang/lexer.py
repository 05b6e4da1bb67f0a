"""Text to tokens, one token ahead of the parser (SPECIFICATION.md 2.7, 2.8).

Offsets only: line and column are computed when an error needs them. Every quantifier is possessive, so that
no input makes the scanner go back over text it has read.
"""

from __future__ import annotations

import json
import re

from kip.errors import KipError
from kip.lang import hints
from kip.lang.ast import Span
from kip.lang.words import Found
from kip.values import MAX_DEPTH, MAX_INTEGER_DIGITS

_BLANKS = r"((?:[ \t\r\n]++|//[^\r\n]*+)*+)"
_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*+"
_PLAIN = r'[^"\\\x00-\x1f]*+'

# The first alternative that fits wins; what is wrong gets a kind of its own, so that its hint can be exact.
_ALTERNATIVES: tuple[tuple[str, str], ...] = (
    ("string", rf'"({_PLAIN})"'),
    ("punctuation", r"([(){}\[\],]|&&|\|\|?+|==(?!=)|!=(?!=)|!(?!=)|<=|<(?!>)|>=?+)"),
    ("word", rf"({_IDENTIFIER})(?![\w$\"'?]|-\w)"),
    ("variable", rf"\?({_IDENTIFIER}(?:\.{_IDENTIFIER})*+)(?![\w$.]|-\w)"),
    ("number", r"(-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+)(?![\w.])"),
    ("parameter", rf":({_IDENTIFIER})(?![\w$]|-\w)"),
    ("escaped", rf'("{_PLAIN}(?:\\.{_PLAIN})*+")'),
    ("glued word", rf"({_IDENTIFIER})(?=[\"'?])"),
    ("bad variable", r"(\?[\w$.-]*+)"),
    ("bad parameter", r"(:[\w$-]++)"),
    ("bad word", r"([^\W\d][\w$-]*+)"),
    ("bad number", r"([-+]?+\.?+[0-9][\w.+-]*+)"),
    ("bad string", r'(")'),
    ("end", r"(\Z)"),
    ("bad character", r"((?s:.))"),
)
_KINDS = ("", "", *(kind for kind, _ in _ALTERNATIVES))
_PUNCTUATION = _KINDS.index("punctuation")
_ESCAPED = _KINDS.index("escaped")

_match_token = re.compile(_BLANKS + "(?:" + "|".join(pattern for _, pattern in _ALTERNATIVES) + ")").match
_match_colon = re.compile(_BLANKS + ":").match
_SURROGATE = re.compile("[\ud800-\udfff]")


def position(text: str, offset: int) -> tuple[int, int]:
    """The 1-based line and column of a character offset in ``text``."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


class Tokens:
    """The token under the parser's eye, and the way to the next one.

    ``kind`` is ``word``, ``variable``, ``parameter``, ``string``, ``number``, ``end``, the punctuation itself, or
    one of the kinds of faulty text, which no parser expects. ``value`` is the word, the name, the decoded string
    or the number's text.
    """

    __slots__ = ("depth", "end", "kind", "previous_end", "start", "text", "value")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = self.value = ""
        self.start = self.end = self.previous_end = self.depth = 0
        self.advance()

    def advance(self) -> None:
        """Step to the next token. Raises KIP_1001 or KIP_2003 for a string with a bad escape."""
        end = self.end
        match = _match_token(self.text, end)
        assert match is not None  # the last alternative takes any character
        index = match.lastindex or 0
        value = match[index]
        self.previous_end = end
        self.start = match.end(1)
        self.end = match.end()
        if index == _PUNCTUATION:
            self.kind = value
        elif index == _ESCAPED:
            self.kind = "string"
            value = self._unescape(value)
        else:
            self.kind = _KINDS[index]
        self.value = value

    def _unescape(self, raw: str) -> str:
        try:
            value: str = json.loads(raw)
        except json.JSONDecodeError as error:
            raise self.fail(
                "the string holds an escape that JSON does not know",
                hint='Escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX; write a backslash itself as \\\\.',
                offset=self.start + error.pos,
            ) from None
        if "\\u" in raw and _SURROGATE.search(value):
            raise self.fail(
                "the string holds half of a surrogate pair, which is not a character",
                hint="Write the character itself, or both halves, for example \\ud83d\\ude00.",
                code="KIP_2003",
            )
        return value

    def colon(self, after: str) -> None:
        """Step over the colon that follows the current token, a key; ``{a:true}`` holds no placeholder."""
        match = _match_colon(self.text, self.end)
        if match is None:
            self.advance()
            raise self.unexpected(f"':' after {after}", place="colon")
        self.end = match.end()
        self.advance()

    def is_word(self, word: str) -> bool:
        """Whether the current token is this keyword."""
        return self.kind == "word" and self.value == word

    def keyword(self, *words: str, hint: str = "") -> None:
        """Step over these keywords, which stand one after the other. Raises KIP_1001."""
        for word in words:
            if self.kind != "word" or self.value != word:
                raise self.unexpected(word, place="keyword", hint=hint)
            self.advance()
        if self.kind == "parameter" and self.start == self.previous_end:
            raise self.fail("a blank is missing before the placeholder", hint=f"Write {words[-1]} :{self.value}.")

    def take_word(self, *words: str) -> bool:
        """Step over the keywords if the first one is here; the others must then follow."""
        if self.kind != "word" or self.value != words[0]:
            return False
        self.keyword(*words)
        return True

    def take(self, kind: str) -> bool:
        """Step over a token of this kind if it is here."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str, expected: str, *, place: str = "", hint: str = "") -> None:
        """Step over a token of this kind. Raises KIP_1001 that says what was expected."""
        if self.kind != kind:
            raise self.unexpected(expected, place=place, hint=hint)
        self.advance()

    def close(self, bracket: str, opened: int, expected: str, *, place: str = "", hint: str = "") -> None:
        """Step over a closing bracket; the error names the place of the opening one."""
        if self.kind == bracket:
            self.advance()
            return
        line, column = position(self.text, opened)
        unclosed = f"The '{self.text[opened]}' of line {line}, column {column} is closed by '{bracket}'."
        raise self.unexpected(expected, place=place, hint=f"{hint} {unclosed}" if hint else unclosed)

    def nest(self) -> None:
        """Go one level deeper; the caller counts ``depth`` down again. Raises KIP_1001 past the limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.too_deep()

    def too_deep(self) -> KipError:
        """The error for nesting past the limit."""
        return self.fail(
            f"the text is nested deeper than {MAX_DEPTH} levels",
            hint="Flatten the expression, or pass the value as a parameter.",
        )

    def span(self, start: int) -> Span:
        """From ``start`` to the end of the last token stepped over."""
        return Span(start, self.previous_end)

    def number(self) -> int | float:
        """The value of the current number token, exact for integers. Raises KIP_2003 outside JSON's range."""
        text = self.value
        digits = text.removeprefix("-")
        if not digits.isdigit():
            return self._float(text)
        if len(digits) > MAX_INTEGER_DIGITS:
            raise self.fail(
                f"the integer has more than {MAX_INTEGER_DIGITS} digits",
                hint="Store such a number as a string.",
                code="KIP_2003",
            )
        return int(text)

    def _float(self, text: str) -> float:
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise self.fail(
                "the number is too large for a JSON number",
                hint="Numbers reach about 1.8e308; use a smaller number or a string.",
                code="KIP_2003",
            )
        return value

    def fail(self, message: str, *, hint: str, offset: int | None = None, code: str = "KIP_1001") -> KipError:
        """An error at ``offset``, or at the current token."""
        line, column = position(self.text, self.start if offset is None else offset)
        return KipError(code, message, hint=hint, line=line, column=column)

    def unexpected(self, expected: str, *, place: str = "", hint: str = "") -> KipError:
        """The error for a token that does not fit: what was found, what was expected and how to repair it.

        ``place`` names a table of known slips (:mod:`kip.lang.hints`); ``hint`` is used when none applies.
        """
        slip = hints.explain(Found(self.kind, self.value, self.text, self.start), expected, place)
        return self.fail(
            f"expected {expected}, found {slip.found}",
            hint=slip.hint or hint or hints.fallback(expected),
            offset=slip.offset,
            code=slip.code,
        )


def refuse_surrogates(text: str) -> None:
    """Raise KIP_2003 at the first lone surrogate of a command text."""
    if text.isascii():
        return
    match = _SURROGATE.search(text)
    if match is not None:
        line, column = position(text, match.start())
        raise KipError(
            "KIP_2003",
            "the text holds half of a surrogate pair, which is not a character",
            hint="Replace damaged characters, for example with U+FFFD.",
            line=line,
            column=column,
        )
