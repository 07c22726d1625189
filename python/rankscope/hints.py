"""What to use in place of an argument or an attribute that does not exist."""

from __future__ import annotations

import re
from types import FunctionType

from rankscope.errors import ArgumentError, MissingAttributeError
from rankscope.names import find_closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
MISSING = "required positional argument"
TOO_MANY = re.compile(r"positional arguments? but \d+ w")

OF_MEASURES = {
    **dict.fromkeys(
        ("k", "cutoff", "cutoffs", "at", "top_k", "topk", "depth"),
        "the cutoff belongs to the measure: 'nDCG@10', or nDCG @ 10",
    ),
    **dict.fromkeys(
        ("rel", "relevance_level", "min_rel", "rel_threshold"),
        "the lowest relevant grade belongs to the measure: 'AP(rel=2)'",
    ),
    **dict.fromkeys(
        ("gain", "gains", "discount", "log_base", "base", "p", "max_rel", "judged_only"),
        "it is a parameter of measures, as in RBP(p=0.9) or nDCG(gain='exp2')@10",
    ),
    **dict.fromkeys(
        ("ties", "empty", "missing", "unjudged", "negative", "unretrieved", "aggregate"),
        "it is a field of the policy: policy='{name}=…'",
    ),
}
"""Arguments that functions with measures don't have, and where what they mean belongs."""

OTHER_WORDS = {
    "measures": ("metrics", "metric", "measure", "evaluators", "metric_names"),
    "measure": ("metric", "measures", "metrics"),
    "judgments": ("qrels", "qrel", "truth", "ground_truth", "gold", "y_true", "table", "df"),
    "run": ("predictions", "results", "ranking", "rankings", "retrieved", "y_score", "y_pred"),
    "runs": ("systems", "models", "results", "rankings", "predictions"),
    "table": ("df", "frame", "data", "log", "path", "file"),
    "by": ("groupby", "group_by", "group", "groups", "slices", "slice", "segment", "segments"),
    "interval": ("ci", "confidence", "confidence_interval", "level", "alpha", "bootstrap"),
    "test": ("stat_test", "statistic", "significance"),
    "correction": ("adjust", "adjustment", "multiple_testing"),
    "threads": ("n_jobs", "n_threads", "num_threads", "workers", "num_workers", "nthreads", "jobs"),
    "query": ("qid", "query_id", "query_col", "query_column", "user"),
    "doc": ("docid", "doc_id", "doc_col", "item", "item_id", "document"),
    "relevance": ("grade", "grades", "label", "rating", "y_true", "target"),
    "score": ("scores", "prediction", "y_score", "score_col"),
    "weights": ("weight", "sample_weight", "query_weights"),
    "worst": ("limit", "top", "n_worst"),
    "method": ("fusion", "how", "algorithm"),
    "budgets": ("thresholds", "budget", "max_drop"),
    "path": ("output", "out", "file", "filename", "save", "to"),
    "ideal": ("ideal_rel", "ideal_grades"),
}
"""Arguments by what others call them."""

OUTPUTS = ("output", "out", "path", "file", "filename", "html", "save", "save_to", "to")
ELSEWHERE = {
    "evaluate": {
        "seed": "write interval=Interval(seed=1)",
        "baseline": "to compare runs, write compare(qrels, {'old': …, 'new': …}, measures)",
    },
    "Rankings.evaluate": {"seed": "write interval=Interval(seed=1)"},
    "explain": dict.fromkeys(
        ("qid", ""),
        "for a query of a run, write explain(judgments, run, 'nDCG@10', query_id='q1')",
    ),
    "report": dict.fromkeys(OUTPUTS, "write report(…).write('report.html')"),
    "fuse": dict.fromkeys(OUTPUTS, "write fuse(…).write('fused.run')"),
}
"""By function or method, what to use for an argument that it doesn't have."""

ATTRIBUTES = {
    **dict.fromkeys(
        ("save", "to_file", "dump", "export", "save_html", "to_path"),
        ("write", "to_html", "to_pandas", "to_dict"),
    ),
    **dict.fromkeys(
        ("to_json", "json", "as_dict", "asdict", "dict", "to_dictionary", "dumps"),
        ("to_dict", "to_pandas", "write"),
    ),
    **dict.fromkeys(
        ("to_df", "to_dataframe", "to_frame", "df", "dataframe", "frame", "pandas", "to_pd"),
        ("to_pandas", "to_dict"),
    ),
    **dict.fromkeys(("to_csv", "to_parquet", "to_excel"), ("to_pandas", "write", "to_dict")),
    **dict.fromkeys(("html", "show", "display", "plot", "render"), ("to_html", "to_pandas")),
    **dict.fromkeys(("to_markdown", "md"), ("to_markdown", "markdown", "to_pandas")),
    **dict.fromkeys(("latex", "tex", "to_tex", "as_latex"), ("to_latex",)),
    **dict.fromkeys(("best", "winner", "top", "best_run"), ("find_best", "means")),
    **dict.fromkeys(
        ("mean", "score", "scores", "results", "value", "average", "aggregate", "aggregated"),
        ("means", "comparisons"),
    ),
    **dict.fromkeys(
        ("p_value", "pvalue", "p_values", "pvalues"),
        ("p", "comparisons", "comparison"),
    ),
    **dict.fromkeys(
        ("ci", "confidence_interval", "interval", "conf_int"), ("intervals", "lower", "comparisons")
    ),
    **dict.fromkeys(
        ("per_topic", "by_query", "query_values", "per_query_values", "query_scores"),
        ("per_query", "values", "to_pandas"),
    ),
    **dict.fromkeys(("groups", "by", "segments", "by_slice"), ("slices",)),
    **dict.fromkeys(("topics", "queries", "qids"), ("query_ids", "queries")),
    **dict.fromkeys(("metrics", "names"), ("measures",)),
    **dict.fromkeys(("ok", "success", "is_passed"), ("passed",)),
    **dict.fromkeys(("warnings", "diagnostics", "messages"), ("notes",)),
}
"""What others call an attribute of results, and the attributes that may be meant."""


