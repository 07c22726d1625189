"""Every command with hostile arguments and files ends as promised; its parser gives the cases.

The statuses are 0 (done), 1 (a check failed), 2 (usage), 3 (input) and 4 (the operating system).
What fails says why in two lines, prints nothing else, and leaves no file behind.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from typing import NamedTuple

import pytest
from rankscope._cli import read_options
from rankscope.errors import UsageError

from tests.cli.monitored import CONFIGURED, make_events, write_lines
from tests.cli.test_setup import FILE as SETUP
from tests.hostile.commands import list_commands, takes_value
from tests.hostile.examples import EXAMPLES
from tests.program import start_program

COMMANDS = {command.name: command for command in list_commands()}
STRIDE = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 16
"""Every sixteenth case is run; HYPOTHESIS_PROFILE=thorough runs all of them."""
STORED = ("events.db",)
"""What the files of a store begin with; a writer keeps some beside it."""
TELLING = ("monitor ingest", "monitor label", "demo")
"""These print what they have done before an error."""
MAKING = ("serve",)
"""These make a store where there is none, before they fail to use it."""
WHOLE_EVENTS = ("monitor ingest", "monitor label")
"""These end with 3 where events were refused, and list them."""
LONGEST_ERROR = 2_000

NUMBERS = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "0",
    "1e-999",
    "9" * 30,
    "9" * 5000,
    "x",
    "\0",
    "\udc80",
)
TEXTS = ("", "\0", "\udc80", "x" * 100_000, "=", "=1", ",", "[" * 1000, "\n\u202e\x1b[31m", "-")
PATHS = (
    "missing",
    "missing/below",
    "folder",
    "empty",
    "binary",
    "empty/below",
    "loop",
    "y" * 300,
    "/proc/self/mem",
    "/dev/null",
    "PIPE",
)
FILE_NAMES = {"FILE", "LOG", "FOLDER"}
"""What the help calls options that are paths."""


class Case(NamedTuple):
    """A call, and what is hostile about it."""

    said: str
    words: list[str]


class Place:
    """A new folder with files and a store for each call, and the program in it."""

    def __init__(self, folder):
        self.folder = folder / "work"
        self.template = folder / "template"
        self.folder.mkdir()
        self.template.mkdir()
        self.busy = socket.create_server(("", 0))
        self.names = {"BUSY": str(self.busy.getsockname()[1])}
        self._fill()

    def close(self):
        self.busy.close()

    def _fill(self):
        files = {
            "QRELS": ("qrels", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n"),
            "RUN": ("run", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.25 t\nq2 Q0 d1 1 0.5 t\n"),
            "OTHER": ("other", "q1 Q0 d2 1 0.5 t\nq1 Q0 d1 2 0.25 t\n"),
            "GRADES": ("grades.csv", "query_id,doc_id,ann,bob\nq1,d1,1,1\nq1,d2,0,1\nq2,d1,0,0\n"),
            "SETUP": ("rankscope.toml", SETUP),
        }
        for name, (path, text) in files.items():
            (self.template / path).write_text(text, encoding="utf-8")
            self.names[name] = path
        events = make_events()
        write_lines(self.template / "rankings.jsonl", events["rankings"])
        write_lines(self.template / "labels.jsonl", events["labels"])
        self.names |= {"RANKINGS": "rankings.jsonl", "LABELS": "labels.jsonl", "STORE": "events.db"}
        (self.template / "folder").mkdir()
        (self.template / "empty").touch()
        (self.template / "binary").write_bytes(bytes(range(256)) * 16)
        (self.template / "loop").symlink_to("loop")
        self.reset()
        for words in (
            ["configure", "events.db", *CONFIGURED],
            ["ingest", "events.db", "rankings.jsonl"],
            ["label", "events.db", "labels.jsonl"],
            ["evaluate", "events.db", "--as-of", "2026-09-10"],
            ["rule", "add", "events.db", "quality", "--measure", "nDCG@5"],
            ["key", "make", "events.db", "ann", "--scope", "admin"],
        ):
            done = self.start("monitor", *words)
            assert done.returncode == 0, done
        made = self.start(
            "monitor", "key", "make", "events.db", "reader", "--scope", "read", "--json"
        )
        self.names["KEY"] = json.loads(made.stdout)["key_id"]
        for path in self.folder.glob("events.db*"):
            shutil.copy(path, self.template)

    def reset(self):
        """Make the folder what it was."""
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        shutil.copytree(self.template, self.folder, symlinks=True, dirs_exist_ok=True)

    def list_files(self):
        """List the files, but for those of the store."""
        return {path.name for path in self.folder.iterdir() if not path.name.startswith(STORED)}

    def start(self, *words):
        """Run the program in the folder as it is."""
        return start_program().run(*words, folder=str(self.folder))

    def run(self, words):
        """Run the program in a new folder; PIPE is a pipe whose writer writes nothing."""
        self.reset()
        if not any("PIPE" in word for word in words):
            return self.start(*words)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        ended = threading.Event()
        other = threading.Thread(target=attend, args=(pipe, ended))
        other.start()
        try:
            return self.start(*(word.replace("PIPE", "pipe") for word in words))
        finally:
            ended.set()
            other.join()
            pipe.unlink()


def attend(pipe, ended):
    """Be at the other end of a pipe: end what is read from it, and read what is written to it."""
    while not ended.is_set():
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)  # releases a blocked reader
            os.close(writer)
            while os.read(reader, 1 << 16):
                pass
        except BlockingIOError:
            pass
        finally:
            os.close(reader)
        ended.wait(0.01)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = Place(tmp_path_factory.mktemp("commands"))
    yield made
    made.close()


def make_words(command, example, changed):
    """Write a call, with other words for some arguments."""
    words = list(command.words)
    options = example.options | {
        name: value for name, value in changed.items() if name.startswith("-")
    }
    for positional in command.positionals:
        words += changed.get(positional.dest, example.positionals[positional.dest])
    for name, values in options.items():
        # What begins with - is no value of an option unless it is joined to it.
        is_joined = len(values) == 1 and values[0].startswith("-") and name.startswith("--")
        words += [f"{name}={values[0]}"] if is_joined else [name, *values]
    return words


def list_cases(command, example):
    """Make the hostile calls of a command."""
    for positional in command.positionals:
        plain = example.positionals[positional.dest]
        # Of an empty file as a store there are tests of its own.
        is_store = positional.dest == "store"
        paths = [path for path in PATHS if not (is_store and path == "empty")]
        for value in (*paths, *TEXTS):
            for at in range(max(len(plain), 1)):
                words = [*plain[:at], value, *plain[at + 1 :]]
                changed = {positional.dest: words}
                yield Case(f"{positional.dest}={value!r}", make_words(command, example, changed))
    for option in command.options:
        name = option.option_strings[-1]
        if not takes_value(option):
            yield Case(f"{name} twice", [*make_words(command, example, {}), name, name])
            continue
        values = NUMBERS if option.type is not None else TEXTS
        if option.choices is not None:
            values = ("", "x")
        elif option.metavar in FILE_NAMES:
            values = (*PATHS, *TEXTS[:4])
        elif command.name == "serve" and name == "--port":
            values = tuple(value for value in NUMBERS if value != "0")  # a free port, to serve on
        count = option.nargs if isinstance(option.nargs, int) else 1
        for value in values:
            changed = {name: [value] * count}
            yield Case(f"{name} {value!r:.80}", make_words(command, example, changed))
        yield Case(f"{name} without a value", [*make_words(command, example, {}), name])


EMPTY_VALUES = {"policy", "model", "version", "owner"}
"""An empty value of these is the default policy, what has no name, or no team."""


def list_empty(command, example):
    """Make the calls of a command with one empty argument, and name the argument."""
    for positional in command.positionals:
        plain = example.positionals[positional.dest]
        for at in range(max(len(plain), 1)):
            changed = {positional.dest: [*plain[:at], "", *plain[at + 1 :]]}
            yield positional.dest, make_words(command, example, changed)
    for option in filter(takes_value, command.options):
        count = option.nargs if isinstance(option.nargs, int) else 1
        yield option.dest, make_words(command, example, {option.option_strings[-1]: [""] * count})
    yield "one too many", [*make_words(command, example, {}), ""]


def fill(words, names):
    """Put the files in place of their names."""
    return [names.get(word, word) for word in words]


def check(command, done, before, place):
    """Hold the end of a call to what is promised."""
    allowed = {0, 2, 3, 4} | EXAMPLES[command.name].statuses
    said = done.stderr.decode("utf-8")
    assert done.returncode in allowed
    assert "Traceback" not in said
    left = place.list_files() - before
    if done.returncode < 2:
        assert not any(name.endswith(".part") for name in left)
        return
    assert not left or command.name in MAKING
    lines = said.splitlines()
    if command.name in WHOLE_EVENTS and not any(line.startswith("rankscope: ") for line in lines):
        assert done.returncode == 3
        return
    errors = [at for at, line in enumerate(lines) if line.startswith("rankscope: error: ")]
    assert len(errors) == 1
    error, *hints = lines[errors[0] :]
    assert error.endswith("]")
    assert len(hints) == 1
    assert hints[0].startswith("Hint: ")
    assert len(error) + len(hints[0]) <= LONGEST_ERROR
    assert error.isprintable()
    if "--json" not in done.args and command.name not in TELLING:
        assert done.stdout == b""


def test_every_command_has_an_example():
    assert EXAMPLES.keys() == COMMANDS.keys()
    for name, command in COMMANDS.items():
        named = {positional.dest for positional in command.positionals}
        assert EXAMPLES[name].positionals.keys() == named


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_command_works(name, place):
    words = make_words(COMMANDS[name], EXAMPLES[name], {})
    done = place.run(fill(words, place.names))
    assert done.returncode == EXAMPLES[name].status, done


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_command_with_hostile_arguments_ends_as_promised(name, place):
    command = COMMANDS[name]
    before = {path.name for path in place.template.iterdir()} - {"events.db"}
    failing = []
    cases = list(list_cases(command, EXAMPLES[name]))
    for case in cases[len(name) % STRIDE :: STRIDE]:
        done = place.run(fill(case.words, place.names))
        try:
            check(command, done, before, place)
        except (AssertionError, UnicodeDecodeError) as error:
            failing.append((case.said, done.returncode, done.stderr[-400:], str(error)[:200]))
    assert not failing, "\n".join(map(str, failing))


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - {"trec_eval"}))
def test_an_empty_argument_is_a_usage_error(name):
    for dest, call in list_empty(COMMANDS[name], EXAMPLES[name]):
        words = fill(call, {"BUSY": "1"})
        if dest in EMPTY_VALUES:
            assert getattr(read_options(words), dest) == ""
            continue
        with pytest.raises(UsageError, match="is empty") as refusal:
            read_options(words)
        assert (refusal.value.exit_status, refusal.value.code) == (2, "usage"), words


def test_an_empty_argument_of_trec_eval_is_what_it_is_to_trec_eval(place):
    def start(*words):
        done = place.run(["trec_eval", *fill(list(words), place.names)])
        return done.returncode, done.stdout

    assert start("-l", "", "QRELS", "RUN") == start("-l", "0", "QRELS", "RUN")
    assert start("QRELS", "")[0] == start("QRELS", "missing")[0] == 2
    assert start("QRELS", "RUN", "")[0] == start("QRELS", "RUN", "missing")[0] == 2
