"""Writes LaTeX as one line of text for the terminal, as far as the formulas of measures need it."""

from __future__ import annotations

import re

SYMBOLS = {
    r"\cdot": "·",
    r"\cap": "∩",
    r"\le": "≤",
    r"\ge": "≥",
    r"\beta": "β",
    r"\epsilon": "ε",
    r"\sum": "Σ",
    r"\prod": "Π",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    r"\{": "{",
    r"\}": "}",
    r"\left": "",
    r"\right": "",
    r"\mathrm": "",
    r"\text": "",
    r"\textrm": "",
    r"\alpha": "α",
    r"\ni": "∋",
    r"\Bigl": "",
    r"\Bigr": "",
    r"\bigl": "",
    r"\bigr": "",
    r"\quad": " ",
    r"\,": " ",
    "\\ ": " ",
}
POWERS = {"2": "²", "*": "*"}
SIGN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^]|\s+|[^\\{}_^\s]+")

WHOLE = re.compile(r"[\w^]+|[^ ]*\([^()]*\)|\|[^|]*\||log\d +\([^()]*\)|[{].*[}]")
"""Terms that need no brackets in a quotient."""


def to_text(latex: str) -> str:
    r"""Return a formula as one line of text.

    Examples:
        >>> to_text(r"\mathrm{RBP@}k = (1 - p) \sum_{r=1}^{k} b_r\, p^{r-1}")
        'RBP@k = (1 - p) Σ(r=1…k) b_r p^(r-1)'
        >>> to_text(r"\frac{1}{\log_2 (r + 1)}")
        '1 / log2(r + 1)'
        >>> to_text(r"\max\Bigl(0, \frac{a}{\sqrt{|L|\, b}}\Bigr) \text{ if } a")
        'max(0, a / sqrt(|L| b)) if a'
    """
    signs = SIGN.findall(latex)
    signs.reverse()
    text = re.sub(r" +", " ", _read(signs)).strip()
    return re.sub(r"(?<=[({]) | (?=[)},])|(?<=log2) (?=\()", "", text)


def _read(signs: list[str]) -> str:
    """Read up to the brace that closes this group, or to the end."""
    text = ""
    while signs:
        sign = signs.pop()
        if sign == "}":
            break
        text += _read_one(sign, signs)
    return text


def _read_one(sign: str, signs: list[str]) -> str:
    if sign == "{":
        return _read(signs)
    if sign == r"\frac":
        above, below = _bracket(_argument(signs)), _bracket(_argument(signs))
        return f"{above} / {below}" if " " in above + below else f"{above}/{below}"
    if sign in {r"\sum", r"\prod"}:
        return SYMBOLS[sign] + _limits(signs)
    if sign == "_":
        below = _argument(signs)
        return f"_{below}" if re.fullmatch(r"\w+", below) else f"({below.strip()})"
    if sign == "^":
        power = _argument(signs)
        return POWERS.get(power, f"^({power})" if len(power) > 1 else f"^{power}")
    if sign == r"\sqrt":
        return f"sqrt({_argument(signs).strip()})"
    if sign == r"\log" and signs[-2:] and signs[-1] == "_":
        signs.pop()
        return f"log{_argument(signs)} "
    return SYMBOLS.get(sign, sign.removeprefix("\\"))


def _limits(signs: list[str]) -> str:
    """Read the limits of a sum."""
    low = high = ""
    while signs and signs[-1] in {"_", "^"}:
        if signs.pop() == "_":
            low = _argument(signs)
        else:
            high = f"…{_argument(signs)}"
    return f"({low}{high}) "


def _argument(signs: list[str]) -> str:
    """Read one group, or one character."""
    sign = signs.pop()
    if sign == "{":
        return _read(signs)
    if sign.startswith("\\"):
        return _read_one(sign, signs)
    if len(sign) > 1:
        signs.append(sign[1:])
    return sign[0]


def _bracket(text: str) -> str:
    """Put a sum or a product in brackets if it is part of a quotient."""
    text = text.strip()
    return text if WHOLE.fullmatch(text) else f"({text})"
