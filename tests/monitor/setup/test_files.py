from __future__ import annotations

import json
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import FileError, FormatError
from rankscope.monitor.definition.configuration import BASELINES, BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.rules.kinds import DEFAULTS, Rule
from rankscope.monitor.setup.fields import describe_setup
from rankscope.monitor.setup.file import read_setup
from rankscope.monitor.setup.project import Project, write_project
from rankscope.monitor.setup.toml import write_setup

from tests.refusals import refuses

LEAST = """
[projects.music.definition]
window = "24h"
attribution.positive = { click = 1, buy = 5 }
"""
FULL = """
public_url = "https://rankscope.example.com"

[channels.oncall]
url = "${SLACK_URL}"
severity = "critical"

[projects.music]
attributes = ["device", "country"]
pairs = [["device", "country"]]
baseline = { kind = "period", since = 2026-09-01T00:00:00Z, until = 2026-09-08T00:00:00Z }

[projects.music.definition]
measures = ["nDCG@5"]
window = "24h"
attribution.positive = { click = 1, buy = 5 }

[projects.music.rules]
data = false

[projects.music.rules.quality]
measure = "nDCG@5"
slices = ["device"]
channels = ["oncall", "log"]

[projects.books]
baseline = "none"
definition = { window = "1h", attribution = { positive = { read = 1 } } }
"""


def read(folder, text):
    path = folder / "rankscope.toml"
    path.write_text(text, encoding="utf-8")
    return {each.name: each for each in read_setup(str(path)).projects}


def refuse(folder, text):
    with refuses(FormatError, "bad_setup") as refused:
        read(folder, text)
    assert refused.value.file == str(folder / "rankscope.toml")
    assert refused.value.hint
    return refused.value


def test_a_project_needs_its_labels_and_its_window_only(tmp_path):
    [project] = read(tmp_path, LEAST).values()
    music = define(positive={"click": 1, "buy": 5}, window="24h")
    assert project == Project("music", Configuration(definition=music), dict(DEFAULTS))


def test_a_file_says_all_of_its_projects(tmp_path):
    projects = read(tmp_path, FULL)
    music, books = projects["music"], projects["books"]
    assert music.configuration == Configuration(
        definition=define(measures=["nDCG@5"], positive={"click": 1, "buy": 5}, window="24h"),
        attributes=("device", "country"),
        pairs=(("device", "country"),),
        baseline=BaselineChoice(
            kind="period", since="2026-09-01T00:00:00Z", until="2026-09-08T00:00:00Z"
        ),
    )
    assert music.rules == {
        "early": DEFAULTS["early"],
        "quality": Rule(
            name="quality",
            measure="nDCG@5",
            slices=("device",),
            channels=("oncall", "log"),
        ),
    }
    assert books.configuration is not None
    assert books.configuration.baseline is None
    assert read_setup(str(tmp_path / "rankscope.toml")).channels == ("oncall",)


@pytest.mark.parametrize("word", BASELINES)
def test_a_baseline_is_a_word(word, tmp_path):
    [project] = read(tmp_path, f'[projects.music]\nbaseline = "{word}"\n{LEAST}').values()
    assert project.configuration is not None
    assert project.configuration.baseline == BASELINES[word]


