"""What every explanation can do: write itself in four formats, and as plain values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from rankscope.hints import Hinted
from rankscope.measures import Measure
from rankscope.settings.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.derivation.write.blocks import Block

DIGITS = 4
"""Places after the point, unless others are asked for."""


class Derivation(Hinted, ABC):
    """A value with the terms it is made of: the base of all explanations."""

    __slots__ = ()

    @property
    @abstractmethod
    def formula(self) -> str:
        """The value as a formula with the numbers filled in."""

    @abstractmethod
    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: Places after the point.
        """

    def to_text(self, digits: int = DIGITS) -> str:
        """Return the explanation as plain text.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import text  # noqa: PLC0415 - only where asked for

        return text.render(self.lay_out(digits))

    def to_markdown(self, digits: int = DIGITS) -> str:
        """Return the explanation as Markdown with tables.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import markdown  # noqa: PLC0415 - only where asked for

        return markdown.render(self.lay_out(digits))

    def to_latex(self, digits: int = DIGITS) -> str:
        """Return the explanation as LaTeX, for a document that uses amsmath.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import latex  # noqa: PLC0415 - only where asked for

        return latex.render(self.lay_out(digits))

    def to_html(self, digits: int = DIGITS, *, is_page: bool = False) -> str:
        """Return the explanation as a self-contained piece of HTML with its own style.

        Args:
            digits: Places after the point.
            is_page: Whether to write a whole page, and not a piece of one.
        """
        from rankscope.derivation.write import html  # noqa: PLC0415 - only where asked for

        write = html.render_page if is_page else html.render
        return write(self.lay_out(digits))

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as values that JSON can hold. NaN becomes `None`."""
        plain = to_plain(self)
        if not isinstance(plain, dict):
            raise TypeError(type(self).__name__)
        return plain | {"formula": self.formula}

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def to_plain(value: object) -> object:
    """Return a record as a mapping. Measures become names, and NaN becomes `None`."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, Measure):
        return value.name
    if isinstance(value, Policy):
        return value.to_dict()
    names: tuple[str, ...] = getattr(type(value), "__match_args__", ())
    return {name: to_plain(getattr(value, name)) for name in names}
