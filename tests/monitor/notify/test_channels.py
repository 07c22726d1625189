"""Channels are read from a file and the environment, and their tokens are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankscope import FileError, FormatError, RankscopeError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.incidents.incident import SEVERITIES
from rankscope.monitor.notify.channels import Channels, is_service, read_channels, read_public_url

TOKEN = "T0KEN-of-the-team"  # noqa: S105 - of nobody
SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ENVIRONMENT = {"CHAT": f"slack://{TOKEN}/b/c", "SECRET": SECRET, "EMPTY": ""}


MANAGER = '[channels.a]\nalertmanager = "https://a'
NO_TOKENS = ('"a b"', '"a\\r\\nX: y"', '""', "1")


def read(folder: Path, text: str, **more: str) -> Channels:
    path = folder / "rankscope.toml"
    path.write_text(text, encoding="utf-8")
    return read_channels(path, {**ENVIRONMENT, **more})


def test_a_file_defines_channels(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        public_url = "https://rankscope.example.com/"

        [channels.oncall]
        url = "${CHAT}"
        severity = "critical"

        [channels.chat]
        url = "mmost://chat.internal/${CHAT}"
        allow_private = true
        digest = "1h"

        [channels.hook]
        webhook = "http://hooks.internal/x"
        secret = "${SECRET}"
        allow_http = true

        [channels.pager]
        alertmanager = "http://alertmanager.internal:9093"
        token = "${SECRET}"
        allow_http = true
        allow_private = true
        """,
    )
    assert found.public_url == "https://rankscope.example.com"
    assert [channel.name for channel in found.channels] == ["chat", "hook", "oncall", "pager"]
    chat, hook, oncall, pager = found.channels
    assert chat.url.reveal() == f"mmost://chat.internal/{ENVIRONMENT['CHAT']}"
    assert (chat.allows_private, chat.digest, chat.kind) == (True, HOUR, "service")
    assert (hook.kind, hook.allows_http, hook.allows_private) == ("webhook", True, False)
    assert (pager.kind, pager.allows_http, pager.allows_private) == ("alertmanager", True, True)
    for channel in (hook, pager):
        assert channel.secret is not None
        assert channel.secret.reveal() == SECRET
    assert oncall.url.reveal() == ENVIRONMENT["CHAT"]
    assert [oncall.takes(severity) for severity in SEVERITIES] == [False, False, True]
    assert [chat.takes(severity) for severity in SEVERITIES] == [True, True, True]
    assert TOKEN not in f"{found!r} {found}"
    assert SECRET not in f"{found!r} {found}"


def test_a_channel_of_the_environment_replaces_that_of_the_file(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        '[channels.on_call]\nurl = "${CHAT}"',
        RANKSCOPE_CHANNEL_ON_CALL="pagerduty://key@integration",
        RANKSCOPE_PUBLIC_URL="https://rankscope.example.com",
    )
    (channel,) = found.channels
    assert (channel.name, channel.url.reveal()) == ("on_call", "pagerduty://key@integration")
    assert found.public_url == "https://rankscope.example.com"


