"""The usual names of columns, and which column of a table has which role."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from rankscope.errors import DuplicateError, FormatError
from rankscope.names import LONGEST_QUOTE, MOST_NAMES, find_closest, fold, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    Name = TypeVar("Name")

USERS = ("user_id", "user")
"""Names of users, whose rows are one query where there is no other column of queries."""
VISITS = ("session_id", "request_id", "impression_id")
"""Names of what a user does at one time, whose rows are one query."""

# Besides common names, these are those of Arize (`prediction_group_id`, `prediction_id`,
# `prediction_score`, `relevance_score`), of User Behavior Insights (`object_id`, and nested fields
# as `pandas.json_normalize` calls them), of Hugging Face and BEIR (`query-id`, `corpus-id`), and of
# recommenders (`user_id`, `item_id`, `rating`, and `movieId` of MovieLens).
SYNONYMS: dict[str, tuple[str, ...]] = {
    "query": (
        *("query_id", "qid", "query", "topic", "topic_id", *USERS, "search_group_id"),
        *("prediction_group_id", "group_id", "ranking_id", "search_id", *VISITS),
        *("question_id", "question"),
    ),
    "doc": (
        *("doc_id", "docno", "doc", "doc_ids", "item_id", "item_ids", "item", "document_id"),
        *("movie_id", "track_id", "product_id", "corpus_id", "passage_id", "chunk_id", "sku"),
        *("iid", "did", "object_id", "event_attributes.object.object_id", "prediction_id"),
    ),
    "relevance": (
        *("relevance", "rel", "label", "grade", "grades", "gains", "gain", "target"),
        *("relevance_score", "actual_score", "rating", "y_true", "relevant", "is_relevant"),
    ),
    "score": (
        *("score", "scores", "prediction", "pred", "prediction_score", "y_score", "y_pred"),
        "similarity",
    ),
    "rank": ("rank", "ranks", "position", "event_attributes.position.ordinal"),
}
"""The names under which a column is found that is not named, in any spelling: see `fold`."""

ROLES = {
    **SYNONYMS,
    "subtopic": ("subtopic", "subtopic_id", "iteration", "aspect", "intent"),
    "stratum": ("stratum", "stratum_id", "strata"),
    "relevant": ("relevant", "relevant_ids", "relevant_docs"),
    "retrieved": ("retrieved", "retrieved_ids", "retrieved_docs"),
    "time": (
        *("created_at", "date", "datetime", "event_time", "prediction_timestamp", "time"),
        *("timestamp", "ts"),
    ),
}
"""The same, with the columns that only judgments by subtopic, of samples, logs or lists have."""

FOLDED = {role: frozenset(map(fold, names)) for role, names in {**ROLES, "user": USERS}.items()}
"""These names and those of users as `fold` returns them."""

TAGS = ("run", "run_id", "run_name", "tag", "system", "algorithm", "model")
"""The names under which tables of several runs say of which one a row is."""

ITEMS = ("items", "docs", "documents", "results", "ranking")
"""The names under which a list of objects is found, each a document with its score or grade."""

UNSURE = {*FOLDED["user"], "query", "topic", "question"}
BESIDE = {
    "query": (FOLDED["query"] - {*UNSURE, "topicid", "groupid"}, UNSURE),
    "doc": (
        {"docid", "docno", "itemid", "productid", "documentid", "objectid"},
        {"predictionid", "movieid", "trackid", "sku", "iid", "did"},
    ),
}
"""By role, sure names, and names that mean something else in a table that has one of those."""

LIKELY = {
    "query": ("session", "search", "request", "query", "group", "customer", "user", "visitor"),
    "doc": ("item", "doc", "product", "article", "movie", "track", "sku", "asin", "chunk"),
    "relevance": ("relev", "grade", "label", "rating", "judg", "click", "bought", "gain", "true"),
    "score": ("score", "pred", "prob", "sim", "logit"),
    "rank": ("rank", "pos"),
    "subtopic": ("topic", "aspect", "facet", "intent", "iter"),
    "stratum": ("strat",),
    "time": ("time", "date", "_at"),
}
"""By role, parts of the names that such columns often have, for hints."""

LISTS = ("session", "search", "request", "visit", "impression")
"""What a column can be named after that tells the lists of a query apart."""
KEYS = tuple(f"{word}{end}" for word in LISTS for end in ("id", "key"))
"""How the names of their IDs end, as `fold` returns them."""

MOST_SHOWN = 50
"""How many names of columns an error lists."""
MOST_USUAL = 5
"""How many usual names an error lists."""


def check_names(names: Sequence[str]) -> None:
    """Raise an error for columns with the same name."""
    doubled = sorted(name for name, count in Counter(names).items() if count > 1)
    if doubled:
        message = f"expected different column names, found {list_names(doubled)} more than once"
        raise FormatError(message, hint="rename one of them", code="columns")


def list_usual(names: Iterable[Name], role: str) -> list[Name]:
    """Return those of some names that are usual for a role."""
    return [name for name in names if fold(str(name)) in FOLDED[role]]


def find_column(
    names: Sequence[str], role: str, name: str | None, attributes: Sequence[str] = ()
) -> str | None:
    """Find the column of a role by its name, or else by its usual names.

    A column that is named as an attribute, such as the user to group by, isn't taken for the query
    if there is another one. Neither is `user_id` beside `query_id`.
    """
    if name is not None:
        if str(name) in names:
            return str(name)
        # A column of its own name, such as one to group by, has no role.
        of = "" if role == name else f" of {role}"
        raise no_column(names, f"the column {quote(str(name))}{of}", str(name))
    columns = list_usual(names, role)
    if role == "relevance" and list_usual(names, "retrieved"):
        # Beside retrieved documents without a score or a rank, `relevant` are the other documents.
        is_ranked = list_usual(names, "score") or list_usual(names, "rank")
        columns = [name for name in columns if is_ranked or not list_usual([name], "relevant")]
    if len(columns) > 1:
        others = {*map(fold, attributes)}
        columns = [column for column in columns if fold(column) not in others] or columns
    sure, unsure = BESIDE.get(role, (set(), set()))
    if not sure.isdisjoint(map(fold, columns)):
        columns = [column for column in columns if fold(column) not in unsure]
    if len(columns) > 1:
        message = f"expected one column of {role}, found {' and '.join(columns)}"
        hint = f"say which: {_write_choice(role, columns[0])}"
        raise FormatError(message, hint=hint, code="columns")
    return columns[0] if columns else None


def splits_of(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the columns beside known ones that are named as those of sessions or searches."""
    unused = {name: fold(name) for name in names if name not in {*known}}
    return [name for name, text in unused.items() if text in LISTS or text.endswith(KEYS)]


