"""The process that sends one message by Apprise; see `rankscope.monitor.notify.sending`.

Apprise and its hundred services open connections of their own, which nothing can be handed to. So
they run in a process whose every connection is judged by an audit hook of Python, right when it is
opened: what a name stands for by then is what is judged, whatever library opens it, and also after
a redirect. A hook can't be removed; it ends with the process.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
from ipaddress import ip_address
from typing import Any

from rankscope.monitor.notify.addresses import Address, is_metadata_name, is_private, is_public

CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
STARTING = frozenset(
    {
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.fork",
        "pty.spawn",
    }
)
LOCAL = frozenset(
    {"blink1", "dbus", "glib", "gnome", "kde", "macosx", "qt", "syslog", "windows", "gio"}
)
"""Services of the machine itself, which reach nobody."""
RAW = frozenset({"json", "jsons", "xml", "xmls", "form", "forms"})
"""Services that take any format, and show none."""

STATUS = re.compile(r"error=(\d{3})\b")
REFUSED = "the address may not be called, as it isn't public"
ALLOWED = "the address may not be called, as it is one of this link or of a metadata service"


class Guard:
    """Refuses connections to addresses that may not be called, and new processes.

    Args:
        allows_private: Whether private networks and this machine may be called.

    Attributes:
        has_refused: Whether anything was refused.
    """

    def __init__(self, *, allows_private: bool) -> None:
        self._allows_private = allows_private
        self.has_refused = False

    def install(self) -> None:
        """Judge everything that this process does from now on."""
        sys.addaudithook(self.judge)

    def judge(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse what may not be done."""
        if event in CONNECTING:
            # A datagram of a connected socket has no address; the connection was judged.
            is_refused = args[1] is not None and not self._may_call(args[1])
        elif event == "socket.getaddrinfo":
            is_refused = is_metadata_name(_read_host(args[0]))
        else:
            is_refused = event in STARTING
        if is_refused:
            self.has_refused = True
            raise PermissionError(REFUSED)

    def _may_call(self, where: object) -> bool:
        if not isinstance(where, tuple) or not where or not isinstance(where[0], str):
            return False  # a socket of this machine
        try:
            address: Address = ip_address(where[0])
        except ValueError:
            return False  # a name, which would stand for another address a moment later
        return is_public(address) or (self._allows_private and is_private(address))


def _read_host(host: object) -> str:
    if isinstance(host, bytes):
        return host.decode("ascii", "replace").lower()
    return str(host or "").lower()


def main() -> None:
    """Do what standard input asks for, and print what became of it."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        # Whatever else is printed here may have a token in it.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        asked = json.loads(sys.stdin.buffer.read())
        # The process ends even if the one that started it can't end it any more.
        last_resort = threading.Timer(asked["most_seconds"], os._exit, (1,))
        last_resort.daemon = True
        last_resort.start()
        try:
            said = describe(asked["urls"]) if "urls" in asked else send(asked)
        except Exception as error:  # noqa: BLE001 - its text may have a token in it
            said = {"problem": f"the message could not be sent ({type(error).__name__})"}
        json.dump(said, answers)
    # Threads of a service that still wait hold nothing that could be lost.
    os._exit(0)


def describe(urls: list[str]) -> dict[str, Any]:
    """Return the names of the services of addresses; `None` for what is no address."""
    _be_quiet()
    plugins = map(_find_service, urls)
    return {"services": [None if each is None else str(each.service_name) for each in plugins]}


def send(asked: dict[str, Any], guard: Guard | None = None) -> dict[str, str]:
    """Send a message, and return what was wrong."""
    lines = _be_quiet()
    plugin = _find_service(asked["url"])
    if plugin is None:
        return {"problem": "the address is none that Apprise knows"}
    if guard is None:
        guard = Guard(allows_private=asked["allows_private"])
        guard.install()
    plugin.redirects = False
    plugin.socket_connect_timeout = plugin.socket_read_timeout = asked["seconds"] / 2
    if hasattr(plugin, "alias") and plugin.action == "map":
        # Otherwise it would close alerts, and add notes to them, that it doesn't know.
        plugin.action = "new"
    if _notify(plugin, asked, _choose_format(plugin)):
        return {"problem": ""}
    if guard.has_refused:
        return {"problem": ALLOWED if asked["allows_private"] else REFUSED}
    statuses = [match[1] for line in lines for match in STATUS.finditer(line)]
    if statuses:
        return {"problem": f"status {statuses[-1]}"}
    return {"problem": "the service did not accept the message, or was not reached"}


def _notify(plugin: Any, asked: dict[str, Any], form: str) -> bool:  # noqa: ANN401 - of Apprise
    import apprise

    sender = apprise.Apprise(asset=plugin.asset)
    sender.add(plugin)
    return bool(
        sender.notify(
            title=asked["title"],
            body=asked[form],
            notify_type=asked["urgency"],
            body_format=form,
            interpret_escapes=False,
        )
    )


def _find_service(url: str) -> Any:  # noqa: ANN401 - of Apprise
    """Return the service of an address, or `None` if there is none, or it is of this machine."""
    import apprise

    if url.partition("://")[0].lower() in LOCAL:
        return None
    asset = apprise.AppriseAsset(
        app_id="rankscope",
        app_desc="rankscope",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
        interpret_emojis=False,
        storage_mode="memory",
        service_timeout=0,
    )
    return apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)


def _choose_format(plugin: Any) -> str:  # noqa: ANN401 - of Apprise
    """Return the format in which a service takes most: `text`, `markdown` or `html`."""
    given = plugin.notify_format
    formats = [str(one.value) for one in (given if isinstance(given, tuple) else (given,))]
    is_raw = plugin.schema in RAW if hasattr(plugin, "schema") else False
    if formats[0] == "text" and "markdown" in formats and not is_raw:
        # It shows Markdown in any case, so the message should be written for that.
        return "markdown"
    return formats[0]


def _be_quiet() -> list[str]:
    """Collect what Apprise logs, some of which has addresses in it."""
    lines: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger = logging.getLogger("apprise")
    logger.handlers = [Collector()]
    logger.propagate = False
    logger.setLevel(logging.INFO)
    return lines
