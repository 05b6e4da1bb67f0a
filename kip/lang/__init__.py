"""The KIP language: text to syntax tree and back (SPECIFICATION.md 2-5). No I/O."""

from kip.lang.format import format
from kip.lang.lexer import position
from kip.lang.parameters import bind_check, parameters_of
from kip.lang.parser import parse

__all__ = ["bind_check", "format", "parameters_of", "parse", "position"]
