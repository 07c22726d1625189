"""What people and machines take from this repository: reports, actions, exceptions, wheels."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from rankscope import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TODAY = dt.date(2026, 11, 22)


def load_audit() -> ModuleType:
    """The program behind `make audit`."""
    spec = spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_security_policy_is_linked_and_names_no_address_that_nobody_reads() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "mkdocs.yml"):
        assert re.search(r"[(: ]SECURITY\.md\b", (ROOT / page).read_text(encoding="utf-8")), page
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert not re.search(r"\S@\S+\.\w", text)
    for path in re.findall(r"`([\w./-]+/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(workflow: Path) -> None:
    used = re.findall(r"uses: *(.+)", workflow.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_one_action_is_pinned_to_one_commit() -> None:
    used = {
        tuple(action.partition("@")[::2])
        for workflow in WORKFLOWS
        for action in re.findall(r"uses: *(.+)", workflow.read_text(encoding="utf-8"))
    }
    assert len({name for name, _ in used}) == len(used)


def test_advisories_are_looked_for_every_week_and_have_to_be_found() -> None:
    text = (ROOT / ".github" / "workflows" / "audit.yml").read_text(encoding="utf-8")
    assert "schedule:" in text
    assert "make audit AUDIT=--required" in text


def test_exceptions_have_a_reason_and_a_date() -> None:
    text = (ROOT / ".ci" / "audit.toml").read_text(encoding="utf-8")
    # From `until` on, `make audit` fails; this test doesn't change by the calendar.
    for one in load_audit().read_exceptions(text, dt.date.min):
        assert one.reason
        assert one.until
    assert "ignore" not in tomllib.loads((ROOT / "deny.toml").read_text()).get("advisories", {})


@pytest.mark.parametrize(
    "given",
    [
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nuntil = 2027-01-31',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = ""\nuntil = 2027-01-31',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"\nuntil = "2027"',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"\nuntil = 2026-11-22',
    ],
)
def test_an_exception_without_reason_or_date_fails_and_so_does_an_old_one(given: str) -> None:
    with pytest.raises(ValueError, match=r"expected|expired"):
        load_audit().read_exceptions(f"[[exception]]\n{given}", TODAY)


def test_an_exception_is_read() -> None:
    given = 'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"\nuntil = 2027-01-31'
    [one] = load_audit().read_exceptions(f"[[exception]]\n{given}", TODAY)
    assert (one.id, one.package, one.reason, one.until) == (
        "RUSTSEC-2026-0001",
        "a",
        "b",
        dt.date(2027, 1, 31),
    )


@pytest.mark.parametrize(
    ("required", "found", "status", "said"),
    [
        (False, (True, True, True), 0, "ok"),
        (False, (True, None, None), 0, "NOT CHECKED"),
        (True, (True, None, None), 1, "NOT CHECKED"),
        (False, (False, True, True), 1, "FAILED"),
        (False, (True, False, None), 1, "FAILED"),
    ],
)
def test_what_was_not_checked_is_said_and_fails_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    required: bool,
    found: tuple[bool | None, ...],
    status: int,
    said: str,
) -> None:
    audit = load_audit()
    monkeypatch.setattr(audit, "check_crates", lambda: found[0])
    monkeypatch.setattr(audit, "check_crate_advisories", lambda _: found[1])
    monkeypatch.setattr(audit, "check_python_advisories", lambda _: found[2])
    monkeypatch.setattr("sys.argv", ["audit", *(["--required"] if required else [])])
    assert audit.main() == status
    assert said in capsys.readouterr().out


def test_the_extension_has_no_path_of_the_machine_that_built_it() -> None:
    # `make develop` builds it; what pip builds from source keeps the paths of its own machine.
    content = Path(_core.__file__).read_bytes()
    assert b"src/python" in content  # places of panics are there, so that this finds something
    built_in = [str(path) for path in (Path.home(), ROOT) if str(path).encode() + b"/" in content]
    assert built_in == []
    assert re.findall(rb"[/\\]\.cargo[/\\][ -~]*", content) == []
