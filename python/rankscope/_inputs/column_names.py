"""The usual names of columns, and which column of a table has which role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from rankscope._names import LONGEST_QUOTE, MOST_NAMES, find_closest, fold, quote
from rankscope.errors import DuplicateError, FormatError

Name = TypeVar("Name")

# Names of users, whose rows are one query where there is no other column of queries.
USERS = ("user_id", "user")
# Names of what a user does at one time, whose rows are one query.
VISITS = ("session_id", "request_id", "impression_id")

# Besides common names, these are those of Arize (`prediction_group_id`, `prediction_id`,
# `prediction_score`, `relevance_score`), of User Behavior Insights (`object_id`, and nested fields
# as `pandas.json_normalize` calls them), of Hugging Face and BEIR (`query-id`, `corpus-id`), and of
# recommenders (`user_id`, `item_id`, `rating`, and `movieId` of MovieLens).
# The names under which a column is found that is not named, in any spelling: see `fold`.
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

# The same, with the columns that only judgments by subtopic, of samples, logs or lists have.
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

# These names and those of users as `fold` returns them.
FOLDED = {role: frozenset(map(fold, names)) for role, names in {**ROLES, "user": USERS}.items()}

# The names under which tables of several runs say of which one a row is.
TAGS = ("run", "run_id", "run_name", "tag", "system", "algorithm", "model")

# The names under which a list of objects is found, each a document with its score or grade.
ITEMS = ("items", "docs", "documents", "results", "ranking")

UNSURE = {*FOLDED["user"], "query", "topic", "question"}
# By role, sure names, and names that mean something else in a table that has one of those.
BESIDE = {
    "query": (FOLDED["query"] - {*UNSURE, "topicid", "groupid"}, UNSURE),
    "doc": (
        {"docid", "docno", "itemid", "productid", "documentid", "objectid"},
        {"predictionid", "movieid", "trackid", "sku", "iid", "did"},
    ),
}

# By role, parts of the names that such columns often have, for hints.
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

# What a column can be named after that tells the lists of a query apart.
LISTS = ("session", "search", "request", "visit", "impression")
# How the names of their IDs end, as `fold` returns them.
KEYS = tuple(f"{word}{end}" for word in LISTS for end in ("id", "key"))

# How many names of columns an error lists.
MOST_SHOWN = 50
# How many usual names an error lists.
MOST_USUAL = 5


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


def splits_of(names: Sequence[str], used: Collection[str]) -> list[str]:
    """Return the columns beside used ones that are named as those of sessions or searches."""
    unused = {name: fold(name) for name in names if name not in used}
    return [name for name, text in unused.items() if text in LISTS or text.endswith(KEYS)]


def find_grades(names: Sequence[str], roles: Mapping[str, str | None]) -> str | None:
    """Find the column of grades in a table of judgments; `None` if each row is an interaction.

    Judgments of Hugging Face and BEIR call their grades `score`. A table with nothing but users,
    items and times has no grades: each of its rows is relevant. Any other column could be a grade
    or say that a row is none, as `rating` and `event` do, so it isn't passed over.
    """
    columns = {}
    for role in SYNONYMS:
        # The names of score and rank may be those of another table, the run.
        name = roles.get(role)
        is_other = role in {"score", "rank"} and name not in names
        columns[role] = find_column(names, role, None if is_other else name)
    grade, query, doc = columns["relevance"], columns["query"], columns["doc"]
    if grade is not None or query is None or doc is None:
        return grade
    run = columns["score"] or columns["rank"]
    if run and [*map(fold, (query, doc, run))] == ["queryid", "corpusid", "score"]:
        return run
    used = {query, doc, roles.get("subtopic"), roles.get("stratum")}
    used |= {*list_usual(names, "time"), *list_usual(names, "user")}
    others = [name for name in names if name not in used]
    if run is None and not others:
        return None
    choice = _write_choice("relevance", run or _guess(others, "relevance") or others[0])
    error = no_role(names, "relevance")
    error.hint = f"name the grades: {choice}. If each row is relevant, pass only {query} and {doc}"
    if run is not None:
        problem = f"{quote(run)} is a column of a run: are judgments and run swapped?"
        error.hint = f"{problem} If it holds grades, write {choice}"
    raise error


def no_role(names: Sequence[str], role: str) -> FormatError:
    """Return the error for a table without a column of a role."""
    usual = ", ".join(ROLES[role][:MOST_USUAL])
    more = ", …" if len(ROLES[role]) > MOST_USUAL else ""
    return no_column(names, f"a column of {role} ({usual}{more})", role)


def no_column(names: Sequence[str], expected: str, name: str) -> FormatError:
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
    return FormatError(f"expected {expected}, found {list_names(names)}", hint=hint, code="columns")


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


ID_ROLES = ("query", "doc")
# How the roles of columns begin that are only read for `ListChecks`.
SPLIT, TAG = CHECKS = ("split ", "tag ")
NUMBER_ROLES = ("relevance", "score", "rank", "weight")


class Selection(NamedTuple):
    """Which columns of a table are read.

    `roles` has, by role, the name of its column, or none to find it by its usual names; `others`
    are further columns, of which `labels` hold labels in place of grades. Of the roles in each part
    of `needed`, one must have a column; `besides` aren't taken for a query if there is another
    column. `is_judged` says that rows are judgments, which may have no grades (see `find_grades`),
    `is_ranked` that the rows of a query are a list, which another column may divide. Numbers of
    further columns of JSON Lines needn't be whole where those of the first row are, if
    `has_real_numbers`; and if `is_flat`, a list of objects is a value of its row.
    """

    roles: Mapping[str, str | None]
    others: Sequence[str] = ()
    needed: Sequence[Sequence[str]] = ()
    besides: Sequence[str] = ()
    labels: Sequence[str] = ()
    is_judged: bool = False
    is_ranked: bool = False
    has_real_numbers: bool = False
    is_flat: bool = False

    def choose(
        self, names: Sequence[str], inside: Mapping[str, Sequence[str]], file: str
    ) -> dict[str, str]:
        """Choose the columns of a file by role."""
        fields = {field: f"{outer}.{field}" for outer, of in inside.items() for field in of}
        columns: dict[str, str] = {}
        try:
            check_names(names)
            for role, name in [*self.roles.items(), *zip(self.others, self.others, strict=True)]:
                column = None
                if name is None or name in fields:
                    column = fields.get(find_column(list(fields), role, name) or "")
                column = column or find_column(names, role, name, (*self.others, *self.besides))
                if column is not None:
                    # A column of the name of a role that another one has is a further one.
                    is_other = columns.get(role, column) != column
                    columns[f"column {role}" if is_other else role] = column
            if self.is_judged and "relevance" not in columns:
                column = find_grades([*names, *fields.values()], {**self.roles, **columns})
                columns |= {} if column is None else {"relevance": column}
        except FormatError as error:
            error.file = file
            raise
        if columns.get("relevance", "") == columns.get("score"):
            message = (
                f"expected columns of relevance and score, found {columns['score']!r} for both"
            )
            hint = "name both: relevance='…', score='…'"
            raise FormatError(message, hint=hint, code="columns", file=file)
        if self.is_ranked:
            # What divides the rows of a query is meant to do so where the caller named the query.
            finds_query = "query" in columns and self.roles["query"] is None
            used = set(columns.values())
            splits = splits_of(names, used) if finds_query else []
            columns |= {f"{SPLIT}{name}": name for name in splits}
            columns |= {f"{TAG}{name}": name for name in TAGS if name in names and name not in used}
        return columns

    def require(self, columns: Mapping[str, str], names: Sequence[str], file: str) -> None:
        """Raise an error for a file that lacks a required column."""
        for roles in self.needed:
            if not any(role in columns for role in roles):
                error = no_role(names, roles[0])
                error.file = file
                raise error


def tags_of(columns: Mapping[str, str]) -> list[str]:
    """Return the columns that name runs."""
    return [name for role, name in columns.items() if role.startswith(TAG)]


def without_tags(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the other columns by role."""
    return {role: name for role, name in columns.items() if not role.startswith(TAG)}


def role_of(name: str, columns: Mapping[str, str]) -> str:
    """Return the role for which a column was chosen, or its name if it was chosen by name."""
    return next((role for role, column in columns.items() if column == name), name)
