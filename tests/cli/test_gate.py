"""`rankscope gate` on the command line: its exit statuses, its files, and the GitHub action."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.cli.command import PROGRAM, check_error, run

ROOT = Path(__file__).resolve().parents[2]
COUNT = 60
HOLDS, BROKEN, OPEN = "nDCG@10=0.9", "nDCG@10=0.001", "nDCG@10=0.25"


@pytest.fixture
def folder(tmp_path):
    """Judgments, two runs of which the second is worse, attributes, and a gate file."""
    queries = [f"q{number}" for number in range(COUNT)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    (tmp_path / "old.run").write_text("".join(f"{query} Q0 a 1 1 t\n" for query in queries))
    # Two queries in three have the relevant document at rank 2: 1 / log2(3) in place of 1.
    (tmp_path / "new.run").write_text(
        "".join(
            f"{query} Q0 b 1 2 t\n{query} Q0 a 2 1 t\n" if number % 3 else f"{query} Q0 a 1 1 t\n"
            for number, query in enumerate(queries)
        )
    )
    rows = [
        f"{query},{'de' if number % 2 else 'at'},u{number // 6}"
        for number, query in enumerate(queries)
    ]
    (tmp_path / "queries.csv").write_text("query_id,country,user\n" + "\n".join(rows) + "\n")
    (tmp_path / "gate.toml").write_text(
        'qrels = "qrels"\nbaseline = "old.run"\ncandidate = "new.run"\nattributes = "queries.csv"\n'
        '[[budget]]\nmeasure = "nDCG@10"\nmax-drop = 0.9\n'
        '[[budget]]\nmeasure = "nDCG@10"\nmax-drop = 0.95\nby = "country"\n'
    )
    return tmp_path


def words(folder, *options):
    return ["gate", *(str(folder / name) for name in ("qrels", "old.run", "new.run")), *options]


@pytest.mark.parametrize(
    ("options", "status", "head"),
    [
        (["--max-drop", HOLDS], 0, "Gate passed: the check holds"),
        (["--max-drop", BROKEN], 1, "Gate failed: 1 of 1 check is broken"),
        (["--max-drop", OPEN], 1, "Gate failed: 1 of 1 check is inconclusive"),
        (["--max-drop", OPEN, "--on-inconclusive", "pass"], 0, "Gate passed: 1 of 1 check is inc"),
        (["--max-drop", BROKEN, "--on-inconclusive", "pass"], 1, "Gate failed: 1 of 1 check is br"),
        (["--max-drop", "nDCG@10=90%", "--max-drop", "AP=0.9"], 0, "Gate passed: all 2 checks"),
        (["--max-loss", "p50:nDCG@10=0.4"], 0, "Gate passed: the check holds"),
        (["--max-loss", "p50:nDCG@10=0.3"], 1, "Gate failed: 1 of 1 check is broken"),
        (["--min", "nDCG@10=0.4"], 0, "Gate passed: the check holds"),
        (["--min", "nDCG@10=0.99"], 1, "Gate failed: 1 of 1 check is broken"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_the_exit_status_is_the_verdict(folder, program, options, status, head):
    done = program.run(*words(folder, *options))
    assert done.returncode == status
    assert done.stdout.decode().startswith(head)
    assert done.stderr == b""
    assert done.stdout.decode().splitlines()[1] == "new.run against old.run"


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ([], 2, "usage"),
        (["--by", "country"], 2, "usage"),
        (["--max-drop", "nDCG@10"], 2, "usage"),
        (["--max-drop", "nDGC@10=0.1"], 2, "unknown_measure"),
        (["--max-drop", "nDCG@10=-0.1"], 2, "bad_budget"),
        (["--max-drop", HOLDS, "--confidence", "95"], 2, "bad_budget"),
        (["--max-drop", HOLDS, "--on-inconclusive", "maybe"], 2, "usage"),
        (["--max-drop", HOLDS, "--by", "country"], 2, "usage"),
        (["--max-drop", HOLDS, "--cluster", "user"], 2, "usage"),
        (["--max-drop", HOLDS, "--github"], 2, "usage"),
        (["--max-drop", HOLDS, "extra", "extra"], 2, "usage"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_what_cannot_be_meant_is_refused(folder, program, options, status, code):
    check_error(program.run(*words(folder, *options)), status, code)


def test_bad_input_and_absent_files_have_their_own_status(folder, program):
    (folder / "old.run").write_text("q0 Q0 a\n")
    check_error(program.run(*words(folder, "--max-drop", HOLDS)), 3, "field_count")
    (folder / "old.run").unlink()
    check_error(program.run(*words(folder, "--max-drop", HOLDS)), 4, "io")
    (folder / "gate.toml").write_text("color = 1\n")
    check_error(program.run("gate", str(folder / "gate.toml")), 3, "bad_gate_file")
    check_error(program.run("gate", str(folder / "absent.toml")), 4, "io")
    check_error(program.run("gate", str(folder / "qrels"), str(folder / "new.run")), 2, "usage")


def test_slices_and_clusters_come_from_the_attributes(folder, program):
    options = ["--max-drop", HOLDS, "--attributes", str(folder / "queries.csv")]
    done = program.run(*words(folder, *options, "--by", "country", "--json"))
    checks = json.loads(done.stdout)["checks"]
    assert [(each["slice"], each["n"], each["level"]) for each in checks] == [
        (None, 60, 0.95),
        ("at", 30, 0.975),
        ("de", 30, 0.975),
    ]
    done = program.run(*words(folder, *options, "--cluster", "user", "--json"))
    document = json.loads(done.stdout)
    assert (document["cluster"], document["checks"][0]["clusters"]) == ("user", 10)


def test_summaries_are_written_beside_what_is_printed(folder, program):
    files = folder / "summary.md", folder / "gate.xml"
    options = ["--markdown", str(files[0]), "--junit", str(files[1])]
    done = program.run(*words(folder, "--max-drop", BROKEN, *options))
    assert done.returncode == 1
    assert files[0].read_text(encoding="utf-8").startswith("### ❌ Gate failed: 1 of 1 check")
    root = ET.fromstring(files[1].read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert root[0].get("failures") == "1"
    for option, path, status in (("--junit", "absent/gate.xml", 4), ("--markdown", "qrels", 2)):
        done = program.run(*words(folder, "--max-drop", HOLDS, option, str(folder / path)))
        assert (done.returncode, done.stdout) == (status, b"")


def test_a_gate_file_names_runs_beside_itself(folder):
    done = run("gate", str(folder / "gate.toml"), "--json", folder="/")
    assert done.returncode == 0, done
    document = json.loads(done.stdout)
    assert [each["slice"] for each in document["checks"]] == [None, "at", "de"]
    assert (document["baseline"], document["candidate"]) == ("old.run", "new.run")


def test_the_command_line_replaces_what_the_gate_file_says(folder, program):
    file = str(folder / "gate.toml")
    new, old = str(folder / "new.run"), str(folder / "old.run")
    document = json.loads(program.run("gate", file, old, "--json").stdout)
    assert {each["value"] for each in document["checks"]} == {0}
    whole = program.run("gate", file, str(folder / "qrels"), new, old, "--json")
    assert json.loads(whole.stdout)["checks"][0]["value"] > 0
    assert program.run("gate", file, new, old, "--json").stdout == whole.stdout
    sliced = program.run("gate", file, "--by", "country", "--json")
    slices = [check["slice"] for check in json.loads(sliced.stdout)["checks"]]
    assert slices == [None, "at", "de", "at", "de"]
    options = ["--confidence", "0.9", "--on-inconclusive", "pass", "--max-drop", OPEN]
    document = json.loads(program.run("gate", file, *options, "--json").stdout)
    assert [each["limit"] for each in document["checks"]] == [0.9, 0.95, 0.95, 0.25]
    assert document["checks"][0]["level"] == 0.9
    assert document["on_inconclusive"] == "pass"


def test_a_gate_file_without_runs_needs_them(folder, program):
    file = folder / "gate.toml"
    file.write_text('[[budget]]\nmeasure = "nDCG@10"\nmax-drop = 0.9\n')
    said = check_error(program.run("gate", str(file)), 2, "usage")
    assert "doesn't name qrels and baseline and candidate" in said
    assert program.run("gate", str(file), *words(folder)[1:]).returncode == 0


def test_in_github_actions_the_summary_and_the_outputs_are_appended(folder):
    summary, outputs = folder / "summary", folder / "outputs"
    summary.write_text("# Build\n")
    environment = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs)}
    done = run(*words(folder, "--max-drop", OPEN, "--github"), environment=environment)
    assert done.returncode == 1
    lines = summary.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# Build", "### ⚠️ Gate failed: 1 of 1 check is inconclusive"]
    assert outputs.read_text() == "verdict=inconclusive\npassed=false\n"


ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]


def run_action(folder, inputs):
    """Run the step that checks the budgets, as GitHub does, and return what it sets."""
    installed = folder / "temp" / "rankscope" / "bin"
    installed.mkdir(parents=True, exist_ok=True)
    (installed / "rankscope").unlink(missing_ok=True)
    (installed / "rankscope").symlink_to(PROGRAM)
    files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for path in files.values():
        path.write_text("")
    given = {name: each["default"] for name, each in ACTION["inputs"].items()} | dict(inputs)
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)
        for name, text in STEPS[1]["env"].items()
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[1]["run"]],  # noqa: S607 - as GitHub
        cwd=folder,
        env={
            **os.environ,
            **environment,
            **{name: str(path) for name, path in files.items()},
            "RUNNER_TEMP": str(folder / "temp"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = files["GITHUB_OUTPUT"].read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    return done.returncode, outputs, files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")


def test_the_action_has_inputs_and_outputs_that_its_steps_use():
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(STEPS)))
    assert used == ACTION["inputs"].keys()
    assert all(each["description"] and "default" in each for each in ACTION["inputs"].values())
    assert ACTION["runs"]["using"] == "composite"
    assert ACTION["outputs"].keys() == {"verdict", "passed"}
    assert STEPS[1]["id"] == "gate"


def test_no_input_becomes_part_of_a_script():
    for step in STEPS:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_the_action_checks_budgets_and_sets_outputs(folder):
    files = {"qrels": "qrels", "baseline": "old.run", "candidate": "new.run"}
    budgets = {"max-drop": f"{HOLDS}\n\nAP=95%\n", "max-loss": "p50:nDCG@10=0.4", "min": "RR=0.1"}
    status, outputs, summary = run_action(folder, files | budgets | {"junit": "gate.xml"})
    assert (status, outputs) == (0, {"verdict": "holds", "passed": "true"})
    assert summary.startswith("### ✅ Gate passed: all 4 checks hold")
    assert (folder / "gate.xml").exists()
    status, outputs, _ = run_action(folder, files | {"max-drop": BROKEN})
    assert (status, outputs) == (1, {"verdict": "broken", "passed": "false"})


def test_the_action_takes_a_gate_file(folder):
    status, outputs, _ = run_action(folder, {"config": "gate.toml"})
    assert (status, outputs["verdict"]) == (0, "holds")
    status, _, summary = run_action(
        folder, {"config": "gate.toml", "candidate": "old.run", "max-drop": "AP=0", "by": "user"}
    )
    assert status == 0
    assert "`user = u0`" in summary


def test_hostile_inputs_of_the_action_run_nothing(folder):
    made = folder / "made"
    hostile = f"$(touch {made})`touch {made}`; touch {made} #"
    files = {"qrels": "qrels", "baseline": "old.run", "candidate": "--json"}
    for inputs in (
        files | {"max-drop": hostile},
        files | {"max-drop": HOLDS, "baseline": hostile},
        files | {"max-drop": HOLDS, "on-inconclusive": hostile},
    ):
        status, outputs, _ = run_action(folder, inputs)
        assert status in {2, 4}
        assert outputs == {}
    assert not made.exists()
