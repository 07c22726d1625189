"""Sends messages to the services that Apprise knows, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Protocol

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rankscope.monitor.notify.channels import Channel
    from rankscope.monitor.notify.chart import Chart
    from rankscope.monitor.notify.message import Message

SECONDS = 15.0
"""How long an attempt may take."""
STARTING_SECONDS = 15.0
"""How long the process may take to start and to draw; a machine may be busy."""

COMMAND = """\
import sys
sys.path[:] = {path!r}
from rankscope.monitor.notify.apprise_process import main
main()
"""

KEPT = (
    *("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
"""Variables of the environment that the process gets. Behind a proxy nobody can judge addresses, so
that only channels that may call private ones use it."""


@record(frozen=True, slots=True)
class Attempt:
    """The result of an attempt to deliver a notification.

    Args:
        problem: What was wrong; empty if it was delivered.
        wait: For how many seconds the other side asks to be left alone.
        is_gone: Whether it will never take anything again.
    """

    problem: str = ""
    wait: float = 0.0
    is_gone: bool = False


class Sender(Protocol):
    """Sends messages to services."""

    def send(self, channel: Channel, message: Message, chart: Chart | None = None) -> Attempt:
        """Send a message to a channel, once."""

    def name_services(self, channels: Sequence[Channel]) -> tuple[str | None, ...]:
        """Return the names of the services of channels; `None` for an address of no service."""


class AppriseSender:
    """Sends messages by Apprise.

    Args:
        seconds: How long an attempt may take.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    def send(self, channel: Channel, message: Message, chart: Chart | None = None) -> Attempt:
        """Send a message to a channel, once."""
        said = self._ask(
            {
                "url": channel.url.reveal(),
                "allows_private": channel.allows_private,
                "title": message.title,
                "text": message.text,
                "markdown": message.markdown,
                "html": message.html,
                "urgency": message.urgency,
                # Python's JSON has NaN.
                "chart": None if chart is None else chart.to_dict(),
            },
            allows_proxy=channel.allows_private,
        )
        return Attempt(said["problem"])

    def name_services(self, channels: Sequence[Channel]) -> tuple[str | None, ...]:
        """Return the names of the services of channels; `None` for an address of no service."""
        if not channels:
            return ()
        said = self._ask({"urls": [channel.url.reveal() for channel in channels]})
        if "services" not in said:
            raise UsageError(
                f"expected Apprise for the channels, found that {said['problem']}",
                hint="install rankscope[monitor]",
                code="no_apprise",
            )
        return tuple(said["services"])

    def _ask(self, asked: dict[str, Any], *, allows_proxy: bool = False) -> dict[str, Any]:
        """Start the process, and return what it answers."""
        names = (*KEPT, *PROXIES) if allows_proxy else KEPT
        most = self._seconds + STARTING_SECONDS
        environment = {name: os.environ[name] for name in names if name in os.environ}
        try:
            done = subprocess.run(  # noqa: S603 - nothing but what this process itself is made of
                [sys.executable, "-P", "-c", COMMAND.format(path=sys.path)],
                input=json.dumps(asked | {"seconds": self._seconds, "most_seconds": most}).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment | _choose_files(),
                timeout=most,
                process_group=0 if os.name == "posix" else None,
                check=False,
            )
            said = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return {"problem": "nothing was answered in time"}
        except OSError as error:
            return {"problem": f"the process did not start ({type(error).__name__})"}
        except ValueError:
            return {"problem": "nothing was answered in time"}
        return said if isinstance(said, dict) else {"problem": "nothing was answered in time"}


def _choose_files() -> dict[str, str]:
    """Return where the process finds files of the machine's user."""
    fonts = os.environ.get("MPLCONFIGDIR") or str(Path.home() / ".cache" / "matplotlib")
    # Passwords of the user are for none of the services.
    return {"NETRC": os.devnull, "MPLCONFIGDIR": fonts}
