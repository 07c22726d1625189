r"""Lists of words and weights of labels, as people write them.

A word that has one of these in it, or what no line shows, is written between double quotes, with
the escapes of JSON: `"add to basket"`, `"two\nlines"`.
"""

from __future__ import annotations

import json
import re

from rankscope.errors import UsageError
from rankscope.names import quote

# A quote without an end goes to the end of the text: what matches at once is never looked at again.
QUOTED = r'"(?:[^"\\]|\\(?s:.)?)*+(?:"|\Z)'
WORD = re.compile(rf'(?:{QUOTED}|[^\s,"])+')
PLAIN = re.compile(r'[^\s,"]+')


def split_words(text: str) -> list[str]:
    r"""Split a text into words; a part of a word may be between quotes.

    Examples:
        >>> split_words('click=1, "add to basket"=2 it\'s')
        ['click=1', 'add to basket=2', "it's"]
    """
    return [_unquote(word) for word in WORD.findall(text)]


def write_word(word: str) -> str:
    r"""Write a word so that it is read as one.

    Examples:
        >>> print(write_word("click"), write_word("add to basket"), write_word("\u202e"))
        click "add to basket" "\u202e"
    """
    if PLAIN.fullmatch(word) and word.isprintable():
        return word
    return json.dumps(word, ensure_ascii=not word.isprintable())


def _unquote(word: str) -> str:
    try:
        return re.sub(QUOTED, lambda found: str(json.loads(found[0])), word)
    except ValueError:
        raise UsageError(
            f"expected quotes around what belongs together, found {word!r}",
            hint='write "add to basket" between double quotes, and \\" for one inside',
            code="usage",
        ) from None


def read_weight(text: str) -> tuple[str, float]:
    """Read a label and its weight; a label alone weighs 1.

    Examples:
        >>> read_weight("buy=5"), read_weight("click"), read_weight("a=b=2")
        (('buy', 5.0), ('click', 1.0), ('a=b', 2.0))
    """
    label, sign, weight = text.rpartition("=")
    try:
        return (label, float(weight)) if sign else (text, 1.0)
    except ValueError:
        raise UsageError(
            f"expected a label and its weight, found {quote(text)}",
            hint="write click=1",
            code="usage",
        ) from None


def write_weight(weight: float) -> str:
    """Write a weight so that the same number is read.

    Examples:
        >>> write_weight(5.0), write_weight(0.1)
        ('5', '0.1')
    """
    return repr(weight).removesuffix(".0")
