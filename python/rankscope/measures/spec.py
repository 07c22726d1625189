"""What a measure is: its row in the table, its parameters, and the object that users hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from rankscope._names import find_closest, quote
from rankscope.errors import MeasureError
from rankscope.measures import domains, kernel
from rankscope.measures.domains import Domain, Value, bad_parameter

Need: TypeAlias = Literal["history", "items", "catalogue"]
"""What a measure of items needs to know, as `evaluate` calls it."""
Direction: TypeAlias = Literal["higher", "lower", "neither"]

DIRECTIONS: tuple[Direction, ...] = ("higher", "lower", "neither")
SIGNS: Mapping[Direction, int] = {"higher": 1, "lower": -1, "neither": 0}
"""What a difference is multiplied with, so that a positive one is an improvement."""


def find_gain(difference: float, direction: Direction) -> float:
    """Return by how much a difference of values is an improvement; 0 if it can't be one.

    Examples:
        >>> [find_gain(-0.25, direction) for direction in ("higher", "lower", "neither")]
        [-0.25, 0.25, 0.0]
    """
    return SIGNS[direction] * difference or 0.0


class Parameter(NamedTuple):
    """A parameter of a measure.

    Args:
        name: The name in calls and in canonical names.
        domain: The values it accepts.
        default: The default value.
        meaning: The meaning, in one sentence.
        required: Whether it must be set before the measure can be evaluated.
        only_with: Another parameter, and the values of it with which this one can be set.
        needs_k: The values that require a cutoff.
        above: Another parameter, whose value is smaller.
    """

    name: str
    domain: Domain
    default: Value
    meaning: str
    required: bool = False
    only_with: tuple[str, tuple[Value, ...]] | None = None
    needs_k: tuple[Value, ...] = ()
    above: str = ""


K = Parameter("k", domains.CUTOFF, None, "The cutoff; ranks below it don't count.")
REQUIRED_K = Parameter(
    "k", domains.DIVISOR, None, "The cutoff; ranks below it don't count.", required=True
)
READ_K = Parameter(
    "k", domains.DEPTH, None, "The cutoff; the user reads no rank below it.", required=True
)
DEPTH = Parameter(
    "k", domains.DEPTH, 1000, "How far the user reads at most; 1000 is the depth of cwl_eval."
)
REL = Parameter("rel", domains.LEVEL, 1.0, "The lowest grade that counts as relevant.")
BETA = Parameter(
    "beta", domains.POSITIVE, 1.0, "How many times as much recall counts as precision."
)
JUDGED_ONLY = Parameter(
    "judged_only", domains.FLAG, False, "Whether to remove unjudged documents from the list first."
)
GAIN = Parameter("gain", domains.GAIN, "linear", "The gain of each grade.")
DISCOUNT = Parameter("discount", domains.DISCOUNT, "log2", "The weight of each rank.")
BASE = Parameter(
    "base",
    domains.BASE,
    2.0,
    "The base of the logarithm in the discount.",
    only_with=("discount", ("log", "jk")),
)
S = Parameter(
    "s",
    domains.POSITIVE,
    1.0,
    "The exponent of the rank in the discount.",
    only_with=("discount", ("zipf",)),
)
IDEAL = Parameter(
    "ideal",
    domains.IDEAL,
    "judged",
    "The documents of the ideal list: the judged or the retrieved ones, cut at k; all judged ones "
    "without a cut; or one of gain 1 at each rank up to k.",
    needs_k=("slots",),
)


class Name(NamedTuple):
    """The name of a measure in another tool.

    Args:
        text: The name; `{k}` stands for the value of parameter `k`.
        settings: The parameter values that the name implies.
        takes: The parameters that can be written with the name.
        note: How the measure of the other tool differs, or an empty string.
        fixed: Parameters of the other tool that can have one value only, and this value.
    """

    text: str
    settings: Mapping[str, object] = {}
    takes: tuple[str, ...] = ()
    note: str = ""
    fixed: Mapping[str, object] = {}


class Example(NamedTuple):
    """A worked example of a measure on one query.

    Args:
        measure: The measure, as text.
        ranking: The grades in rank order, `None` for unjudged documents.
        formula: The computation with the numbers of this example, as a Python expression.
        value: The value, rounded to four places.
        not_retrieved: The grades of the judged documents that are not in the list.
        subtopics: If the measure needs subtopics, those to which each document is relevant: first
            the retrieved documents, then the others. `None` for unjudged documents.
        strata: If the measure needs strata, that of each document: first the retrieved documents,
            then the others. `None` for documents that aren't in the pool.
        recommended: For a measure of items, in place of a ranking: the list of each user.
        relevant: The relevant items of each user.
        history: The items that each user had before.
        items: The categories of each item.
        catalogue: The items that can be recommended.
    """

    measure: str
    ranking: tuple[float | None, ...]
    formula: str
    value: float
    not_retrieved: tuple[float, ...] = ()
    subtopics: tuple[tuple[str, ...] | None, ...] = ()
    strata: tuple[str | None, ...] = ()
    recommended: Mapping[str, tuple[str, ...]] = {}
    relevant: Mapping[str, tuple[str, ...]] = {}
    history: Mapping[str, tuple[str, ...]] = {}
    items: Mapping[str, tuple[str, ...]] = {}
    catalogue: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """A row of the table of measures, from which objects, names, pages and tests are derived.

    Args:
        name: The canonical name.
        kernel: The name of the computation in the core (default: `name` in lower case).
        level: `query` if each query has a value, `run` if only all lists together have one.
        parameters: The parameters, in the order in which names print them.
        cutoff: The parameter that `@` sets, if the measure has it.
        formula: The definition as LaTeX.
        definition: The definition, whose first sentence says it in short.
        undefined: When it is undefined, in one sentence; empty if never.
        value_range: The lowest and the highest value with the default parameters.
        mean: How the values of queries are aggregated.
        better: Which values are better; `neither` if it doesn't measure the quality of a ranking.
        ties: Whether the expected value over the orders of tied documents has a closed form.
        references: The sources of the definition.
        aliases: Other names with the same meaning.
        trec_eval: Its names in trec_eval.
        ir_measures: Its names in ir_measures.
        ranx: Its names in ranx.
        sklearn: Its names in scikit-learn.
        claims: The properties that it has with the default parameters, beside those that follow
            from the range of its values; see `PROPERTIES`.
        subtopics: Whether it needs judgments by subtopic.
        strata: Whether it needs sampled judgments, with the stratum of each document.
        needs: What it needs to know of items: the arguments of `evaluate`.
        categories: Whether attributes of items must be categories.
        uncut: If a cutoff is required, the corresponding measure for the whole list.
        example: A worked example.
        function: For a measure that is written in Python, returns the function that the core calls.
        of_rows: Whether that function takes documents, scores or queries.
    """

    name: str
    kernel: str = ""
    level: Literal["query", "run"] = "query"
    parameters: tuple[Parameter, ...]
    cutoff: str = "k"
    formula: str
    definition: str
    undefined: str = ""
    value_range: tuple[float, float] = (0, 1)
    mean: Literal["mean", "sum", "geometric"] = "mean"
    better: Direction = "higher"
    ties: Literal["exact", "unavailable"] = "unavailable"
    references: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    trec_eval: tuple[Name, ...] = ()
    ir_measures: tuple[Name, ...] = ()
    ranx: tuple[Name, ...] = ()
    sklearn: tuple[Name, ...] = ()
    claims: frozenset[str] = frozenset()
    subtopics: bool = False
    strata: bool = False
    needs: tuple[Need, ...] = ()
    categories: bool = False
    uncut: str = ""
    example: Example
    function: Callable[[Measure], Callable[..., list[float]]] | None = None
    of_rows: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self.kernel or self.name.lower())

    @property
    def at(self) -> str:
        """The parameter that `@` sets, or an empty string."""
        return (
            self.cutoff
            if any(parameter.name == self.cutoff for parameter in self.parameters)
            else ""
        )

    @property
    def summary(self) -> str:
        """The first sentence of the definition."""
        return self.definition.partition(". ")[0].removesuffix(".") + "."

    @property
    def properties(self) -> frozenset[str]:
        """The properties that it has with the default parameters; see `PROPERTIES`."""
        low, high = self.value_range
        return self.claims | {"bounded"} if low >= 0 and high <= 1 else self.claims

    @property
    def of_items(self) -> bool:
        """Whether it depends on which items are recommended, and not only on their grades."""
        return bool(self.needs) or self.level == "run"

    @property
    def of_grades(self) -> bool:
        """Whether it depends on nothing but the grades of each query."""
        return not (self.subtopics or self.strata or self.of_items)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name.

        Raises:
            MeasureError: The measure has no such parameter.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        hint = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
        hint = _suggest(name, names) or hint
        if name in CUTOFFS and "k" in names:
            hint = f"write {self.name}@10 or {self.name}(k=10)"
        raise bad_parameter(f"{self.name} has no parameter {quote(name)}", hint)


CUTOFFS = {"top_k", "topk", "cutoff", "at", "n"}
"""What other libraries call the cutoff, such as torchmetrics."""

ROWS: dict[str, Row] = {}
"""The row of each measure by its name; `rankscope.measures.table` fills it."""

FUNCTIONS: dict[str, Row] = {}
"""The row of each measure that is written in Python; `rankscope.measure` fills it."""

PROPERTIES = {
    "swap_monotone": "Moving a document above one with a lower grade never lowers the value.",
    "perfect_is_one": "Without a cutoff, all relevant documents, best first, have the value 1.",
    "cutoff_local": "The documents below the cutoff don't matter.",
    "bounded": "The value is between 0 and 1.",
    "order_free": "The order of the documents doesn't matter.",
    "binary": "Only whether a grade reaches `rel` matters.",
}


COSTS = ("cost", "total_cost", "items")
"""What `value=` reports of a user model that is not its gain."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with values of its parameters, such as `nDCG(gain="exp2") @ 10`.

    Measures are immutable and hashable. Two measures are equal if their names and parameters are
    the same. `measure @ value` sets the cutoff (for `IPrec`, the recall level), and
    `measure(name=value)` sets parameters.

    Args:
        row: The row of the table.
        values: The value of each parameter, in the order of the row.

    Examples:
        >>> from rankscope.measures import RBP, P, nDCG
        >>> nDCG @ 10
        nDCG@10
        >>> nDCG(gain="exp2") @ 10, P(rel=2) @ 5, RBP(p=0.9)
        (nDCG(dcg='exp-log2')@10, P(rel=2)@5, RBP(p=0.9))
        >>> (nDCG @ 10).kernel_spec()
        ('ndcg', {'k': 10, 'gain': 'linear', 'discount': {'kind': 'log2'}, 'ideal': 'judged'})
    """

    row: Row
    values: tuple[Value, ...]

    @property
    def name(self) -> str:
        """The canonical name, from which `parse` returns an equal measure."""
        return domains.canonical_name(self)

    @property
    def plain_name(self) -> str:
        """The name as an identifier, such as `ndcg_at_10`, for columns and metrics of other tools.

        It has lowercase letters, digits and underscores, and is different for each measure.
        MLflow, Weights & Biases, Prometheus and SQL accept it.
        """
        return domains.plain_name(self)

    @property
    def better(self) -> Direction:
        """Which values are better; `neither` if it doesn't measure the quality of a ranking.

        This can depend on parameters: with `residual=True`, lower values are better, and the cost
        of a user model doesn't say which of two rankings is better.
        """
        if self.row.function is None:
            if self.value_of("residual") is True:
                return "lower"
            if self.value_of("value") in COSTS:
                return "neither"
        return self.row.better

    @property
    def parameters(self) -> dict[str, Value]:
        """The value of each parameter, in the order of the row."""
        pairs = zip(self.row.parameters, self.values, strict=True)
        return {parameter.name: value for parameter, value in pairs}

    @property
    def settings(self) -> dict[str, Value]:
        """The parameters whose values differ from their defaults."""
        pairs = zip(self.row.parameters, self.values, strict=True)
        return {
            parameter.name: value
            for parameter, value in pairs
            if type(value) is not type(parameter.default) or value != parameter.default
        }

    @property
    def k(self) -> int | None:
        """The cutoff, or `None` for the whole list."""
        k = self.value_of("k")
        return k if isinstance(k, int) else None

    @property
    def judged_only(self) -> bool:
        """Whether unjudged documents are removed from the list first."""
        return self.value_of("judged_only") is True

    def value_of(self, name: str) -> Value:
        """Return the value of a parameter, or `None` if the measure has no such parameter."""
        for parameter, value in zip(self.row.parameters, self.values, strict=True):
            if parameter.name == name:
                return value
        return None

    def kernel_spec(
        self, *, grades: Collection[float] | None = None, depth: int | None = None
    ) -> tuple[str, dict[str, kernel.Param]]:
        """Return the name and the parameters of the computation in the core.

        Args:
            grades: The existing grades, for which a gain function is evaluated.
            depth: The length of the longest list or ideal, up to which a discount is needed.

        Raises:
            MeasureError: A required parameter isn't set, a function returned a number that isn't
                finite, or a discount table is shorter than the cutoff.
        """
        return kernel.kernel_spec(self, grades, depth)

    def __call__(self, **settings: object) -> Measure:
        """Return the measure with other values of some parameters.

        Raises:
            MeasureError: The parameter doesn't exist, or the value is invalid.
        """
        requested = domains.from_ir_measures(self.row, settings)
        values = self.parameters
        for name, value in requested.items():
            parameter = self.row.parameter(name)
            try:
                values[name] = parameter.domain.read(value)
            except (ValueError, TypeError):
                raise _outside(self.row, parameter, value) from None
        _check_company(self.row, values, requested)
        return Measure(self.row, tuple(values.values()))

    def __matmul__(self, value: float) -> Measure:
        """Return the measure with a cutoff, or with the parameter that `@` sets.

        Raises:
            MeasureError: The measure has no cutoff, or the value is invalid.
        """
        if not self.row.at:
            message = f"{self.row.name} takes no cutoff, found @{quote(value)}"
            raise bad_parameter(message, f"write {self.name}")
        if value is None:  # which would mean "no cutoff" as a parameter
            raise _outside(self.row, self.row.parameter(self.row.at), value)
        return self(**{self.row.at: value})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Measure):
            return NotImplemented
        is_same = self.row.name == other.row.name and self.row.function is other.row.function
        return is_same and self.values == other.values

    def __hash__(self) -> int:
        return hash((self.row.name, self.values))

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.row.name, self.values)


def default_measure(row: Row) -> Measure:
    """Return the measure of a row with the default of every parameter."""
    return Measure(row, tuple(parameter.default for parameter in row.parameters))


def _rebuild(name: str, values: tuple[Value, ...]) -> Measure:
    if name not in ROWS and name not in FUNCTIONS:
        raise MeasureError(
            f"{name} is a function that this process doesn't have",
            hint=f"define it first: rankscope.measure({name!r}, function)",
            code="unknown_measure",
        )
    return Measure(ROWS.get(name) or FUNCTIONS[name], values)


def _check_company(row: Row, values: dict[str, Value], requested: Mapping[str, object]) -> None:
    """Check the values of parameters that depend on those of others."""
    for parameter in row.parameters:
        name, value = parameter.name, values[parameter.name]
        lower = values.get(parameter.above)
        if isinstance(value, float) and isinstance(lower, float) and value <= lower:
            raise bad_parameter(
                f"{row.name}: expected {name} to be above {parameter.above}, found "
                f"{name}={value:g} and {parameter.above}={lower:g}",
                f"{name} is the highest grade of the scale",
            )
        if parameter.only_with is None:
            continue
        companion, allowed = parameter.only_with
        is_set = name in requested or value != parameter.default
        if is_set and values[companion] not in allowed:
            needed = " or ".join(f"{companion}={word!r}" for word in allowed)
            raise bad_parameter(
                f"{row.name}: {name} belongs to {needed}, found {companion}={values[companion]!r}",
                f"remove {name}, or add {companion}={allowed[0]!r}",
            )


def _outside(row: Row, parameter: Parameter, value: object) -> MeasureError:
    message = f"{row.name}: expected {parameter.name} to be {parameter.domain}, found "
    hint = _suggest(value, parameter.domain.choices)
    if parameter.name == "k":
        hint = f"write {row.name}@10"
        hint += "" if parameter.required else ", or leave the cutoff out for the whole list"
    hint = hint or f"`rankscope measures {row.name}` lists its parameters"
    shown = quote(value)
    return MeasureError(message + shown, hint=hint, code="bad_parameter", value=shown)


def _suggest(word: object, words: Collection[str]) -> str:
    closest = find_closest(word, words)
    return f"did you mean {closest!r}?" if closest else ""