def find_grades(names: Sequence[str], given: Mapping[str, str | None]) -> str | None:
    """Find the column of grades in a table of judgments; `None` if each row is an interaction.

    Judgments of Hugging Face and BEIR call their grades `score`. A table with nothing but users,
    items and times has no grades: each of its rows is relevant. Any other column could be a grade
    or say that a row is none, as `rating` and `event` do, so it isn't passed over.
    """
    # The names given may be those of another table, the run.
    named = {
        role: name for role, name in given.items() if name in names or role not in {"score", "rank"}
    }
    columns = {role: find_column(names, role, named.get(role)) for role in SYNONYMS}
    grade, query, doc = columns["relevance"], columns["query"], columns["doc"]
    if grade is not None or query is None or doc is None:
        return grade
    run = columns["score"] or columns["rank"]
    if run and [*map(fold, (query, doc, run))] == ["queryid", "corpusid", "score"]:
        return run
    known = {query, doc, given.get("subtopic"), given.get("stratum")}
    known |= {*list_usual(names, "time"), *list_usual(names, "user")}
    others = [name for name in names if name not in known]
    if run is None and not others:
        return None
    choice = _write_choice("relevance", run or _guess(others, "relevance") or others[0])
    error = no_role(names, "relevance")
    error.hint = f"name the grades: {choice}. If each row is relevant, pass only {query} and {doc}"
    if run is not None:
        error.hint = (
            f"{quote(run)} is a column of a run: are judgments and run swapped? "
            f"If it holds grades, write {choice}"
        )
    raise error


def no_role(names: Sequence[str], role: str) -> FormatError:
    """Return the error for a table without a column of a role."""
    usual = ", ".join(ROLES[role][:MOST_USUAL])
    more = ", …" if len(ROLES[role]) > MOST_USUAL else ""
    return no_column(names, f"a column of {role} ({usual}{more})", role)


def no_column(names: Sequence[str], wanted: str, name: str) -> FormatError:
    """Return the error for a table without a column."""
    lowered = {name.lower(): name for name in islice(names, MOST_NAMES)}
    words = [name, *ROLES.get(name, ())]
    close = (find_closest(word, lowered, likeness=like) for like in (1.0, 0.75) for word in words)
    closest = next(filter(None, close), "")
    if closest:
        column = lowered[closest]
        hint = f"did you mean {column!r}?"
        hint += f" If so, name it: {_write_choice(name, column)}" if name in ROLES else ""
    elif name in ROLES:
        # What orders the documents can be ranks as well as scores.
        role = "rank" if name == "score" and _guess(names, "rank") else name
        hint = f"name it: {_write_choice(role, _guess(names, role) or f'my_{role}')}"
    elif "," in name and all(part.strip() in names for part in name.split(",")):
        hint = "name one column at a time; on the command line, repeat the option"
    else:
        hint = "give the name of one of these"
    return FormatError(f"expected {wanted}, found {list_names(names)}", hint=hint, code="columns")


def _write_choice(role: str, name: str) -> str:
    """Return how a column is named for a role, in Python and on the command line."""
    return f"{role}={name!r}, or --col {role}={name}"


def _guess(names: Sequence[str], role: str) -> str | None:
    """Return the column that a role could mean, for hints."""
    usual = {name for of in SYNONYMS for name in FOLDED[of]}
    unusual = [name for name in islice(names, MOST_NAMES) if fold(name) not in usual]
    return next(
        (name for part in LIKELY.get(role, ()) for name in unusual if part in name.lower()), None
    )


def explain_users(error: Exception, names: Sequence[str], query: str | None) -> None:
    """Say in the hint of a duplicate that all rows of a user are taken for one query."""
    if isinstance(error, DuplicateError) and list_usual([query], "user"):
        column = _guess(names, "query")
        error.hint = (
            f"all rows with the same {query} count as one query. If users search more than once, "
            f"{'name' if column else 'add'} the column of searches: "
            f"{_write_choice('query', column or 'search_id')}. Otherwise, {error.hint}"
        )


def list_names(names: Sequence[str]) -> str:
    """Return the names of columns as text for a message."""
    shown = [name if len(name) <= LONGEST_QUOTE else quote(name) for name in names[:MOST_SHOWN]]
    if len(names) > MOST_SHOWN:
        shown.append(f"and {len(names) - MOST_SHOWN} more")
    return ", ".join(shown) or "no columns"