def test_the_files_of_a_folder_are_one(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[channels.one]\nurl = "slack://a/b/c"\n')
    (tmp_path / "b.toml").write_text(
        '[channels.two]\nurl = "slack://a/b/c"\n[projects.x]\nmost = 1'
    )
    read = read_channels(tmp_path, {})
    assert [channel.name for channel in read.channels] == ["one", "two"]
    (tmp_path / "c.toml").write_text('\n[channels.one]\nurl = "slack://a/b/c"\n')
    with pytest.raises(FormatError) as refused:
        read_channels(tmp_path, {})
    assert (refused.value.line, refused.value.file) == (2, str(tmp_path / "c.toml"))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (f'x = 1\na = "{TOKEN}', None, "invalid TOML"),
        (f"a = {TOKEN}", 1, "invalid TOML"),
        ("[channels.a]\nurl = 1", 2, "channels.a.url: expected an address of Apprise"),
        (f'[channels.a]\nurl = "{TOKEN}"', 2, "channels.a.url: expected an address of Apprise"),
        ('[channels.a]\nurl = "x://a"\nulr = "x"', 3, "'ulr': unknown key"),
        ('publicurl = "x"', 1, "'publicurl': unknown key"),
        ("[channels.a]", 1, "channels.a: expected one of url, webhook, alertmanager, found none"),
        ('[channels.a]\nurl = "x://y"\nwebhook = "https://y"', 1, "found url and webhook"),
        ('[channels.Ops]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels.log]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels.webhook]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels."a b"]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels.a]\nurl = "x://y"\nallow_private = "yes"', 3, "expected true or false"),
        ('[channels.a]\nurl = "x://y"\nseverity = "high"', 3, "severity: expected"),
        ('[channels.a]\nurl = "x://y"\ndigest = "soon"', 3, "digest: expected a duration"),
        ('[channels.a]\nurl = "x://y"\ndigest = 60', 3, "digest: expected a duration"),
        ('[channels.a]\nurl = "${NOT_SET}"', 2, "the environment has no variable NOT_SET"),
        ('[channels.a]\nurl = "${a b}"', 2, "the name of a variable between"),
        ('[channels.a]\nurl = "${EMPTY}"', 2, "channels.a.url: expected an address of Apprise"),
        ('[channels.a]\nurl = "x://y"\nsecret = "x"', 3, "secret belongs to webhook, and"),
        (f'[channels.a]\nwebhook = "https://u:{TOKEN}@y/"', 2, "channels.a.webhook: expected"),
        ('[channels.a]\nwebhook = "http://y/"', 2, "channels.a.webhook: expected an address with"),
        ('[channels.a]\nwebhook = "https://y/"', 1, "channels.a.secret: expected the secret"),
        (f'[channels.a]\nwebhook = "https://y/"\nsecret = "{TOKEN}"', 3, "secret: expected whsec_"),
        ('channels = "x"', 1, "channels: expected at most 100 tables"),
        ('[channels]\na = "x"', 2, "channels.a: expected a table"),
        ('public_url = "https://user@example.com"', 1, "public_url: expected an address"),
        ("public_url = 5", 1, "public_url: expected an address"),
        ('[channels.a]\nalertmanager = "http://a"', 2, "alertmanager: expected an address with"),
        (f'{MANAGER}/api/v2/alerts"', 2, "without /api/v2/alerts and a query"),
        (f'{MANAGER}/?x=1"', 2, "without /api/v2/alerts and a query"),
        ('[channels.a]\nalertmanager = "https://u:p@a"', 2, "without user, password and fragment"),
        *((f'{MANAGER}"\ntoken = {token}', 3, "token: expected a token") for token in NO_TOKENS),
        (f'{MANAGER}"\nsecret = "x"', 3, "secret belongs to webhook, and this"),
        ('[channels.a]\nurl = "x://y"\ntoken = "x"', 3, "token belongs to alertmanager, and"),
        (f'{MANAGER}"\nwebhook = "https://a"', 1, "found webhook and alertmanager"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_no_token_is_shown(
    tmp_path: Path, text: str, line: int | None, said: str
) -> None:
    with pytest.raises(FormatError) as refused:
        read(tmp_path, text)
    assert said in refused.value.message
    assert (refused.value.code, refused.value.line) == ("bad_channels", line)
    assert str(tmp_path / "rankscope.toml") in str(refused.value)
    assert TOKEN not in f"{refused.value} {refused.value!r} {refused.value.hint}"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError) as refused:
        read_channels(tmp_path / "none.toml", {})
    assert "none.toml" in str(refused.value)


def test_a_file_of_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b'a = "\xff"')
    with pytest.raises(FormatError):
        read_channels(path, {})


@pytest.mark.parametrize(
    "environment",
    [
        {"RANKSCOPE_CHANNEL_A": TOKEN},
        {"RANKSCOPE_CHANNEL_LOG": f"slack://{TOKEN}"},
        {"RANKSCOPE_CHANNEL_": f"slack://{TOKEN}"},
        {"RANKSCOPE_CHANNEL_A": f"slack://{TOKEN}\n"},
        {"RANKSCOPE_PUBLIC_URL": f"https://{TOKEN}@example.com"},
    ],
)
def test_a_variable_that_is_wrong_is_named_and_not_shown(environment: dict[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        read_channels(None, environment)
    assert next(iter(environment)) in str(refused.value)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.com", "ftp://a", "https://", "https://a b", "https://a/?b", "https://a/#b"),
        *("https://a/(b)", "https://a/<b>", "javascript:alert(1)", "https://[::1", "https://a:x"),
        "https://u:p@a",
    ],
)
def test_what_is_no_public_address_is_refused(text: str) -> None:
    assert read_public_url(text) is None


def test_errors_of_the_file_are_those_of_rankscope(tmp_path: Path) -> None:
    for text in ("[" * 5000, "a.b.c.d = 1\n" * 2, "\x00", "channels = [1]"):
        with pytest.raises(RankscopeError):
            read(tmp_path, text)


@pytest.mark.parametrize("count", [99, 100, 101])
def test_a_file_defines_at_most_100_channels(tmp_path: Path, count: int) -> None:
    text = "".join(f'[channels.c{number}]\nurl = "x://y"\n' for number in range(count))
    if count <= 100:
        assert len(read(tmp_path, text).channels) == count
        return
    with pytest.raises(FormatError, match="at most 100 tables"):
        read(tmp_path, text)


@pytest.mark.parametrize("length", [4095, 4096, 4097])
def test_an_address_has_at_most_4_096_characters(tmp_path: Path, length: int) -> None:
    may = length <= 4096
    for start, is_read in (("x://", is_service), ("https://example.com/", read_public_url)):
        assert bool(is_read(start + "y" * (length - len(start)))) == may
    text = f'[channels.c]\nurl = "{"x://":y<{length}}"'
    if may:
        assert read(tmp_path, text).channels[0].url.reveal() == f"{'x://':y<{length}}"
        return
    with pytest.raises(FormatError, match="at most 4096 characters"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("digest", "length"),
    [
        ("59s", None),
        ("1m", MINUTE),
        ("61s", MINUTE + SECOND),
        ("86399s", DAY - SECOND),
        ("24h", DAY),
        ("86401s", None),
    ],
)
def test_messages_are_collected_for_a_minute_to_a_day(
    tmp_path: Path, digest: str, length: int | None
) -> None:
    text = f'[channels.c]\nurl = "x://y"\ndigest = "{digest}"'
    if length is not None:
        assert read(tmp_path, text).channels[0].digest == length
        return
    with pytest.raises(FormatError, match='from "1m" to "24h"'):
        read(tmp_path, text)
