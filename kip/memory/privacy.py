"""What must not be stored (decision 27): secrets are replaced, private reasoning is cut.

The pattern set is deliberately short and errs towards replacing. It covers private key blocks, bearer and
basic credentials, keys with a well-known prefix, JSON web tokens, and values that a name calls a secret
(``password=..``, ``"api_key": ".."``, ``password is ..``). It does not cover personal data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kip.values import Json

REPLACEMENT = "[redacted]"
"""Stands in place of a secret."""

RATIONALE_LIMIT = 200
"""Longest decision rationale, in characters: the first sentence of a visible thought, no more."""

_SECRET_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|api[ _-]?keys?|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret"
    r"|(?:access|auth|refresh|id|session|bearer|api)[_-]?token|token|private[_-]?key|access[_-]?key|credentials?)"
)
# A prefix such as DB_ or github- may stand before the name: DB_PASSWORD, github-token.
_NAMED = r"(?<![A-Za-z0-9])" + _SECRET_NAME

_WHOLE = re.compile(
    r"""
    -----BEGIN\ [A-Z0-9 ]{0,40}PRIVATE\ KEY-----.*?(?:-----END\ [A-Z0-9 ]{0,40}PRIVATE\ KEY-----|\Z)
  | \b(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,}
  | \b(?:gh[oprsu]_|github_pat_|glpat-|npm_|pypi-|hf_|xox[abeoprs]-|dop_v1_|shpat_)[A-Za-z0-9_-]{12,}
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
  | \bAIza[0-9A-Za-z_-]{30,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}
    """,
    re.VERBOSE | re.DOTALL,
)
# Each of these keeps what stands before the secret, so that the step still tells what was done.
_AFTER_LABEL = (
    re.compile(r"(?i)\b(bearer\s+)(?!\[redacted)[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?i)\b(authorization\"?\s*[:=]\s*\"?(?:basic|token|digest)\s+)(?!\[redacted)[A-Za-z0-9._~+/=:-]{6,}"),
    re.compile(r"(://[^\s/:@]{1,64}:)(?!\[redacted)[^\s/@]{1,128}(?=@)"),
    re.compile(r"(?i)(" + _NAMED + r"\\?[\"']?\s*(?:=|:|=>)\s*\\?[\"'])(?!\[redacted)[^\"'\\\n]{1,4096}"),
    re.compile(r"(?i)(" + _NAMED + r"\s*=\s*)(?![\"'\\=]|\[redacted)[^\s\"',;&)}\]]{3,}"),
    # After a colon prose may follow ("token: expired"), so the value has to look made up.
    re.compile(r"(?i)(" + _NAMED + r"\s*:\s*)(?=[^\s\"',;]*[\d@#$%^&*!+/=_])(?![\"'\\]|\[redacted)[^\s\"',;&)}\]]{3,}"),
    re.compile(r"(?i)\b((?:password|passphrase|passcode)\s+(?:is|was|=)\s+)(?!\[redacted)(?=\S*[\d\W_])\S{4,}"),
    re.compile(r"(?i)(--(?:password|passwd|token|api-key|secret)\s+)(?!\[redacted)\S{3,}"),
)
_HINTS = (
    *("pass", "pwd", "secret", "token", "key", "credential", "bearer", "authorization", "://", "sk-", "sk_", "pk_"),
    *("pk-", "rk_", "rk-", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat", "glpat", "npm_", "pypi-", "hf_"),
    *("xox", "dop_v1", "shpat", "akia", "asia", "aiza", "eyj"),
)
"""Cheap test, folded: no pattern can match a text without one of these."""

_SECRET_KEY = re.compile(r"(?i)^(?:[a-z0-9]+[_-]){0,4}" + _SECRET_NAME + "$")
# CamelCase keys are read as words: accessToken is access_token.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_REASONING = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s|\n")


@dataclass(slots=True)
class Tally:
    """How much was replaced in one run: secrets, and damaged characters."""

    secrets: int = 0
    characters: int = 0
    recalled: int = 0


def redact(text: str, tally: Tally) -> str:
    """``text`` with every secret of the pattern set replaced; each replacement is counted in ``tally``."""
    folded = text.lower()
    if not any(hint in folded for hint in _HINTS):
        return text
    text, found = _WHOLE.subn(REPLACEMENT, text)
    for pattern in _AFTER_LABEL:
        text, more = pattern.subn(rf"\g<1>{REPLACEMENT}", text)
        found += more
    tally.secrets += found
    return text


def redact_value(value: Json, tally: Tally) -> Json:
    """``value`` with the secrets in its texts replaced, and the values of keys that name a secret."""
    if isinstance(value, str):
        return redact(value, tally)
    if isinstance(value, list):
        return [redact_value(item, tally) for item in value]
    if isinstance(value, dict):
        return {redact(key, tally): _redact_entry(key, item, tally) for key, item in value.items()}
    return value


def _redact_entry(key: str, value: Json, tally: Tally) -> Json:
    given = isinstance(value, (str, int)) and not isinstance(value, bool) and value not in ("", REPLACEMENT)
    if given and _SECRET_KEY.match(_HUMP.sub("_", key)):
        tally.secrets += 1
        return REPLACEMENT
    return redact_value(value, tally)


def repair(text: str, tally: Tally) -> str:
    """``text`` with lone surrogates and NUL replaced by U+FFFD, each counted (bugs D09)."""
    if "\0" in text:
        tally.characters += text.count("\0")
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Two halves that belong together are one character; what is left over is damage.
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        tally.characters += joined.count("\ufffd") - text.count("\ufffd")
        return joined
    return text


def without_reasoning(text: str) -> str:
    """``text`` without inline blocks of private reasoning such as ``<think>..</think>``."""
    return _REASONING.sub("", text).strip() if "<" in text else text


def first_sentence(thought: str) -> str:
    """What may stay of a visible thought: its first sentence, at most :data:`RATIONALE_LIMIT` characters."""
    sentence = _SENTENCE_END.split(thought.strip(), maxsplit=1)[0].strip()
    return sentence if len(sentence) <= RATIONALE_LIMIT else sentence[: RATIONALE_LIMIT - 1].rstrip() + "…"