MUSIC, RULES = f"{LEAST}[projects.music]\n", f"{LEAST}[projects.music.rules]\n"
RULE, ROLES = f"{LEAST}[projects.music.rules.a]\n", f"{LEAST}[projects.music.roles]\n"
WRONG = [
    ("[project.music]", 1, "project: unknown key 'project'", "did you mean projects?"),
    ("projects = 1", 1, "projects: expected tables such as [projects.music]", ""),
    ("[projects]\nmusic = 1", 2, "projects.music: expected", ""),
    (LEAST.replace("window", "windwo"), 3, "unknown key 'windwo'", "did you mean window?"),
    (LEAST.replace("positive", "postive"), 4, "unknown key 'postive'", "did you mean positive?"),
    (LEAST.replace("definition", "definitoin"), 2, "definitoin", "did you mean definition?"),
    (LEAST.replace('"24h"', '"24 hours"'), 3, "expected", ""),
    (LEAST.replace('"24h"', "true"), 3, "projects.music.definition.window: ", ""),
    (LEAST.replace('"24h"', "0"), 3, "projects.music.definition.window: ", ""),
    (LEAST.replace("click = 1", 'click = "1"'), 4, "positive.click: expected a valid number", ""),
    (LEAST.replace("click = 1", "click = nan"), 4, "projects.music.definition", ""),
    (LEAST.replace("click = 1", "click = inf"), 4, "projects.music.definition", ""),
    (LEAST.replace("{ click = 1, buy = 5 }", "{}"), 4, "positive", ""),
    (f'{LEAST}measures = ["nDCG@x"]', None, "nDCG", ""),
    (f'{LEAST}policy = {{ ties = "coin" }}', None, "ties", ""),
    (f'{MUSIC}baseline = "yesterday"', 6, "expected 'validation', 'training'", ""),
    (f"{MUSIC}most = 1_000_000", 6, "most", ""),
    (f'{MUSIC}pairs = [["a", "b"]]', None, "pairs", ""),
    (f'{RULE}measure = "nDCG@7"', 6, "rules.a.measure: expected one", ""),
    (f"{RULE}tolerance = 1", 5, "rules.a.measure: it is missing", ""),
    (f'{RULE}measrue = "nDCG@5"', 6, "'measrue'", "did you mean measure?"),
    (f'{RULE}kind = "dropp"', 6, "kind: expected drop or limit", ""),
    (f'{RULE}kind = "data"\nmeasure = "x"', 7, "measure: ", ""),
    (f'{RULE}name = "b"\nmeasure = "nDCG@5"', 6, "name: expected none", ""),
    (f"{RULES}a = false", 6, "expected the fields of a rule", "only data"),
    (f"{RULES}a = true", 6, "expected the fields of a rule, found True", ""),
    (f"{MUSIC}rules = []", 6, "rules", ""),
    (f'{LEAST}[projects.music.rules."a/b"]\nmeasure = "nDCG@5"', 5, "name: expected", ""),
    (f'{LEAST}[projects."a\\u0000"]\nmost = 1', None, "projects", ""),
    (f"{RULE}measure = 2026-09-10", None, "measure", ""),
    (f'{LEAST}[projects.""]\nmost = 1', None, "projects", ""),
    (f'{MUSIC}measures = ["nDCG@5"]', 6, "'measures' belongs to another table", "definition]"),
    (LEAST.replace('window = "24h"', ""), 2, "window: it is missing", "write window = … below"),
    (f'{MUSIC}retention = "23h"', 6, "music.retention: expected 24h or more, found 23h", ""),
    (f'{MUSIC}retention = "soon"', 6, "music.retention: ", ""),
    (f"{MUSIC}retention = -1", 6, "music.retention: ", ""),
    (f'{MUSIC}retention_days = "90d"', 6, "unknown key 'retention_days'", ""),
    (f'{MUSIC}webhook = "ftp://a.example.com"', 6, "music.webhook: ", ""),
    (f'{MUSIC}webhook = "http://a.example.com"', 6, "music.webhook: ", ""),
    (f"{MUSIC}webhook = true", 6, "music.webhook: ", ""),
    (f'{MUSIC}webhook = {{ url = "https://a", secret = "x" }}', 6, "music.webhook: ", ""),
    (f'{ROLES}viewer = ["ann"]', 5, "expected an email address", ""),
    (f'{ROLES}viewer = ["group:"]', 5, "expected a group", ""),
    (f'{ROLES}viewer = "ann@example.com"', 6, "viewer", ""),
    (f'{ROLES}chief = ["ann@example.com"]', 6, "unknown key", ""),
    (f'{ROLES}viewer = ["a@b.c"]\nadmin = ["A@b.c"]', 5, "has the roles viewer and admin", ""),
]


@pytest.mark.parametrize(("text", "line", "said", "hint"), WRONG)
def test_what_is_wrong_is_named_with_its_line(text, line, said, hint, tmp_path):
    error = refuse(tmp_path, text)
    assert said in error.message
    assert hint in error.hint
    assert line is None or error.line == line


