r"""The channels that the operator of a service defines, in a file or in the environment.

```toml
public_url = "https://rankscope.example.com"

[channels.oncall]
url = "${SLACK_URL}"
severity = "critical"

[channels.chat]
url = "mmost://chat.internal/${CHAT_TOKEN}"
allow_private = true
digest = "1h"

[channels.hook]
webhook = "https://hooks.internal/rankscope"
secret = "${HOOK_SECRET}"
allow_private = true

[channels.alerts]
alertmanager = "http://alertmanager.internal:9093"
allow_http = true
allow_private = true
```

Addresses have tokens in them, so that none of them is ever part of an error, a log or an answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from rankscope._names import quote
from rankscope.errors import FormatError, UsageError
from rankscope.monitor.events.limits import DAY, MINUTE, SECOND
from rankscope.monitor.events.times import count_micros, to_datetime
from rankscope.monitor.incidents.incident import SEVERITIES, Severity
from rankscope.monitor.notify.alertmanager import PATH
from rankscope.monitor.notify.http import read_url
from rankscope.monitor.notify.webhook import check_secret, find_webhook
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.records import LOG, OPERATOR, WEBHOOK, ChannelDeliveries
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.toml_file import TomlFlaw, find_line, list_toml, read_toml

Kind: TypeAlias = Literal["service", "webhook", "alertmanager"]
ChannelKind: TypeAlias = Literal["log", "webhook", "service", "alertmanager", "unknown"]


MOST_CHANNELS = 100
MOST_URL = 4096
PREFIX = "RANKSCOPE_CHANNEL_"
PUBLIC_URL = "RANKSCOPE_PUBLIC_URL"
"""Variables of the environment."""

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")
RESERVED = frozenset({LOG, WEBHOOK, OPERATOR})
VARIABLE = re.compile(r"\$\{([^}]*)\}?")
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
TOP = ("public_url", "channels", "sign-in", "projects")
ADDRESSES: Mapping[str, tuple[Kind, tuple[str, ...]]] = {
    "url": ("service", ()),
    "webhook": ("webhook", ("secret", "allow_http")),
    "alertmanager": ("alertmanager", ("token", "allow_http")),
}
"""The keys of addresses, of which a channel has one: its kind, and the keys that belong to it."""
KEYS = (
    *("url", "webhook", "alertmanager", "secret", "token"),
    *("allow_http", "allow_private", "severity", "digest"),
)
TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
DIGESTS = (MINUTE, DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel of the operator.

    Args:
        name: Its name, by which rules choose it.
        url: Where messages go: an address of Apprise, of a webhook, or of an Alertmanager.
        kind: `service` for a service that Apprise knows, `webhook` for a signed webhook, or
            `alertmanager`.
        secret: What a webhook is signed with, or the token that an Alertmanager asks for.
        allows_http: Whether a webhook or an Alertmanager may be without TLS.
        allows_private: Whether private networks and this machine may be called.
        severity: The least severity that it takes where a rule doesn't name its channels.
        digest: Messages that aren't critical are collected for this many microseconds, and sent
            as one; 0 sends each at once.
    """

    name: str
    url: Secret
    kind: Kind = "service"
    secret: Secret | None = None
    allows_http: bool = False
    allows_private: bool = False
    severity: Severity = "info"
    digest: int = 0

    def takes(self, severity: Severity) -> bool:
        """Whether it takes incidents of a severity where a rule doesn't name its channels."""
        return SEVERITIES.index(severity) >= SEVERITIES.index(self.severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """What the operator says about notifications.

    Args:
        channels: The channels, by name.
        public_url: The address at which people open the dashboard, without a slash at the end;
            `None` if it isn't known.
    """

    channels: tuple[Channel, ...] = ()
    public_url: str | None = None

    def find(self, name: str) -> Channel | None:
        """Return the channel with a name."""
        return next((channel for channel in self.channels if channel.name == name), None)


def read_channels(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] | None = None
) -> Channels:
    """Read the channels of the operator from a file or a folder, and from the environment.

    A channel of the environment, such as `RANKSCOPE_CHANNEL_ONCALL`, replaces the one with the same
    name in the file; its value is the `url`.

    Examples:
        >>> read = read_channels(environment={"RANKSCOPE_CHANNEL_ONCALL": "slack://a/b/c"})
        >>> [(channel.name, channel.url) for channel in read.channels]
        [('oncall', Secret(***))]
    """
    known = os.environ if environment is None else environment
    channels: dict[str, Channel] = {}
    public_url = None
    for file in [] if path is None else list_toml(os.fspath(path)):
        reader = _FileReader(file, known)
        given = reader.read()
        for channel in given.channels:
            if channel.name in channels:
                raise reader.refuse_again(channel.name)
            channels[channel.name] = channel
        public_url = given.public_url or public_url
    for variable, url in sorted(known.items()):
        if variable.startswith(PREFIX):
            channel = _read_variable(variable, url)
            channels[channel.name] = channel
    if known.get(PUBLIC_URL):
        public_url = read_public_url(known[PUBLIC_URL])
        if public_url is None:
            raise UsageError(
                f"{PUBLIC_URL}: expected an address such as https://rankscope.example.com, "
                "found another",
                hint="leave out user, password, query and fragment",
                code="bad_channels",
            )
    return Channels(
        channels=tuple(channels[name] for name in sorted(channels)), public_url=public_url
    )


