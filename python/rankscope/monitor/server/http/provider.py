"""The provider of sign-ins: named in a file, with its secret in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rankscope._names import quote
from rankscope.errors import FormatError, RankscopeError, UsageError
from rankscope.monitor.setup.fields import ProviderFields
from rankscope.monitor.shapes import validate
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.toml_file import TomlFlaw, find_line, list_toml, read_toml

SECRET = "RANKSCOPE_OIDC_SECRET"  # noqa: S105 - the name of a variable
NEAR = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of sign-ins, as the operator names it.

    Args:
        issuer: Its address.
        client_id: What it calls this service.
        secret: The secret of this service there; `None` for a public client.
        groups: The claim with the groups of a person.
        scopes: The scopes that are asked for.
        name: What the button says.
    """

    issuer: str
    client_id: str
    secret: Secret | None
    groups: str = "groups"
    scopes: str = "openid email profile"
    name: str = "your organization"


def read_provider(
    path: str | None, environment: Mapping[str, str] | None = None
) -> Provider | None:
    """Read the provider from the table `[sign-in.oidc]` of a file, or of the files of a folder."""
    known = os.environ if environment is None else environment
    found: list[Provider] = []
    for file in [] if path is None else list_toml(path):

        def refuse(problem: str, hint: str = "", line: int | None = None, file: str = file) -> Any:  # noqa: ANN401 - an error
            hint = hint or "see the page about people in the documentation"
            return FormatError(problem, hint=hint, code="bad_sign_in", file=file, line=line)

        def refuse_flaw(flaw: TomlFlaw, refuse: Any = refuse) -> FormatError:  # noqa: ANN401 - as above
            error: FormatError = refuse(flaw.problem, flaw.hint, flaw.line)
            return error

        text, tables = read_toml(file, refuse_flaw, hint="name the file after --config")
        if "sign-in" not in tables:
            continue
        line = find_line(text, ("sign-in",))
        try:
            table: Any = tables["sign-in"]
            if not isinstance(table, dict) or list(table) != ["oidc"] or found:
                raise UsageError("expected one table [sign-in.oidc]", code="bad_sign_in")
            fields = validate(table["oidc"], ProviderFields)
            check_address(fields["issuer"])
        except RankscopeError as error:
            raise refuse(f"sign-in.oidc: {error.message}", error.hint, line) from None
        secret = known.get(SECRET)
        found.append(Provider(secret=Secret(secret) if secret else None, **fields))
    return found[0] if found else None


def check_address(address: object) -> str:
    """Return an address that nobody on the way can read; on this machine, there is nobody."""
    parts = urlsplit(address if isinstance(address, str) else "")
    is_near = parts.scheme == "http" and parts.hostname in NEAR
    if not (parts.scheme == "https" or is_near) or not parts.hostname or "@" in parts.netloc:
        raise UsageError(
            f"expected an address such as https://login.example.com, found {quote(str(address))}",
            code="bad_sign_in",
        )
    return str(address)
