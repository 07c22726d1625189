"""Notes about input that looks wrong, intervals of estimates, and the small print of results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rankscope._settings import METHODS

Row: TypeAlias = tuple[tuple[float, float, float], tuple[str, str], tuple[int, int, float]]
"""An estimate as the core has it: value and ends, method and reason, counts of values and units."""


SENTENCES = {
    "bom": "byte-order marks at the start of a file, ignored: {count}",
    "blank_lines": "blank lines, skipped: {count}",
    "comments": "comment lines (starting with '# '), skipped: {count}",
    "negative_rel": "judgments with a grade below 0: {count} (negative={negative})",
    "fractional_rel": "judgments with a grade between 0 and 1, not relevant where rel is 1: "
    "{count}; set rel, as in AP(rel=0.5)",
    "missing_grades": "rows without a grade, which count as unjudged: {count} "
    "(unjudged={unjudged})",
    "duplicate_identical": "duplicate judgments with the same grade, counted once: {count}",
    "duplicates_resolved": "duplicate documents: {count} (duplicates={duplicates})",
    "ids_equal_after_normalisation": "IDs that differ only in case or Unicode normalization, "
    "treated as different: {count}",
    "implicit_grades": "rows without a grade, each counted as relevant with grade 1: {count}",
    "int_ids": "queries with tied documents whose integer IDs are ordered as text, where 9 is "
    "greater than 10, and not as numbers: {count} (ties={ties})",
    "id_looks_scientific": "IDs such as 1.23457E+12, possibly changed by a spreadsheet: {count}",
    "query_split": "queries whose rows have different values of {column}: {count}; if each value "
    "is a list of its own, pass query='{column}' in place of '{query}'",
    "empty_lists": "rows with an empty list of documents: {count}",
    "rank_score_disagree": "queries whose ranks contradict their scores, ordered by score: {count}",
    "rank_irregular": "queries whose ranks are not 1, 2, 3, …, ordered by score: {count}",
    "rank_gap": "queries whose ranks are not 1, 2, 3, …, ordered by rank: {count}",
    "items_outside_catalogue": "recommended items that are not in the catalogue, which don't count "
    "for measures of the catalogue: {count}",
    "items_without_history": "recommended items that no user had before: {count}",
    "items_without_attributes": "recommended items without attributes, left out where these are "
    "needed: {count}",
    "item_names": "the column {column} has a different text for nearly every item, as names do, so "
    "it isn't used as categories",
    "item_names_alone": "nearly every item has a category of its own in {column}, so that no two "
    "items are alike: {count} categories",
    "categories_split": "texts of {column} that name several categories, separated by |: {count}",
    "uneven_samples": "queries that only some of the rankings have, averaged over those: {count}",
    "items_undefined": "queries for which {name} is undefined, left out of its mean: {count}",
    "multiple_tags": "different run names in one run, which has one list for each query: {count}; "
    "if they are several runs, pass each one by itself",
    "other_definition": "{name} is a name of {tool}, whose measure differs: {difference}",
    "all_relevant": "grades are from {lowest:g} to {highest:g}, so every judged document is "
    "relevant for {names}; set rel, as in {example}",
    "grades_like_scores": "grades are from {lowest:g} to {highest:g}, like scores; are judgments "
    "and run swapped, or the columns relevance and score?",
    "grades_clipped": "measures whose max_rel is below the highest grade, which counts as max_rel: "
    "{count}",
    "duplicate_measures": "duplicate measures, evaluated once: {count}",
    "n_missing": "judged queries that are not in the run: {count} (missing={missing})",
    "n_run_only": "queries of the run without judgments, not evaluated: {count}",
    "n_no_relevant": "judged queries without a relevant document: {count} (empty={empty})",
    "subtopics_joined": "judgments by subtopic: {count}; measures that know no subtopics take the "
    "highest grade of each document",
    "one_subtopic": "queries with a single subtopic, as in judgments without subtopics: {count}; "
    "measures of diversity then count each further relevant document less",
    "tied_scores": "queries whose documents all have the same score: {count} (ties={ties})",
    "all_unjudged": "retrieved documents of judged queries, none of which is judged: {count}",
    "lists_unjudged": "queries of the run none of whose retrieved documents is judged: {count}",
    "subtopics_unjudged": "retrieved documents of judged queries, none of which is judged: "
    "{count}; judgments by subtopic map a query to subtopics, and these to documents",
    "sampled_candidates": "queries with {candidates} documents, one of them relevant: {count}; if "
    "these are sampled candidates, values are not those of ranking all items: to decide between "
    "systems, rank all items",
    "unpaired_queries": "queries with a value in only one of the runs, left out of both: {count}",
    "stage_gains": "queries in which {stage} adds relevant documents, so its loss is negative: "
    "{count}",
    "identical_runs": "runs that are identical to an earlier one: {count}",
}
"""The message of each code. Its fields are the count and settings of the evaluation."""

GRAVE = ("all_relevant", "n_missing", "all_unjudged", "lists_unjudged", "subtopics_unjudged")
"""Notes with which a value hardly means anything, which are always printed in full."""

MOST_NAMED = 3
"""A note of more runs says how many they are."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A note about input that is valid but looks wrong.

    Args:
        code: The stable code.
        count: How often it occurred.
        sentence: The message.
        file: The name of the input, if known.
        line: The line where it occurred first, or 0 if the input has no lines.
    """

    code: str
    count: int
    sentence: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}: " if self.file else ""
        first = f", first in line {self.line}" if self.line else ""
        return f"{place}{self.sentence}{first} [{self.code}]"


def describe(
    code: str, count: int, choices: Mapping[str, object], *, file: str = "", line: int = 0
) -> Diagnostic:
    """Return the diagnostic for a code."""
    return Diagnostic(code, count, SENTENCES[code].format(count=count, **choices), file, line)


def describe_note(
    note: Diagnostic | tuple[str, int, int], choices: Mapping[str, object], file: str = ""
) -> Diagnostic:
    """Return the diagnostic for a code with its count and its first line."""
    if isinstance(note, Diagnostic):
        return note
    code, count, line = note
    return describe(code, count, choices, file=file, line=line)


def count_codes(notes: Iterable[Diagnostic]) -> dict[str, int]:
    """Return the count of each code of notes."""
    counts: dict[str, int] = {}
    for note in notes:
        counts[note.code] = counts.get(note.code, 0) + note.count
    return counts


def gather(notes: Mapping[str, Sequence[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Return the notes of several runs, those of one kind as one; what not all have names its runs.

    Examples:
        >>> both, single = Diagnostic("a", 1, "both"), Diagnostic("b", 2, "one run alone")
        >>> for note in gather({"old": [both], "new": [both, single]}):
        ...     print(note)
        both [a]
        new: one run alone [b]
        >>> missing = [describe("n_missing", count, {"missing": "zero"}) for count in (3, 1, 3, 2)]
        >>> print(*gather({f"run{at}": [note] for at, note in enumerate(missing)}))
        4 runs: judged queries that are not in the run: 1 to 3 (missing=zero) [n_missing]
    """
    gathered = []
    for note, runs in merge(notes):
        if not runs or (note.file and len(runs) == 1):
            gathered.append(note)
            continue
        of_all = "" if len(runs) == len(notes) else f" of {len(notes)}"
        names = ", ".join(runs) if len(runs) <= MOST_NAMED else f"{len(runs)}{of_all} runs"
        gathered.append(replace(note, file=names))
    return tuple(gathered)