def explain_call(
    function: Callable[..., object], given: Mapping[str, object], error: TypeError
) -> ArgumentError | None:
    """Return the error for an argument that does not exist, `None` for another error."""
    from inspect import Parameter, signature  # noqa: PLC0415 - only errors need it

    of_function = signature(function).parameters
    names = [
        name
        for name, one in of_function.items()
        if one.kind != Parameter.VAR_KEYWORD and name not in {"self", "cls"}
    ]
    said = UNEXPECTED.search(str(error))
    # An error of the call itself has no frame of the function.
    is_of_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
    title = function.__qualname__
    if isinstance(error, ArgumentError):
        name = error.argument
        names += error.names
    elif said is not None and is_of_call:
        name = said[1]
    elif is_of_call and MISSING in str(error):
        others = [each for each in given if each not in of_function]
        name = next((each for each in others if _is_other_word(each, names)), "")
    elif is_of_call and TOO_MANY.search(str(error)) and "" in ELSEWHERE.get(title, {}):
        return refuse_argument(title, "", names)
    else:
        return None
    if name not in given or name in of_function:
        return None
    return refuse_argument(title, name, names)


def refuse_argument(function: str, name: str, names: Iterable[str]) -> ArgumentError:
    """Return the error for an argument that a function does not have."""
    known = list(dict.fromkeys(names))
    hint = ELSEWHERE.get(function, {}).get(name, "")
    if not hint and not {"measures", "measure"}.isdisjoint(known):
        hint = OF_MEASURES.get(name, "").format(name=name)
    if not hint:
        meant = next((each for each in known if _is_other_word(name, [each])), None)
        meant = meant or find_closest(name, known)
        hint = f"its arguments are {', '.join(known)}" if known else "it takes no arguments"
        hint = f"did you mean {meant!r}?" if meant else hint
    message = f"{function}() got an unexpected keyword argument {name!r}"
    if not name:
        message = f"{function}() got too many arguments by position"
    error = ArgumentError(message, hint=hint, code="unknown_argument")
    error.argument, error.names = name, known
    return error


def _is_other_word(name: str, known: Iterable[str]) -> bool:
    return any(name in OTHER_WORDS.get(each, ()) for each in known)


class Hinted:
    """A class whose objects say what to use for an attribute or an argument that doesn't exist."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __init_subclass__(cls, **settings: object) -> None:
            super().__init_subclass__(**settings)
            for name, value in [*vars(cls).items()]:
                is_bound = isinstance(value, classmethod | staticmethod)
                method = value.__func__ if is_bound else value
                # A record is made from another class, whose methods are wrapped already.
                is_plain = isinstance(method, FunctionType) and not hasattr(method, "__wrapped__")
                if is_plain and not name.startswith("_"):
                    hinted = hint_arguments(method)
                    setattr(cls, name, type(value)(hinted) if is_bound else hinted)

        def __getattr__(self, name: str) -> object:
            kind = type(self)
            if hasattr(kind, name):  # a property, or an empty slot, which says itself what it lacks
                return object.__getattribute__(self, name)
            if name.startswith("_"):  # which Python and its tools look for
                raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
            raise _refuse_attribute(kind, name)


def _refuse_attribute(kind: type, name: str) -> MissingAttributeError:
    known = [each for each in dir(kind) if not each.startswith("_")]
    meant = next((each for each in ATTRIBUTES.get(name, ()) if each in known), None)
    hint = f"its attributes are {', '.join(known)}"
    meant = meant or find_closest(name, known)
    if meant is not None:
        is_called = callable(getattr(kind, meant))
        hint = f"did you mean .{meant}{'(…)' if is_called else ''}?"
    error = MissingAttributeError(
        f"{kind.__name__!r} object has no attribute {name!r}", hint=hint, code="missing_attribute"
    )
    error.name = name
    return error


def hint_arguments(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function whose errors for unknown arguments say which one is meant."""
    from functools import wraps  # noqa: PLC0415 - loads with the first function

    @wraps(function)
    def call(*args: object, **given: object) -> object:
        try:
            return function(*args, **given)
        except TypeError as error:
            explained = explain_call(function, given, error)
            if explained is None:
                raise
            raise explained from None

    return call