def read_public_url(text: object) -> str | None:
    """Return the address of the dashboard without a slash at the end, or `None` if it is none.

    Examples:
        >>> read_public_url("https://example.com/rankscope/")
        'https://example.com/rankscope'
    """
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    is_plain = not set(text) & set(" <>\"'`\\()") and "@" not in parts.netloc
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not is_plain or not is_web or parts.query or parts.fragment or len(text) > MOST_URL:
        return None
    return text.rstrip("/")


def _read_variable(variable: str, url: str) -> Channel:
    name = variable.removeprefix(PREFIX).lower()
    problem = ""
    if NAME.fullmatch(name) is None or name in RESERVED:
        problem = f"expected a name of letters, digits and _ after {PREFIX}, found another"
    elif not is_service(url):
        problem = "expected an address such as slack://… or mailto://…, found another"
    if problem:
        raise UsageError(
            f"{variable}: {problem}", hint="see https://appriseit.com/services", code="bad_channels"
        )
    return Channel(name=name, url=Secret(url))


def is_service(url: object) -> bool:
    """Whether a value looks like an address of Apprise, such as `slack://…`."""
    return (
        isinstance(url, str)
        and len(url) <= MOST_URL
        and url.isprintable()
        and SCHEME.match(url) is not None
    )


class _FileReader:
    """Reads a file, and says in which line something is wrong.

    Args:
        path: The file.
        environment: What its variables stand for.
    """

    def __init__(self, path: str | os.PathLike[str], environment: Mapping[str, str]) -> None:
        self._path = os.fspath(path)
        self._environment = environment
        self._text = ""

    def read(self) -> Channels:
        hint = "name the file of the configuration after --config"
        self._text, said = read_toml(self._path, self._refuse, hint=hint)
        self._refuse_unknown(said, TOP, "")
        public_url = None
        if "public_url" in said:
            public_url = read_public_url(self._fill(said["public_url"], "", "public_url"))
            if public_url is None:
                expected = "an address such as https://rankscope.example.com"
                raise self._expect("", "public_url", expected)
        tables = said.get("channels", {})
        if not isinstance(tables, dict) or len(tables) > MOST_CHANNELS:
            expected = f"at most {MOST_CHANNELS} tables such as [channels.oncall]"
            raise self._expect("", "channels", expected)
        channels = tuple(self._read_channel(name, table) for name, table in tables.items())
        return Channels(channels=channels, public_url=public_url)

    def refuse_again(self, name: str) -> FormatError:
        """Return the error about a channel that another file has, too."""
        problem = f"channels.{name}: another file has a channel of this name, too"
        return self._bad(problem, line=self._find("channels", name))

    def _refuse(self, flaw: TomlFlaw) -> FormatError:
        # What a message quotes may be a token.
        return self._bad(flaw.problem, line=flaw.line, column=flaw.column)

    def _read_channel(self, name: str, table: object) -> Channel:
        where = f"channels.{name}"
        if NAME.fullmatch(name) is None or name in RESERVED:
            raise self._bad(
                f"{quote(where)}: expected a name of lower-case letters, digits, - and _, other "
                "than log and webhook, found another",
                line=self._find("channels", name),
            )
        if not isinstance(table, dict):
            raise self._expect("channels", name, "a table, such as [channels.oncall]")
        self._refuse_unknown(table, KEYS, where)
        said = {key: self._fill(value, where, key) for key, value in table.items()}
        given = [key for key in ADDRESSES if key in said]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            problem = f"{where}: expected one of {', '.join(ADDRESSES)}, found {found}"
            raise self._bad(problem, line=self._find(where))
        (address,) = given
        kind, own = ADDRESSES[address]
        for other, (_, keys) in ADDRESSES.items():
            for key in keys:
                if key in said and key not in own:
                    problem = f"{where}.{key} belongs to {other}, and this channel has {address}"
                    raise self._bad(problem, line=self._find(where, key))
        for key in ("allow_http", "allow_private"):
            if type(said.get(key, False)) is not bool:
                raise self._expect(where, key, "true or false")
        severity = said.get("severity", SEVERITIES[0])
        if severity not in SEVERITIES:
            raise self._expect(where, "severity", '"info" (all incidents), "warning" or "critical"')
        secret = self._read_secret(said, where, address)
        return Channel(
            name=name,
            url=Secret(said[address]),
            kind=kind,
            secret=secret,
            allows_http=said.get("allow_http", False),
            allows_private=said.get("allow_private", False),
            severity=severity,
            digest=self._read_digest(said, where),
        )

    def _read_secret(self, said: Mapping[str, Any], where: str, address: str) -> Secret | None:
        """Check where messages go, and return the secret of a webhook or an Alertmanager."""
        if address == "url":
            if not is_service(said["url"]):
                raise self._expect(where, "url", 'an address of Apprise, such as "slack://…"')
            return None
        try:
            target = read_url(said[address], allows_http=said.get("allow_http", False))
        except UsageError as error:
            expected = error.message.removeprefix("expected ").removesuffix(", found another")
            raise self._expect(where, address, expected) from None
        if address == "alertmanager":
            if "?" in target.path or target.path.rstrip("/").endswith(PATH):
                raise self._expect(where, address, f"an address without {PATH} and a query")
            token = said.get("token")
            if token is not None and not (isinstance(token, str) and TOKEN.fullmatch(token)):
                raise self._expect(where, "token", "a token of printable ASCII without spaces")
            return None if token is None else Secret(token)
        if not isinstance(said.get("secret"), str):
            raise self._expect(where, "secret", "the secret that signs messages, whsec_ and base64")
        try:
            return check_secret(Secret(said["secret"]))
        except UsageError:
            expected = "whsec_ and base64 of 24 to 64 bytes"
            raise self._expect(where, "secret", expected) from None

    def _read_digest(self, said: Mapping[str, Any], where: str) -> int:
        if "digest" not in said:
            return 0
        length = -1
        if isinstance(said["digest"], str):
            try:
                length = count_micros(said["digest"])
            except (FormatError, UsageError, ValueError):
                length = -1
        if not DIGESTS[0] <= length <= DIGESTS[1]:
            raise self._expect(where, "digest", 'a duration from "1m" to "24h", such as "1h"')
        return length // SECOND * SECOND

    def _fill(self, value: object, where: str, key: str) -> Any:  # noqa: ANN401 - any of TOML's
        """Replace `${NAME}` by the variable of the environment."""
        if not isinstance(value, str):
            return value

        if len(value) > MOST_URL:
            raise self._expect(where, key, f"at most {MOST_URL} characters")

        def find(match: re.Match[str]) -> str:
            name = match[1]
            if not match[0].endswith("}") or VARIABLE_NAME.fullmatch(name) is None:
                raise self._expect(where, key, "the name of a variable between ${ and }")
            if name not in self._environment:
                raise self._bad(
                    f"{_join(where, key)}: the environment has no variable {name}",
                    line=self._find(where, key),
                    hint="set the variable before the service starts",
                )
            return self._environment[name]

        return VARIABLE.sub(find, value)

    def _refuse_unknown(self, table: Iterable[str], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                raise self._bad(
                    f"{_join(where, quote(key))}: unknown key",
                    line=self._find(where, key),
                    hint=f"allowed here: {', '.join(known)}",
                )

    def _expect(self, where: str, key: str, expected: str) -> FormatError:
        # What was found may be a token, and isn't shown.
        problem = f"{_join(where, key)}: expected {expected}, found another"
        return self._bad(problem, line=self._find(where, key))

    def _bad(
        self,
        problem: str,
        *,
        line: int | None,
        column: int | None = None,
        hint: str = "see the page about notifications in the documentation",
    ) -> FormatError:
        return FormatError(
            problem, hint=hint, code="bad_channels", file=self._path, line=line, column=column
        )

    def _find(self, where: str, key: str | None = None) -> int | None:
        keys = [*where.split("."), *([] if key is None else [key])]
        return find_line(self._text, [each for each in keys if each])


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """A channel, and how the last deliveries to it went.

    Args:
        name: Its name, by which rules choose it.
        kind: `log`, `webhook`, `service` for a service that Apprise knows, or `unknown` for a name
            that rules use and the operator hasn't defined.
        service: The service, such as `Slack`; empty if it isn't one.
        severity: The least severity that it takes where a rule doesn't name its channels.
        last_delivered: When a notification was delivered last, in UTC, or `None`.
        last_problem: What was wrong with the newest notification that had a problem, or an empty
            text.
        waiting: How many notifications wait.
    """

    name: str
    kind: ChannelKind
    service: str
    severity: str
    last_delivered: datetime | None
    last_problem: str
    waiting: int


def list_channel_states(
    store: StoreReader, project: str, channels: Channels, services: Mapping[str, str]
) -> tuple[ChannelState, ...]:
    """List the channels of a project: the log, its webhook, and those of the operator."""
    deliveries = {delivery.channel: delivery for delivery in store.list_channel_deliveries(project)}
    kinds: dict[str, tuple[ChannelKind, str, str]] = {LOG: ("log", "", "info")}
    if find_webhook(store, project) is not None:
        kinds[WEBHOOK] = ("webhook", "", "info")
    for channel in channels.channels:
        kinds[channel.name] = (channel.kind, services.get(channel.name, ""), channel.severity)
    for name, delivery in deliveries.items():
        if name not in {*kinds, OPERATOR, WEBHOOK} and delivery.waiting:
            kinds[name] = ("unknown", "", "info")
    states = []
    for name, (kind, service, severity) in kinds.items():
        known = deliveries.get(name) or ChannelDeliveries(name, None, "", 0)
        states.append(
            ChannelState(
                name=name,
                kind=kind,
                service=service,
                severity=severity,
                last_delivered=None if known.delivered is None else to_datetime(known.delivered),
                last_problem=known.problem,
                waiting=known.waiting,
            )
        )
    return tuple(states)
