"""`rankscope monitor key`: makes, lists and revokes the keys of the service."""

from __future__ import annotations

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.stores import (
    ACTOR,
    add_store_arguments,
    open_reader,
    open_writer,
    read_word,
)
from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.monitor.events.times import format_time
from rankscope.monitor.store.keys import SCOPES, make_key
from rankscope.results.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rankscope.monitor.store.keys import ApiKey


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    made = actions.add_parser("make", help="make a key, and show it this one time")
    add_store_arguments(made)
    made.add_argument(
        "name", type=read_word, metavar="NAME", help="what people call it, such as search-service"
    )
    made.add_argument(
        "--scope",
        action=Once,
        nargs="+",
        required=True,
        choices=SCOPES,
        help="what it may do: send events, read, or change rules, keys and configuration",
    )
    made.set_defaults(act=_make)
    listed = actions.add_parser("list", help="list the keys, those that were revoked among them")
    add_store_arguments(listed)
    listed.set_defaults(act=_list)
    revoked = actions.add_parser("revoke", help="let a key open nothing any more")
    add_store_arguments(revoked)
    revoked.add_argument(
        "key_id", type=read_word, metavar="KEY_ID", help="its id, as `list` shows it"
    )
    revoked.set_defaults(act=_revoke)


def run(options: Namespace) -> int:
    """Do what is asked for."""
    options.act(options)
    return 0


def _make(options: Namespace) -> None:
    with open_writer(options, is_new=True) as monitor:
        key, secret = make_key(options.project, options.scope, name=options.name, now=monitor.now())
        monitor.store.add_key(key, ACTOR)
    if options.json:
        print_json({**_say(key), "key": secret.reveal()})
    else:
        print(secret.reveal())


def _list(options: Namespace) -> None:
    with open_reader(options) as monitor:
        keys = [_say(key) for key in monitor.store.keys(options.project)]
    if options.json:
        print_json({"keys": keys})
    elif keys:
        columns = {name: [_show(key[name]) for key in keys] for name in keys[0]}
        print(Table(columns))


def _revoke(options: Namespace) -> None:
    with open_writer(options) as monitor:
        was_good = monitor.store.revoke_key(options.project, options.key_id, monitor.now(), ACTOR)
    if not was_good:
        raise UsageError(
            "expected the id of a key that opens something, found another",
            hint="rankscope monitor key list shows the ids",
            code="unknown_key",
        )
    if options.json:
        print_json({"key_id": options.key_id, "revoked": True})
    else:
        print(f"revoked\t{options.key_id}")


def _say(key: ApiKey) -> dict[str, object]:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "created": format_time(key.created),
        "revoked": None if key.revoked is None else format_time(key.revoked),
    }


def _show(value: object) -> str:
    return " ".join(value) if isinstance(value, list) else str(value or "-")
