"""Asks a running service, for commands that take its URL instead of a store."""

from __future__ import annotations

import os
from http.client import HTTPException

from rankscope.errors import FileError, UsageError
from rankscope.monitor.client.http import HTTPTransport
from rankscope.monitor.commands.store import PROJECT
from rankscope.monitor.store.keys import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

KEY = "RANKSCOPE_KEY"
SERVICE = f"or the URL of a service; its key is read from {KEY}"
"""What STORE can be besides a store, for its help."""
SECONDS = 60.0


def is_service(store: str) -> bool:
    """Return whether a STORE is the URL of a service.

    Examples:
        >>> is_service("https://rankings.example.com"), is_service("sqlite:///events.db")
        (True, False)
    """
    return store.startswith(("http://", "https://"))


def open_transport(options: Namespace) -> HTTPTransport:
    """Return what asks the service that STORE names; its key names the project."""
    if options.project != PROJECT:
        raise UsageError(
            "--project cannot be combined with the URL of a service",
            hint="remove --project: the key names the project",
            code="usage",
        )
    return HTTPTransport(options.store, Secret(os.environ.get(KEY, "")), SECONDS)


def ask_service(
    options: Namespace, method: str, path: str, body: Mapping[str, object] | None = None
) -> Mapping[str, Any]:
    """Send a request to the service that STORE names, and return its answer."""
    transport = open_transport(options)
    try:
        told = transport.ask(method, path, body)
    except (OSError, HTTPException) as error:
        raise FileError(
            f"the service cannot be reached: {error}",
            hint="check the URL, and that the service is running",
            code="service",
        ) from error
    if told.status in {200, 204}:
        return told.said
    error_fields = told.said.get("error")
    said = error_fields if isinstance(error_fields, dict) else {}
    message = str(said.get("message", f"the service answered with status {told.status}"))
    hint = str(said.get("hint", ""))
    if told.status in {401, 403}:
        hint = f"set {KEY} to a key with the scope that this needs"
    if told.status >= 500:
        raise FileError(message, hint=hint, code="service")
    raise UsageError(message, hint=hint, code=str(said.get("code", "service")))