HOSTILE = [
    "[projects.music",
    "a = " + "[" * 10_000,
    "[projects." + "a." * 200 + "b]",
    "a = " + "9" * 5000,
    "[projects.music]\nmost = 0xffffffffffffffffffff",
    "[projects.music]\nmost = 1\nmost = 2",
    "\x00",
    '[projects."\\ud800"]',
    "[projects.music.definition.attribution.positive]\n" + "\n".join(f"l{n}=1" for n in range(9)),
    "[[projects]]",
    "[[projects.music]]",
    "[channels]\na = 1\n[projects.music]",
    "projects.music.rules.data.kind.x = 1",
    'projects = { music = { definition = "x" } }',
    "projects.music.definition.attribution = 5",
    "projects.music.definition.policy = []",
    '[projects.music.rules]\nx = { kind = ["drop"] }',
    "[projects.music.rules]\nx = { kind = {} }",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_file_is_refused(text, tmp_path):
    assert len(str(refuse(tmp_path, text))) < 2000


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    path = tmp_path / "x.toml"
    for raw in (b"\xff\xfe[\x00p", b"a = 1" * 100_000):
        path.write_bytes(raw)
        with pytest.raises(FormatError):
            read_setup(str(path))
    for path in (str(tmp_path / "none.toml"), "a\0b", str(tmp_path / "none")):
        with pytest.raises(FileError):
            read_setup(path)


def test_a_folder_has_a_file_for_each_team(tmp_path):
    (tmp_path / "a.toml").write_text('[channels.oncall]\nurl = "${URL}"\n')
    (tmp_path / "music.toml").write_text(LEAST)
    (tmp_path / "books.toml").write_text(LEAST.replace("music", "books"))
    (tmp_path / "README.md").write_text("no TOML")
    setup = read_setup(str(tmp_path))
    assert [each.name for each in setup.projects] == ["books", "music"]
    assert setup.channels == ("oncall",)


@pytest.mark.parametrize(
    ("text", "said"),
    [(LEAST, "the project 'music' is in"), ("[channels.a]\nurl = '${B}'", "the channel 'a' is in")],
)
def test_two_files_say_nothing_twice(text, said, tmp_path):
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text(text)
    with pytest.raises(FormatError) as refused:
        read_setup(str(tmp_path))
    assert said in refused.value.message
    assert refused.value.file == str(tmp_path / "two.toml")


def test_a_rule_names_channels_that_the_files_define(tmp_path):
    error = refuse(tmp_path, FULL.replace('["oncall", "log"]', '["onccall"]'))
    assert "unknown channel 'onccall'" in error.message
    assert error.hint.startswith("did you mean oncall?")
    assert error.line == FULL.splitlines().index('channels = ["oncall", "log"]') + 1
    # Without channels in the files, those of the service aren't known.
    defined = FULL[: FULL.index("[channels")] + FULL[FULL.index("[projects.music]") :]
    assert read(tmp_path, defined)["music"].rules["quality"].channels == ("oncall", "log")


PLAIN = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            f'[channels.a]\nwebhook = "https://y/"\nsecret = "{PLAIN}"{LEAST}',
            3,
            "channels.a.secret: expected a variable",
        ),
        (f'{MUSIC}webhook = "https://user:{PLAIN}@a.example.com"', 6, "music.webhook: "),
    ],
)
def test_a_secret_in_plain_text_is_refused_and_not_shown(tmp_path, text, line, said):
    error = refuse(tmp_path, text)
    assert said in error.message
    assert error.line == line
    assert PLAIN not in str(error)


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
WORDS = st.lists(
    st.sampled_from(["device", "a b", 'q"', "ü", "\u202e", "😀\U000e0001"]), unique=True
)
RULES = st.sampled_from(
    [
        {},
        {"data": DEFAULTS["data"].replace(severity="critical")},
        {"q": Rule(name="q", measure="nDCG@5", tolerance=0.05, is_relative=True)},
        {"q": Rule(name="q", measure="nDCG@5", channels=(), model="")},
        {"a b": Rule(name="a b", measure="empty", kind="limit", above=0.25, rankings=100)},
        {"early": DEFAULTS["early"].replace(severity="warning", false_warnings=0.5)},
        {"d": Rule(name="d", kind="data", watches=("labels",))},
    ]
)
CONFIGURATIONS = st.builds(
    lambda positive, window, words, grace, most, baseline: Configuration(
        definition=define(measures=["nDCG@5"], positive=positive, window=window),
        attributes=tuple(words),
        pairs=() if len(words) == 1 else None,
        most=most,
        baseline=baseline,
        grace=grace,
    ),
    st.dictionaries(NAMES, st.floats(0.001, 1e6), min_size=1, max_size=4),
    st.integers(901, 10**6),  # longer than the ages of early values
    WORDS,
    st.sampled_from(["1h", "90s", "2d"]),
    st.integers(1, 250),
    st.sampled_from(
        [
            *BASELINES.values(),
            BaselineChoice(model="m", version='3"'),
            BaselineChoice(
                kind="period", since="2026-09-01T00:00:00Z", until="2026-09-02T00:00:00Z"
            ),
        ]
    ),
)


@given(
    CONFIGURATIONS,
    RULES,
    NAMES.filter(lambda name: name.isprintable() and name == name.strip()),
)
def test_what_is_written_is_read_again(configuration, rules, name):
    project = Project(name, configuration, rules)
    text = write_setup([project])
    tables = tomllib.loads(text)
    said = tables["projects"][name]
    assert said == json.loads(json.dumps(write_project(project)))
    jsonschema.validate(tables, describe_setup())
    with TemporaryDirectory() as folder:
        path = Path(folder, "rankscope.toml")
        path.write_text(text, encoding="utf-8")
        assert read_setup(str(path)).projects == (project,)


def test_the_schema_knows_what_the_reader_knows(tmp_path):
    schema = describe_setup()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    tables = json.loads(json.dumps(tomllib.loads(FULL), default=lambda each: each.isoformat()))
    validator.validate(tables)
    misspelled = [text for text, _, said, _ in WRONG if "unknown key" in said]
    assert len(misspelled) >= 3
    for text in misspelled:
        assert not validator.is_valid(tomllib.loads(text))
        refuse(tmp_path, text)
