"""`rankscope monitor key`: manages the API keys of the service."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rankscope._cli.parser import Parser, print_json
from rankscope._show.table import Table, show
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
    read_duration,
    read_word,
    write_moment,
)
from rankscope.monitor.events.times import read_time, write_duration
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.keys import KEEP, KEY_TIMES, SCOPES, ApiKey, make_key


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
        help="what the key allows: ingest sends events; read reads values; admin changes "
        "keys, roles and the configuration, and includes edit, which changes rules, incidents and "
        "channels; the first key of a project needs admin, unless a person is admin",
    )
    parser.add_argument(
        "--expires",
        type=read_duration,
        metavar="DURATION",
        help="expire after this long, such as 90d (default: never)",
    )
    parser.add_examples(
        "rankscope monitor key make music.db deploy --scope read admin --expires 90d",
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


def add_rotate(parser: Parser) -> None:
    """Add the arguments of `key rotate`."""
    add_store_arguments(parser, run_rotate, more=SERVICE)
    parser.add_argument(
        "key_id", type=read_word, metavar="KEY_ID", help="id of the key, as `key list` shows it"
    )
    parser.add_argument(
        "--keep",
        type=read_duration,
        default=KEEP,
        metavar="DURATION",
        help="how long the old key goes on",
    )
    parser.add_argument(
        "--expires",
        type=read_duration,
        metavar="DURATION",
        help="expire after this long (default: as long as the old key was meant to last)",
    )
    parser.description = (
        "Make the successor of a key, with the same name and scopes, and print it once. The old "
        "key goes on for a while, so that nothing is refused while programs change over."
    )
    parser.add_examples("rankscope monitor key rotate music.db 3f2a... --keep 7d")


def run_rotate(options: Namespace) -> int:
    """Replace a key, and print its successor once."""
    if is_service(options.store):
        body = {"keep": write_duration(options.keep), **_expiry(options)}
        said = dict(ask_service(options, "POST", name_path("keys", options.key_id, "rotate"), body))
        print_result(options, said, said["key"])
        return 0
    from rankscope.monitor.server.access.accounts import replace_key

    with open_writer(options) as monitor:
        made = replace_key(
            monitor.writer,
            options.project,
            options.key_id,
            keep=options.keep,
            life=options.expires,
            now=monitor.clock(),
            actor=ACTOR,
        )
    if made is None:
        raise _unknown()
    key, secret = made
    print_result(options, {**_describe(key), "key": secret.reveal()}, secret.reveal())
    return 0


def _expiry(options: Namespace) -> dict[str, str]:
    return {} if options.expires is None else {"expires": write_duration(options.expires)}


def run_make(options: Namespace) -> int:
    """Create a key, and print it once."""
    if is_service(options.store):
        scopes = list(dict.fromkeys(options.scope))
        said = dict(
            ask_service(
                options,
                "POST",
                "/v1/keys",
                {"name": options.name, "scopes": scopes, **_expiry(options)},
            )
        )
        print_result(options, said, said["key"])
        return 0
    # A key that is refused makes no store: the first one has to be an administrator's.
    with open_writer(options, is_new="admin" in options.scope) as monitor:
        now = monitor.clock()
        expires = None if options.expires is None else now + options.expires
        key, secret = make_key(
            options.project, options.scope, name=options.name, now=now, expires=expires
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
            **{name: [_write_time(key[name]) for key in keys] for name in KEY_TIMES},
            "creator": [show(key["creator"] or "-") for key in keys],
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
        raise _unknown()
    _print_revoked(options)
    return 0


def _unknown() -> UsageError:
    return UsageError(
        "there is no such key, or it is already revoked or expired",
        hint="list the ids of the keys with rankscope monitor key list",
        code="unknown_key",
    )


def _print_revoked(options: Namespace) -> None:
    said = {"key_id": options.key_id, "revoked": True}
    print_result(options, said, f"revoked\t{options.key_id}")


def _write_time(text: str | None) -> str:
    return "-" if text is None else write_moment(read_time(text, "time")[0])


def _describe(key: ApiKey) -> dict[str, Any]:
    names = ("key_id", "name", "scopes", "creator", *KEY_TIMES)
    return write_record(key, names, KEY_TIMES)
