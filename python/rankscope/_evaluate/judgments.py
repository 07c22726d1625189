"""Reads judgments, with what the measures need of them."""

from __future__ import annotations

from rankscope._inputs.qrels import Qrels, Queries
from rankscope._inputs.reading import read_judgments
from rankscope._inputs.recognition import recognise, refuse_unpaired
from rankscope.errors import UsageError
from rankscope.file import File
from rankscope.measures.reading import find_second
from rankscope.output.progress import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope._core import Judgments
    from rankscope._inputs.reading import Note
    from rankscope.measures.reading import Measures
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike, Second


def load_qrels(given: InputLike | Qrels, reading: Reading, second: Second = "") -> Qrels:
    """Read judgments, unless they were read before."""
    return given if isinstance(given, Qrels) else read_qrels(given, reading, second)


def read_qrels(given: InputLike, reading: Reading, second: Second = "") -> Qrels:
    """Read judgments."""
    found = recognise(given, "qrels", reading.columns)
    notes: list[Note] = []
    with watch(found.name, found.find_size, reading.progress) as tell:
        judgments, source = read_judgments(found, reading, notes=notes, second=second, tell=tell)
    if judgments.subtopics() and _have_one_subtopic(judgments):
        notes.append(("one_subtopic", len(judgments.query_ids()), 0))
    queries = Queries(
        found.name,
        reading.duplicates,
        judgments.query_ids,
        tuple(notes),
        source,
        judgments.subtopics() or 0,
    )
    return Qrels(judgments, queries)


def _have_one_subtopic(judgments: Judgments) -> bool:
    """Check whether each query has one subtopic, which any relevant document then covers."""
    from rankscope._core import evaluate_dict  # noqa: PLC0415 - only for measures of diversity
    from rankscope._evaluate.settings import Settings  # noqa: PLC0415 - see above

    judged = [dict(judgments.documents(at)) for at in range(len(judgments.query_ids()))]
    if judgments.subtopics() != sum(map(len, judged)):  # a document has several
        return False
    best = ({max(docs, key=docs.__getitem__): 1.0} for docs in judged)
    run = dict(zip(judgments.query_ids(), best, strict=True))
    plan = Settings(measures="StRecall", policy="empty=one").request().plan()
    return evaluate_dict(judgments, plan, run).means() == [1.0]


def load_qrels_for(
    qrels: InputLike | Qrels,
    runs: Iterable[InputLike],
    measures: Measures,
    reading: Reading,
    *,
    subtopics: bool | None = None,
) -> Qrels:
    """Read judgments with what measures need of them, unless they were read before."""
    if isinstance(qrels, Qrels):
        return qrels
    for run in runs:
        refuse_one_stdin_for_both(qrels, run)
        refuse_unpaired(qrels, run)
    return load_qrels(qrels, reading, find_second(measures, subtopics=subtopics))


def refuse_one_stdin_for_both(qrels: InputLike, run: InputLike) -> None:
    """Raise an error if judgments and run both come from standard input."""
    paths = [given.path if isinstance(given, File) else given for given in (qrels, run)]
    if all(isinstance(path, str) and path == "-" for path in paths):
        raise UsageError(
            "expected '-' for one input, found it for both",
            hint="name a file for the other",
            code="stdin_twice",
        )
