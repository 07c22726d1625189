"""What the readers return is what frozen.toml says, which is changed by hand only.

A test that fails prints the lines that the file would need. Decide first whether they are right.
"""

from __future__ import annotations

import io
import json
import re
import tomllib
from collections import defaultdict
from contextlib import suppress
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs
from pyarrow import feather

from tests.inputs.carriers import PACKINGS
from tests.inputs.entry import nested
from tests.inputs.tabled import WRITERS
from tests.inputs.test_forms import to_records as make_records
from tests.inputs.test_kinds import RUNS, SEVERAL, read_example, write_files

FROZEN = tomllib.loads(Path(__file__).with_name("frozen.toml").read_text(encoding="utf-8"))
QRELS = {
    "query_id": ["q2", "q2", "q2", "q10", "q10", "q1", "q1"],
    "doc_id": ["d3", "d1", "d2", "d1", "d2", "d4", "d5"],
    "relevance": [-1, 2, 0, 1, 0, 1, 3],
}
RUN = {
    "query_id": ["q2", "q2", "q2", "q2", "q10", "q10", "q1"],
    "doc_id": ["d3", "d1", "d2", "d9", "d1", "d2", "d4"],
    # With 32 bits, the scores of q10 would be one, and d2 the first.
    "score": [2.0, 1.0, 1.0, 0.5, 0.10000000000000002, 0.1, -7.5],
}
PLAIN = {
    "query_id": ["q2", "q2", "q1"],
    "doc_id": ["d1", "d2", "d1"],
    "relevance": [0, 1, 3],
    "score": [2.5, 0.5, 1.5],
}
NUMBERS = {"text": "x", "nan": float("nan"), "infinite": float("inf"), "missing": None}
ERRORS = {  # other columns than those of PLAIN, or none
    **{f"score {kind}": {"score": [2.5, 0.5, value]} for kind, value in NUMBERS.items()},
    **{f"grade {kind}": {"relevance": [0, 1, value]} for kind, value in NUMBERS.items()},
    "document missing": {"doc_id": ["d1", "d2", None]},
    "query missing": {"query_id": ["q2", "q2", None]},
    "document twice": {"doc_id": ["d1", "d1", "d1"]},
    "query comes back": {"query_id": ["q2", "q1", "q2"], "doc_id": ["d1", "d1", "d2"]},
    "no rows": {name: [] for name in PLAIN},
    "no column of documents": {"doc_id": None},
    "no column of scores": {"score": None},
    "no column of grades": {"relevance": None},
    "two columns of documents": {"item_id": ["d1", "d2", "d1"]},
}
CUTS = {
    "empty file": lambda _: b"",
    "file cut at the end": lambda text: text[:-6],
    "file cut in the middle": lambda text: text[: len(text) // 2],
}
ABSENT = {"qrels": "score", "run": "relevance", "table": ""}  # the column that a role lacks


def drop(columns, name):
    return {other: cells for other, cells in columns.items() if other != name}


def has_ids_of(columns, test=lambda _: True):
    """Whether all IDs are text that the test accepts, or missing."""
    ids = [cell for name in columns if name.endswith("_id") for cell in columns[name]]
    return all(cell is None or (isinstance(cell, str) and test(cell)) for cell in ids)


def make_rows(columns):
    is_triple = [*columns][:2] == ["query_id", "doc_id"] and len(columns) == 3
    return [*zip(*columns.values(), strict=True)] if is_triple else None


def make_dict(columns):
    rows = make_rows(columns)
    return None if rows is None else nested(rows)


def write_typed(columns, form):
    """Return columns of one type each, which is text where there are several."""
    arrays = {}
    for name, cells in columns.items():
        try:
            arrays[name] = pa.array(cells, pa.uint64() if 2**63 + 1 in cells else None)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            arrays[name] = pa.array([None if cell is None else str(cell) for cell in cells])
    if form != "Arrow file":
        return WRITERS[form](arrays)
    feather.write_feather(pa.table(arrays), text := io.BytesIO())
    return rs.File(text.getvalue())


def write_lines(columns, **patterns):
    """Write rows by the pattern for their number, with nothing where a cell is missing."""
    pattern = patterns.get([*columns][-1], "")
    if not (pattern and len(columns) < 4 and has_ids_of(columns, lambda id_: id_.split() == [id_])):
        return None
    rows = [{k: v for k, v in row.items() if v is not None} for row in make_records(columns)]
    return rs.File("".join(pattern.format_map(defaultdict(str, row)) for row in rows).encode())


# A form takes columns, and returns what is passed, or None for what it can't hold.
FORMS = {  # files by the ends of their names
    "dict": make_dict,
    "rows": make_rows,
    "records": make_records,
    "columns": dict,
    "pandas": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas-str": lambda columns: pd.DataFrame(columns) if has_ids_of(columns) else None,
    "polars": partial(write_typed, form="polars"),
    "pyarrow": partial(write_typed, form="Arrow"),
    "parquet": partial(write_typed, form="Parquet"),
    "ipc": partial(write_typed, form="Arrow stream"),
    "arrow": partial(write_typed, form="Arrow file"),
    "csv": lambda columns: WRITERS["CSV"](columns) if has_ids_of(columns) else None,
    "tsv": lambda columns: WRITERS["TSV"](columns) if has_ids_of(columns) else None,
    "jsonl": WRITERS["JSON lines"],
    "trec": partial(
        write_lines,
        relevance="{query_id} 0 {doc_id} {relevance}\n",
        score="{query_id} Q0 {doc_id} 1 {score} tag\n",
    ),
    "letor": partial(write_lines, relevance="{relevance} qid:{query_id} 1:5 # docid = {doc_id}\n"),
}
FILES, TEXTS = [*FORMS][8:], [*FORMS][11:]
PACKED = [f"{form} {packing}" for form in TEXTS for packing in PACKINGS if packing != "file"]


def add_mark(text):
    """Add a byte-order mark, and a blank line after the first line."""
    return b"\xef\xbb\xbf" + text.replace(b"\n", b"\n\n", 1)


def make(form, columns, edit=bytes, cut=bytes):
    """Return columns in a form. Text is edited, packed and cut, and files are written."""
    ending, _, packing = form.partition(" ")
    made = FORMS[ending](columns)
    if not isinstance(made, rs.File):
        return made if cut is bytes else None
    text = edit(made.path) if ending in TEXTS else made.path
    Path(f"input.{ending}").write_bytes(cut(PACKINGS[packing or "file"](text)))
    return f"input.{ending}"


def show(role, inputs, show_values):
    """Return what comes of inputs: values and notes, or an error, with places."""

    def place(file, *numbers):
        name = re.sub(rf"^(input\.\w+|{role})(?=\[|$)", "input", file or "-")
        return ":".join([name, *(str(number or "-") for number in numbers)]).rstrip(":-")

    try:
        result = rs.evaluate(*inputs, measures=["nDCG@3", "AP", "RR", "P@2"])
        result = {"": result} if isinstance(result, rs.Evaluation) else result
        shown = [f"{name} {show_values(result[name])}" for name in result]
    except rs.errors.RankscopeError as error:
        where = place(error.file, error.line, error.column)
        return f"{type(error).__name__} {error.code} {where}".strip()
    for name in result:
        shown += [f"{n.code} {n.count} {place(n.file, n.line)}" for n in result[name].notes]
    return ", ".join(dict.fromkeys(text.strip() for text in shown))


def name_values(evaluation):
    """Return the name of the values in the file, and the order of the queries."""
    values = {q: [value.hex() for value in v.values()] for q, v in evaluation.to_dict().items()}
    names = [name for name, known in FROZEN["values"].items() if known == values]
    return " ".join([*(names or [json.dumps(values)]), *map(str, values)])


def show_rankings(inputs, evaluation):
    """Return the IDs of each ranking, and its average precision."""
    make_rankings = rs.Rankings.from_run if len(inputs) == 2 else rs.Rankings.from_table
    rankings = make_rankings(*inputs)
    values = evaluation.to_dict().items()
    shown = (
        (json.dumps([query, *rankings.doc_ids(query)]), value["AP"]) for query, value in values
    )
    return " ".join(f"{ids} {value:.4g}" for ids, value in shown)


def evaluate_forms(role):
    """Read judgments, a run or several runs in all forms of the page, and in files."""
    columns = QRELS if role == "qrels" else RUN
    *_, number = columns
    groups = pd.DataFrame(columns).groupby("query_id", sort=False).agg(list)
    lists = groups.reset_index().to_dict("list")
    items = [make_records(row) for row in groups.to_dict("records")]
    text = add_mark(FORMS["trec"](columns).path)
    names = {
        "columns": columns,
        "lists": lists,
        "objects": {"query_id": lists["query_id"], "items": items},
        "records": make_records(columns),
        "nested": make_dict(columns),
        "ranked": dict(zip(lists["query_id"], lists["doc_id"], strict=True)),
        "rows": make_rows(columns),
        "text": text,
        "pd": pd,
    }
    write_files(columns, text.decode())
    literals = ["nested", "ranked", "rows", "text"]
    examples = (
        SEVERAL if role == "runs" else [*literals, *(code for code in RUNS if "q1" not in code)]
    )
    outcomes = {}
    for form in [*examples, *([] if role == "runs" else [*FILES, *PACKED])]:
        with suppress(pytest.skip.Exception):  # for libraries that aren't installed
            if form in examples:
                given = read_example(form.replace('"score"', f'"{number}"'), names)
            elif (given := make(form, columns, add_mark)) is None:
                continue
            inputs = (given, make_dict(RUN)) if role == "qrels" else (make_dict(QRELS), given)
            outcomes[form, role] = show(role, inputs, name_values)
            if role == "runs":
                compared = rs.compare(inputs[0], inputs[1], "AP")
                outcomes[form, role] += ", compared " + " ".join(compared.runs)
    return outcomes


def evaluate_case(case):
    """Read an ID, or rows with an error, in all forms and roles."""
    kind, _, text = case.partition(" id ")
    changed = PLAIN | ERRORS.get(case, {})
    changed, plain = {name: cells for name, cells in changed.items() if cells is not None}, PLAIN
    if text:
        row = {"query_id": ["q"], "doc_id": ["d"], "relevance": [1], "score": [0.5]}
        changed = row | {f"{kind}_id": [json.loads(text)]}
        plain = row | {f"{kind}_id": [str(json.loads(text)) or "x"]}
    qrels, run = (make_dict(drop(plain, ABSENT[role])) for role in ("qrels", "run"))
    outcomes = {}
    for form in [*FORMS, *FILES, *(PACKED if case in CUTS else ())]:
        for role, absent in ABSENT.items():
            columns = drop(changed, absent)
            is_same = case in ERRORS and columns == drop(PLAIN, absent)
            given = None if is_same else make(form, columns, cut=CUTS.get(case, bytes))
            if given is not None:
                inputs = {"qrels": (given, run), "run": (qrels, given), "table": (given,)}[role]
                outcomes[form, role] = show(role, inputs, partial(show_rankings, inputs))
    return outcomes


def write_case(case, outcomes):
    """Return the lines of a case. A role is named where a form has several outcomes."""
    listed = {}
    for (form, role), outcome in outcomes.items():
        is_one = len({outcomes.get((form, other), outcome) for other in ABSENT}) == 1
        listed.setdefault(outcome, []).append(form if is_one else f"{form}/{role}")
    *rare, usual = sorted(listed, key=lambda outcome: len(listed[outcome]))
    lines = [f"'{outcome}' = {json.dumps([*dict.fromkeys(listed[outcome])])}" for outcome in rare]
    return "\n".join([f"['{case}']", *lines, f"'{usual}' = [\"others\"]\n"])


for plain_id in FROZEN.pop("ids")["plain"]:
    FROZEN[f"query id {plain_id}"] = {f'[{plain_id}, "d"] 1': ["others"]}
    FROZEN[f"doc id {plain_id}"] = {f'["q", {plain_id}] 1': ["others"]}
FORMS_OF = {f"forms of {role}": role for role in ("run", "qrels", "runs")}
CASES = dict.fromkeys([*FORMS_OF, *ERRORS, *CUTS, *FROZEN])


@pytest.mark.parametrize("case", [case for case in CASES if case != "values"])
def test_a_case_has_its_frozen_outcomes(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcomes = evaluate_forms(FORMS_OF[case]) if case in FORMS_OF else evaluate_case(case)
    frozen = {form: outcome for outcome, forms in FROZEN.get(case, {}).items() for form in forms}
    expected = {
        (form, role): frozen.get(f"{form}/{role}") or frozen.get(form) or frozen.get("others")
        for form, role in outcomes
    }
    assert outcomes == expected, "\n" + write_case(case, outcomes)
    unseen = {*frozen.values()} - {*outcomes.values()}
    assert case in FORMS_OF or not unseen  # of forms, some libraries may be missing