def merge(
    notes: Mapping[str, Sequence[Diagnostic]],
) -> list[tuple[Diagnostic, tuple[str, ...]]]:
    """Return the notes of several runs, those of one kind as one, each with the runs that have it.

    A note that is the same in all runs has no runs, and one of several has no file.
    """
    alike: dict[tuple[str, str], dict[str, Diagnostic]] = {}
    for run, own in notes.items():
        for note in own:
            is_shared = all(note in others for others in notes.values())
            # Two of a run, such as those of two columns, are not of one kind.
            kind = str(note) if is_shared else _count_as(note, "…")
            alike.setdefault((note.code, kind), {}).setdefault(run, note)
    merged: list[tuple[Diagnostic, tuple[str, ...]]] = []
    for of_runs in alike.values():
        first, *others = of_runs.values()
        if len(of_runs) == len(notes) and all(note == first for note in others):
            merged.append((first, ()))
        elif not others:
            merged.append((first, tuple(of_runs)))
        else:
            counts = [note.count for note in of_runs.values()]
            low, high = min(counts), max(counts)
            sentence = _count_as(first, f"{low} to {high}" if low < high else str(low))
            merged.append((Diagnostic(first.code, sum(counts), sentence), tuple(of_runs)))
    return merged


def _count_as(note: Diagnostic, text: str) -> str:
    """Return the message with another text in place of the count."""
    before, count, _ = SENTENCES.get(note.code, "").partition("{count}")
    before = before.rpartition("}")[2]
    if not count:
        return note.sentence
    return note.sentence.replace(f"{before}{note.count}", f"{before}{text}", 1)


