"""Histories, attributes and catalogues in the shapes that people have them."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope

from tests.cli.command import run

PAIRS = [(user, 1 + (user * step) % 30) for user in range(1, 25) for step in (1, 2, 3, 5)]
PAIRS = [*dict.fromkeys(PAIRS)]
HISTORY = pd.DataFrame(PAIRS, columns=["userId", "movieId"])
RATINGS = HISTORY.assign(rating=3.5, timestamp=964982703)
GENRES = {
    1 + n: [["Action", "Drama"][n % 2], ["Comedy", "War", "Film-Noir"][n % 3]] for n in range(30)
}
MOVIES = pd.DataFrame(
    {
        "movieId": [*GENRES],
        "title": [f"Film {movie} (1995)" for movie in GENRES],
        "genres": ["|".join(genres) for genres in GENRES.values()],
    }
)
LISTS = {user: [1 + (user * 7 + at) % 30 for at in range(5)] for user in range(1, 25)}
RELEVANT = {user: items[2:3] for user, items in LISTS.items()}


def evaluate(measure, **known):
    return rankscope.evaluate(RELEVANT, LISTS, measure, **known)


def test_a_history_has_many_shapes(tmp_path):
    RATINGS.to_csv(tmp_path / "ratings.csv", index=False)
    RATINGS.to_parquet(tmp_path / "ratings.parquet")
    by_user = HISTORY.groupby("userId")["movieId"]
    expected = evaluate("Novelty@5", history=HISTORY)["Novelty@5"]
    for history in (
        RATINGS,
        RATINGS.iloc[::-1],
        pd.concat([RATINGS] * 2),
        pl.from_pandas(RATINGS),
        pa.Table.from_pandas(RATINGS),
        tmp_path / "ratings.csv",
        tmp_path / "ratings.parquet",
        rankscope.File(tmp_path / "ratings.csv", columns={"query": "userId", "doc": "movieId"}),
        PAIRS,
        iter(PAIRS),
        [list(pair) for pair in PAIRS],
        HISTORY.to_numpy(),
        HISTORY.to_dict("records"),
        HISTORY.to_dict("list"),
        {user: set(items) for user, items in by_user},
        {user: dict.fromkeys(items, 3) for user, items in by_user},
        {user: items.to_numpy() for user, items in by_user},
        by_user.apply(list),
        [(user, item, 1) for user, item in PAIRS],
    ):
        assert evaluate("Novelty@5", history=history)["Novelty@5"] == expected


@pytest.mark.parametrize("history", [[(1, 2), (1, 2, 3)], [(1, 2), 7], [{"a": 1}, 7]])
def test_pairs_that_are_none_are_refused(history):
    with pytest.raises(rankscope.errors.FormatError) as caught:
        evaluate("Novelty", history=history)
    assert caught.value.line == 2


def test_a_catalogue_has_many_shapes(tmp_path):
    offered = range(1, 41)
    lines = "".join(f"{item}\n" for item in offered)
    (tmp_path / "items.txt").write_text(lines)
    (tmp_path / "items.txt.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "named.txt").write_text("item_id\n\n" + lines, encoding="utf-8-sig")
    (tmp_path / "items.csv").write_text("movieId\n" + lines)
    expected = evaluate("Coverage@5", catalogue=[*offered])["Coverage@5"]
    assert expected == 30 / 40
    for catalogue in (
        offered,
        {*offered},
        iter(offered),
        dict.fromkeys(offered),
        dict.fromkeys(offered).keys(),
        dict(enumerate(offered)).values(),
        pd.Series(offered),
        pd.Index(offered),
        pl.Series([*offered]),
        np.arange(1, 41),
        np.array([str(item) for item in offered]),
        [{"movieId": item} for item in offered],
        pd.DataFrame({"movieId": offered, "name": offered}),
        tuple(offered),
        tmp_path / "items.txt",
        tmp_path / "items.txt.gz",
        tmp_path / "named.txt",
        tmp_path / "items.csv",
    ):
        assert evaluate("Coverage@5", catalogue=catalogue)["Coverage@5"] == expected


@pytest.mark.parametrize(("text", "line"), [(b"a\nb c\n", 2), (b"a\n\xff\n", None)])
def test_a_line_of_a_catalogue_is_one_id(tmp_path, text, line):
    (tmp_path / "items.txt").write_bytes(text)
    with pytest.raises(rankscope.errors.FormatError) as caught:
        evaluate("Coverage", catalogue=tmp_path / "items.txt")
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "items.txt"), line)


def test_attributes_have_many_shapes(tmp_path):
    genres = MOVIES[["movieId", "genres"]]
    flags = genres.genres.str.get_dummies().assign(movieId=genres.movieId)
    MOVIES.to_csv(tmp_path / "movies.csv", index=False)
    expected = evaluate("ILD(distance='jaccard')@5", items=GENRES)
    for items in (
        genres,
        genres.assign(genres=genres.genres.str.split("|")),
        genres.assign(genres=genres.genres.str.split("|")).explode("genres"),
        genres.to_dict("records"),
        genres.to_dict("list"),
        dict(zip(genres.movieId, genres.genres, strict=True)),
        genres.iloc[::-1],
        genres.astype({"genres": "category"}),
        pl.from_pandas(genres),
        pa.table({"movieId": [*GENRES], "genres": [*GENRES.values()]}),
        MOVIES,
        tmp_path / "movies.csv",
        flags,
        MOVIES[["movieId", "title"]].merge(flags),
    ):
        found = evaluate("ILD(distance='jaccard')@5", items=items)
        assert dict(found) == dict(expected)


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.string_view())])
def test_values_below_null_are_no_categories(kind):
    ends, is_null = pa.array([0, 2, 4, 5], pa.int32()), pa.array([False, True, False])
    genres = pa.ListArray.from_arrays(ends, pa.array([*"abaca"]), mask=is_null)
    table = pa.table({"item_id": [1, 2, 3], "genre": genres.cast(kind)})
    known = rankscope.read_items({1: ["a", "b"], 2: None, 3: ["a"]})
    assert [each.tolist() for each in rankscope.read_items(table).parts[-1]] == [
        each.tolist() if hasattr(each, "tolist") else each for each in known.parts[-1]
    ]


def test_what_was_made_of_texts_is_noted():
    found = evaluate("ILD@5", items=MOVIES)
    noted = {note.code: note for note in found.notes if note.file == "items"}
    assert noted["item_names"].sentence.startswith("the column title has a different text")
    assert noted["categories_split"].count == len(MOVIES)
    titles = evaluate("ILD@5", items=MOVIES[["movieId", "title"]])
    assert titles["ILD@5"] == 1
    assert titles.diagnostics["item_names_alone"] == len(MOVIES)
    assert not {*evaluate("Coverage@5", items=MOVIES).diagnostics} & {*noted}
    lists = evaluate("ILD@5", items=GENRES)
    assert not {"categories_split", "item_names", "item_names_alone"} & {*lists.diagnostics}
    known = rankscope.read_items(MOVIES)
    assert evaluate("ILD@5", items=known).notes == found.notes


def test_a_printed_list_is_no_category():
    genres = MOVIES[["movieId", "genres"]]
    printed = genres.assign(genres=genres.genres.str.split("|").map(str))
    with pytest.raises(rankscope.errors.FormatError, match="the text of a list") as caught:
        evaluate("ILD", items=printed)
    assert "table['genres'].map(ast.literal_eval)" in str(caught.value.hint)


@pytest.mark.parametrize("sign", [", ", " "])
def test_only_a_bar_separates_categories(sign):
    genres = MOVIES.genres.str.replace("|", sign)
    for items in (dict(zip(MOVIES.movieId, genres, strict=True)), MOVIES.assign(genres=genres)):
        known = rankscope.read_items(items)
        assert max(known.parts[-1][-1]) + 1 == genres.nunique()


@pytest.mark.parametrize("history", [{}, HISTORY.head(0), [], b""])
def test_an_empty_history_is_an_error(history):
    with pytest.raises(rankscope.errors.EmptyError, match="expected interactions"):
        evaluate("Novelty", history=history)


@pytest.mark.parametrize(
    ("name", "line", "role", "hint"),
    [
        ("ratings.dat", "1::1193::5::978300760", "history", "sep='::', engine='python'"),
        ("u.data", "196\t242\t3\t881250949", "history", r"sep='\t'"),
        ("movies.dat", "1::Toy Story (1995)::Animation|Comedy", "items", "sep='::'"),
        ("u.item", "1|Toy Story (1995)|01-Jan-1995||0|1", "items", "header=None"),
    ],
)
def test_files_without_names_of_columns_say_how_to_read_them(tmp_path, name, line, role, hint):
    path = tmp_path / name
    path.write_text(f"{line}\n", encoding="utf-8")
    measure = "Novelty" if role == "history" else "ILD"
    with pytest.raises(rankscope.errors.FormatError, match="names the columns") as caught:
        evaluate(measure, **{role: path})
    assert f"pass {role}=pandas.read_csv(path, sep=" in str(caught.value.hint)
    assert hint in str(caught.value.hint)


def test_unknown_names_of_columns_are_named(tmp_path):
    path = tmp_path / "plays.csv"
    HISTORY.set_axis(["listener", "song"], axis=1).to_csv(path, index=False)
    with pytest.raises(rankscope.errors.FormatError, match="found listener, song") as caught:
        evaluate("Novelty", history=path)
    assert "columns={'query': 'listener', 'doc': 'song'}" in str(caught.value.hint)
    assert "--col query=listener --col doc=song" in str(caught.value.hint)
    named = rankscope.File(path, columns={"query": "listener", "doc": "song"})
    expected = evaluate("Novelty", history=HISTORY)["Novelty"]
    assert evaluate("Novelty", history=named)["Novelty"] == expected


def test_ratings_without_names_of_columns_are_no_judgments(tmp_path):
    # Read as TREC text, they would judge the document `3`, with the time as its grade.
    path, run = tmp_path / "u1.test", {"196": ["3", "242"]}
    path.write_text("196\t242\t3\t881250949\n", encoding="utf-8")
    with pytest.raises(rankscope.errors.FormatError, match="names the columns") as caught:
        rankscope.evaluate(path, run, "nDCG")
    assert "qrels=pandas.read_csv(path, sep='\\t', header=None" in str(caught.value.hint)
    names = ["user_id", "item_id", "rating", "timestamp"]
    frame = pd.read_csv(path, sep="\t", names=names)
    assert rankscope.evaluate(frame, run, "RR")["RR"] == 0.5
    for text in ("196\t0\t3\t881250949\n", "196\t1\t3\t2\n", "196 0 a::b|c|d|e 1\n"):
        path.write_text(text, encoding="utf-8")
        assert rankscope.evaluate(path, {"196": [text.split()[2]]}, "RR")["RR"] == 1


@pytest.mark.parametrize("measure", ["AWRF", "ILD", "ILD(distance='jaccard')"])
def test_a_single_number_for_each_item_is_no_group(measure, tmp_path):
    # As proportions of one group, 0 and 1 would be the same, and the value always 1 or 0.
    lists = {"u": ["1", "2"]}
    codes = pd.DataFrame({"item_id": ["1", "2"], "group": [0, 1]})
    codes.to_csv(tmp_path / "items.csv", index=False)
    for items in (codes, tmp_path / "items.csv", {"1": [0], "2": [1]}):
        with pytest.raises(rankscope.errors.MeasureError, match="a single number") as caught:
            rankscope.evaluate(lists, lists, measure, items=items)
        assert "as text" in str(caught.value.hint)
    words = codes.assign(group=["c0", "c1"])
    rankscope.evaluate(lists, lists, measure, items=words)
    euclidean = "ILD(distance='euclidean')"
    assert rankscope.evaluate(lists, lists, euclidean, items=codes)[euclidean] == 1


def test_a_history_is_no_table_of_items():
    with pytest.raises(rankscope.errors.FormatError, match="a column of users, 'userId'") as caught:
        rankscope.read_items(HISTORY)
    assert "history=" in str(caught.value.hint)
    by_index = rankscope.read_items(MOVIES.set_index("movieId")[["genres"]])
    assert str(by_index) == str(rankscope.read_items(MOVIES[["movieId", "genres"]]))


def test_the_command_reads_lines_of_items(tmp_path):
    (tmp_path / "items.txt").write_text("".join(f"{item}\n" for item in range(1, 41)))
    rows = [(user, item, at) for user, items in LISTS.items() for at, item in enumerate(items, 1)]
    lists = pd.DataFrame(rows, columns=["userId", "movieId", "rank"])
    lists.to_csv(tmp_path / "lists.csv", index=False)
    lists[["userId", "movieId"]].to_csv(tmp_path / "test.csv", index=False)
    paths = [str(tmp_path / name) for name in ("test.csv", "lists.csv", "items.txt")]
    done = run("eval", *paths[:2], "-m", "Coverage@5", "--catalogue", paths[2])
    assert done.stdout == b"Coverage@5\t0.7500\n", done.stderr
