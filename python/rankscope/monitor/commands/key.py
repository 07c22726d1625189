"""`rankscope monitor key`: manages the API keys of the service."""

from __future__ import annotations

from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    add_store_arguments,
    ask_service,
    is_service,
    name_path,
    open_reader,
    open_writer,
    print_result,
    read_word,
    write_moment,
)
from rankscope.monitor.events.times import read_time
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.keys import SCOPES, make_key
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from rankscope.cli.parser import Parser
    from rankscope.monitor.store.keys import ApiKey


def add_make(parser: Parser) -> None:
    """Add the arguments of `key make`."""
    add_store_arguments(parser, run_make, more=SERVICE)
    parser.add_argument(
        "name", type=read_word, metavar="NAME", help="name of the key, such as search-service"
    )
    parser.add_argument(
        "--scope",
        nargs="+",
        required=True,
        choices=SCOPES,
        metavar="SCOPE",
        help="what the key allows: ingest sends events; read reads values; admin changes rules, "
        "keys and the configuration; the first key of a project needs admin",
    )
    parser.add_examples(
        "rankscope monitor key make music.db ann --scope read admin",
        "rankscope monitor key make music.db search-service --scope ingest",
    )


def add_list(parser: Parser) -> None:
    """Add the arguments of `key list`."""
    add_store_arguments(parser, run_list, more=SERVICE)


def add_revoke(parser: Parser) -> None:
    """Add the arguments of `key revoke`."""
    add_store_arguments(parser, run_revoke, more=SERVICE)
    parser.add_argument(
        "key_id", type=read_word, metavar="KEY_ID", help="id of the key, as `key list` shows it"
    )


def run_make(options: Namespace) -> int:
    """Create a key, and print it once."""
    if is_service(options.store):
        scopes = list(dict.fromkeys(options.scope))
        said = dict(
            ask_service(options, "POST", "/v1/keys", {"name": options.name, "scopes": scopes})
        )
        print_result(options, said, said["key"])
        return 0
    # A key that is refused makes no store: the first one has to be an administrator's.
    with open_writer(options, is_new="admin" in options.scope) as monitor:
        key, secret = make_key(
            options.project, options.scope, name=options.name, now=monitor.clock()
        )
        monitor.writer.add_key(key, ACTOR, keeps_admin=True)
    print_result(options, {**_describe(key), "key": secret.reveal()}, secret.reveal())
    return 0


def run_list(options: Namespace) -> int:
    """Print the keys of the project, without their secrets."""
    if is_service(options.store):
        keys = list(ask_service(options, "GET", "/v1/keys")["keys"])
    else:
        with open_reader(options) as monitor:
            keys = [_describe(key) for key in monitor.store.keys(options.project)]
    if options.json:
        print_json({"keys": keys})
    elif keys:
        columns = {
            "key_id": [key["key_id"] for key in keys],
            "name": [key["name"] for key in keys],
            "scopes": [" ".join(key["scopes"]) for key in keys],
            "created": [_write_time(key["created"]) for key in keys],
            "revoked": [_write_time(key["revoked"]) for key in keys],
        }
        print(Table(columns))
    return 0


def run_revoke(options: Namespace) -> int:
    """Revoke a key."""
    if is_service(options.store):
        ask_service(options, "DELETE", name_path("keys", options.key_id))
        _print_revoked(options)
        return 0
    with open_writer(options) as monitor:
        was_good = monitor.writer.revoke_key(
            options.project, options.key_id, monitor.clock(), ACTOR, keeps_admin=True
        )
    if not was_good:
        raise UsageError(
            "there is no such key, or it is already revoked",
            hint="list the ids of the keys with rankscope monitor key list",
            code="unknown_key",
        )
    _print_revoked(options)
    return 0


def _print_revoked(options: Namespace) -> None:
    said = {"key_id": options.key_id, "revoked": True}
    print_result(options, said, f"revoked\t{options.key_id}")


def _write_time(text: str | None) -> str:
    return "-" if text is None else write_moment(read_time(text, "time")[0])


def _describe(key: ApiKey) -> dict[str, Any]:
    names = ("key_id", "name", "scopes", "created", "revoked")
    return write_record(key, names, ("created", "revoked"))