REASONS = {
    "undefined": "there is no value",
    "single": "a t interval needs 2 or more {units}, found {count}",
    "few": "a dense interval needs 6 or more queries (at 95%), or 20 or more clusters; found "
    "{count} {units}",
    "few_drawn": "the bootstrap needs 20 or more {units}, found {count}",
    "few_degrees": "a t interval needs 4 or more effective degrees of freedom; the {count} {units} "
    "are too few, or too unequal in size",
    "equal": "all {count} {units} have the same value, so that resamples of them show nothing",
    "unbounded": "a bounded interval needs a mean of values with limits",
}
"""Why there is no interval, by the name that the core has for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean or another aggregate with its confidence interval.

    Args:
        value: The aggregate; NaN without values.
        lower: The lower end of the interval; NaN if there is no interval.
        upper: The upper end of the interval; NaN if there is no interval.
        level: The confidence level.
        method: The method that was used, one of: `"dense"`, `"bounded"`, `"t"`,
            `"percentile"`; empty if there is no interval.
        n: The number of values.
        clusters: The number of clusters, which are the units of sampling; `None` if each value is
            one.
        effective: The effective sample size of the weights (Kish, *Survey Sampling*, 1965): the
            square of their sum, divided by the sum of their squares. It is `n` without weights.
        reason: Why there is no interval; empty if there is one.
    """

    value: float
    lower: float = math.nan
    upper: float = math.nan
    level: float
    method: str = ""
    n: int
    clusters: int | None = None
    effective: float
    reason: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """The lower and the upper end of the interval."""
        return self.lower, self.upper


def estimate_run(value: float, level: float, lists: int) -> Estimate:
    """Return the estimate of a measure of all lists together, which has no interval."""
    return Estimate(
        value=value,
        level=level,
        n=lists,
        effective=lists,
        reason="it is one value of all lists, and resampled users show fewer different items",
    )


def read_estimate(row: Row, level: float, *, is_clustered: bool) -> Estimate:
    """Return the estimate that the core computed."""
    (value, lower, upper), (method, reason), (count, units, effective) = row
    kind = "clusters" if is_clustered else "queries"
    return Estimate(
        value=value,
        lower=lower,
        upper=upper,
        level=level,
        method=method,
        n=count,
        clusters=units if is_clustered else None,
        effective=effective,
        reason=REASONS[reason].format(units=kind, count=units) if reason else "",
    )


LEAST_EFFECTIVE = 0.8
"""Weights are noted if the effective sample size is a smaller share of the queries."""


