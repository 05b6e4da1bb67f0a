"""Words of what people say: content words, small talk, statements worth keeping, verdicts.

Everything here is a plain word list or pattern, so that a decision of formation can be explained and
repeated. English is covered best; Chinese and Japanese have the commonest cues; other languages fall
back to the rules that need no words (names, numbers, identifiers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

_FUNCTION_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing don down during each few for from further had has have having he her here hers him
    his how i if in into is it its itself just let me more most my myself no nor not now of off on once only or other
    our ours out over own per please same she should so some such than that the their theirs them then there these
    they this those through to too under until up us very was we were what when where which while who whom why will
    with would you your yours i'd i'm i've i'll you're it's that's don't can't won't didn't doesn't isn't there's let's
    need want like get got going make sure
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
_COURTESIES = """
    hi hello hey hiya yo greetings morning afternoon evening night good day thanks thank thx ty cheers welcome ok
    okay okey k kk sure yes yeah yep yup no nope nah fine great nice cool awesome perfect wonderful lovely amazing
    lol haha hahaha hehe hmm hm uh um oh ah wow bye goodbye ciao later see ya take care sorry pardon please well right
    alright exactly indeed totally absolutely definitely really true agreed weather today tomorrow yesterday weekend
    sunny rainy how're doing going everything things pretty much bit lot today's fun enjoy enjoyed hope glad happy
    done anything else question help assist stop
"""
_SOCIAL_WORDS = frozenset(_COURTESIES.split())

_DURABLE = re.compile(
    r"""(?ix)
    \b(?:i|we)(?:\s+\w+){0,2}?\s+(?:prefer|like|love|hate|dislike|use|work|live|moved|own|decided|plan|agreed|promise
       |promised|avoid|switched|manage|study|speak|drive)\b
  | \b(?:i|we)(?:'m|\ am|'re|\ are)\s+(?:allergic|vegetarian|vegan|based|responsible|from|born|married|moving|a\s|an\s)
  | \bmy\s+(?:\w+\s+){0,2}(?:is|are|was|will\ be)\b
  | \bcall\ me\b | \bremember\b | \bdon'?t\ forget\b | \bremind\b | \bfrom\ now\ on\b | \balways\b | \bnever\b
  | \bdeadline\b | \bdue\ (?:by|on|at)\b
  | \bwe\ (?:decided|agreed|will)\b | \bi\ will\b | \bi'll\ (?:send|do|pay|call|finish)\b
  | 喜欢 | 偏好 | 讨厌 | 记住 | 记得 | 总是 | 从不 | 以后 | 住在 | 决定 | 我是 | 我的
  | 好き | 嫌い | 覚えて | いつも | 住んで | 決め
    """
)
_CORRECTION = re.compile(
    r"""(?ix)
    \b(?:that(?:'s|\ is|\ was)|it(?:'s|\ is)|this\ is)\s+(?:not\ (?:right|correct|what|true)|wrong|incorrect)
  | \byou(?:'re|\ are)\ (?:wrong|mistaken) | \byou\ (?:misunderstood|got\ (?:it|that)\ wrong)
  | \bnot\ what\ i\ (?:asked|meant|wanted|said) | \bi\ said\b | \bactually,?\s+(?:no|it|i|the|that)\b
  | 不对 | 错了 | 違う | 違います
    """
)
_APPROVAL = re.compile(
    r"""(?ix)
    \b(?:that|it|this)\s+(?:worked|works|solved|fixed|did\ (?:it|the\ trick))
  | \bexactly\ what\ i\ (?:wanted|needed|asked)
  | \bworks\ (?:now|perfectly|fine|great) | \bproblem\ solved\b | 解决了 | 成功了 | 直りました
    """
)
_NAME_INSIDE = re.compile(r"(?<=[a-z0-9,;]\s)(?!I\b|I')[A-Z][\w-]+")
_FIGURE = re.compile(r"\d{2,}|\b\w+@\w+\.\w+|https?://")


def words(text: str) -> list[str]:
    """The words of ``text``, folded, in order; runs of Chinese, Japanese and Korean become bigrams."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        found.extend(_bigrams(word) if _CJK.search(word) else (word.replace("’", "'"),))
    return found


def _bigrams(run: str) -> Iterable[str]:
    return [run] if len(run) < 3 else [run[i : i + 2] for i in range(len(run) - 1)]


def content_words(text: str) -> list[str]:
    """The words that carry meaning: without function words."""
    return [word for word in words(text) if word not in _STOP_WORDS and (len(word) > 1 or word.isdigit())]


def without_function_words(text: str) -> str:
    """``text`` for a search: its words as written, without function words unless nothing else is left."""
    kept = [part for part in text.split() if part.strip(".,;:!?()'\"").casefold() not in _STOP_WORDS]
    return " ".join(kept) or text


def topical_words(text: str) -> list[str]:
    """The content words without greetings and other courtesies; all content words where nothing else is said."""
    return [word for word in content_words(text) if word not in _SOCIAL_WORDS] or content_words(text)


def is_small_talk(text: str) -> bool:
    """True when nothing is left of ``text`` but greetings, thanks, agreement and talk about the weather."""
    return not any(word not in _SOCIAL_WORDS for word in content_words(text))


def durable_signal(text: str) -> str | None:
    """Why a statement is worth an Event: what it says that outlives the conversation; None if nothing does."""
    if is_small_talk(text):
        return None
    if _CORRECTION.search(text):
        return "corrects something"
    if match := _DURABLE.search(text):
        return f"states something lasting ({match.group().strip()!r})"
    if text.rstrip().endswith(("?", "？")):
        return None
    if match := _NAME_INSIDE.search(text):
        return f"names {match.group()!r}"
    if match := _FIGURE.search(text):
        return f"gives {match.group()!r}"
    return None


def verdict_signal(text: str) -> bool | None:
    """What a person's remark says about the result: True approves, False rejects, None says nothing clear."""
    if _CORRECTION.search(text):
        return False
    return True if _APPROVAL.search(text) else None