def describe_intervals(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return a line with the level, the method and the clusters, and a line for each limitation."""
    if not estimates:
        return []
    methods: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        if estimate.reason:
            reasons.setdefault(estimate.reason, []).append(name)
        else:
            methods.setdefault(METHODS[estimate.method], []).append(name)
    level = next(iter(estimates.values())).level
    is_one = len(methods) == 1 and not reasons
    parts = [
        method if is_one else f"{method} ({', '.join(names)})" for method, names in methods.items()
    ]
    line = f"intervals: {100 * level:g}%, {'; '.join(parts)}{_count_clusters(estimates)}"
    return [
        *([line] if parts else []),
        *(f"no interval of {', '.join(names)}: {reason}" for reason, names in reasons.items()),
        *_note_weights(estimates),
    ]


def _count_clusters(estimates: Mapping[str, Estimate]) -> str:
    counts = {of.clusters for of in estimates.values() if of.clusters is not None}
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    if low == high:
        return f", over {low:,} cluster{'s' * (low != 1)}"
    return f", over {low:,} to {high:,} clusters"


def _note_weights(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return a line if a few queries have most of the weight."""
    uneven = [of for of in estimates.values() if of.effective < LEAST_EFFECTIVE * of.n]
    if not uneven:
        return []
    worst = min(uneven, key=lambda of: of.effective / of.n)
    alike = f"{worst.effective:,.1f} with equal weights"
    return [f"weights: {worst.n:,} weighted queries count as much as {alike}"]


SHORT = 2
"""The most lines of small print below what `print` shows."""
MOST_CODES = 3
"""Kinds of notes that are named in one line; others are counted."""
ATTRIBUTE = ".small_print"
PRINTED = f"{ATTRIBUTE}, --small-print"
"""Where small print is, the second for results that a command prints like this."""


def shorten(
    lines: Sequence[str],
    notes: Mapping[str, int] | None = None,
    room: int = SHORT,
    width: int | None = None,
    where: str = ATTRIBUTE,
) -> tuple[str, ...]:
    """Return small print in a few lines and grave notes; the last one says where all of it is.

    Args:
        lines: All of it.
        notes: The count of each code of the notes in it, which are named even if they are left out.
        room: The most lines beside grave notes.
        width: The longest line (default: any).
        where: Where all of it is.

    Examples:
        >>> shorten(["policy: ties=average", "intervals: 95%, dense"])
        ('policy: ties=average', 'intervals: 95%, dense')
        >>> shorten(["policy: ties=average", "intervals: 95%", "note: …"], {"tied_scores": 3})[1]
        'Notes: tied_scores (3). 2 more lines: .small_print'
        >>> shorten(["policy: …", "intervals: …", "ranks: …", "note: … [n_missing]"])
        ('policy: …', 'note: … [n_missing]', '2 more lines: .small_print')
    """
    grave = list_grave(lines)
    others = [line for line in lines if line not in grave]
    is_short = width is None or all(len(line) <= width for line in others)
    if len(others) <= room and is_short:
        return tuple(lines)
    kept = [line for line in others[: max(room - 1, 0)] if width is None or len(line) <= width]
    kept += grave
    left = len(lines) - len(kept)
    what = f"{left} {'more ' if kept else ''}line{'s' * (left != 1)}"
    if not kept and not notes:
        what += " of small print"
    return (*kept, point_to(what, notes or {}, width, where=where))


def list_grave(lines: Sequence[str]) -> list[str]:
    """Return the lines that are grave notes."""
    return [line for line in lines if line.endswith(tuple(f"[{code}]" for code in GRAVE))]


def point_to(
    what: str, notes: Mapping[str, int], width: int | None = None, *, where: str = PRINTED
) -> str:
    """Return where all of the small print is, with as many codes of notes as the line has room for.

    None of them is left out in silence, and grave ones are printed above.
    """
    whole = f"{what}: {where}"
    codes = [f"{code} ({count:,})" for code, count in notes.items() if code not in GRAVE]
    if not codes:
        return whole
    for named in range(min(MOST_CODES, len(codes)), 0, -1):
        left = len(codes) - named
        line = f"Notes: {', '.join(codes[:named])}{f' and {left} more' if left else ''}. {whole}"
        if width is None or len(line) <= width:
            return line
    return f"Notes: {len(codes)} kind{'s' * (len(codes) != 1)}. {whole}"
