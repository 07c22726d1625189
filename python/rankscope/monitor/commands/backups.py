"""The commands that keep a store whole: `rankscope monitor backup`, `restore` and `upgrade`."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from contextlib import closing
from functools import partial
from pathlib import Path

from rankscope._cli.parser import OnceFlag, Parser, print_json, print_notes, read_integer
from rankscope._show.table import show
from rankscope.errors import FileError, UsageError
from rankscope.monitor.commands.store import (
    PROJECT,
    STORE_HELP,
    add_store_arguments,
    name_store,
    note_password,
    print_result,
    refuse_host,
)
from rankscope.monitor.commands.store import (
    open_reader as open_monitor,
)
from rankscope.monitor.store.postgres.address import POSTGRES
from rankscope.monitor.store.sqlite.files import SQLITE
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.store.tables.revisions import Revision

PROBLEM = 1
PLACE = "folder, or URL such as s3://bucket/folder, that is empty or has backups of this store"


def read_count(text: str) -> int:
    """Return how many backups to keep."""
    count = read_integer(text)
    if count < 1:
        raise ArgumentTypeError(f"expected 1 or more, found {count}")
    return count


def add_backup(parser: Parser) -> None:
    """Add the arguments of `backup`."""
    add_store_arguments(parser, run_backup)
    parser.add_argument("place", metavar="PLACE", help=PLACE)
    parser.add_argument(
        "--keep",
        type=read_count,
        metavar="N",
        help="afterwards, remove all backups in PLACE but the newest N (default: remove none)",
    )
    parser.add_examples(
        "rankscope monitor backup music.db backups",
        "rankscope monitor backup music.db s3://bucket/backups --keep 14",
    )


def run_backup(options: Namespace) -> int:
    """Make a backup, and print where it is and the number of the last event in it."""
    from rankscope.monitor.backups import (
        make_backup,
        prune_backups,
    )

    with open_monitor(options) as monitor:
        now = monitor.clock()
        made = make_backup(monitor.store, options.place, now=now)
    if options.keep is not None:
        prune_backups(options.place, options.keep, now=now)
    seq = made.mark.seq
    text = f"{show(made.location)}\tevents up to number {seq}"
    print_result(options, {"backup": made.location, "last_seq": seq, "bytes": made.size}, text)
    return 0


def add_restore(parser: Parser) -> None:
    """Add the arguments of `restore`."""
    parser.description = (
        "Restore a backup as a new store. With --verify, all values are recomputed from the "
        "restored events and compared; the exit status is 1 if any bit differs."
    )
    parser.add_argument(
        "backup",
        metavar="BACKUP",
        help="folder or URL of a backup, or of several, of which the newest undamaged one is "
        "restored; for PostgreSQL, a file of pg_dump --format=custom",
    )
    parser.add_argument("store", metavar="TARGET", help=f"new store: {STORE_HELP}")
    parser.add_argument(
        "--verify",
        action=OnceFlag,
        help="recompute all values of the restored store, and compare them",
    )
    parser.add_argument(
        "--against",
        metavar="STORE",
        help="with --verify, also compare the values with those of the store that was backed up",
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    parser.set_defaults(run=run_restore, project=PROJECT)
    parser.add_examples(
        "rankscope monitor restore backups restored.db --verify",
        "rankscope monitor restore s3://bucket/backups drill.db --verify --against music.db",
    )


def run_restore(options: Namespace) -> int:
    """Restore a backup, and print what was verified."""
    if options.against is not None and not options.verify:
        raise UsageError("--against needs --verify", hint="add --verify", code="usage")
    for place in (options.backup, options.store):
        refuse_host(place)
    skipped: tuple[FileError, ...] = ()
    if options.store.startswith(POSTGRES):
        from rankscope.monitor.store.postgres.dump import (
            restore_dump,
        )

        note_password(options.store)
        restore_dump(options.backup, options.store)
        source = options.backup
    else:
        from rankscope.monitor.backups import restore_backup
        from rankscope.monitor.events.times import format_time

        target = Path(options.store.removeprefix(SQLITE))
        restored = restore_backup(options.backup, target)
        source, skipped = restored.location, restored.skipped
        if skipped:
            instead = f"restored the backup of {format_time(restored.time)} instead: {source}"
            print_notes([*(error.summary for error in skipped), instead])
    target_name = name_store(options.store)
    said: dict[str, object] = {
        "backup": source,
        "store": target_name,
        "skipped": [{"file": each.file, "message": each.message} for each in skipped],
    }
    lines = [f"{show(source)}\trestored as {show(target_name)}"]
    is_good = True
    if options.verify:
        checks = _verify(options)
        is_good = all(not check["wrong"] for check in checks)
        said["checks"] = checks
        found = [_describe(check) for check in checks]
        lines += found or ["no project is set up: nothing to compare"]
    print_result(options, said, "\n".join(lines))
    return 0 if is_good else PROBLEM


def _verify(options: Namespace) -> list[dict[str, object]]:
    """Read all of a restored store, and compare the values of its projects."""
    from rankscope.monitor.definition.configuration import (
        find_configuration,
    )
    from rankscope.monitor.doctor import (
        compare_windows,
        recompute_windows,
    )

    checks: list[dict[str, object]] = []
    with open_monitor(options) as restored:
        restored.store.verify()
        compared = {"its events": partial(recompute_windows, restored.store, is_complete=True)}
        running = None
        if options.against is not None:
            options.store = options.against
            running = open_monitor(options)
            compared[name_store(options.against)] = partial(
                compare_windows, restored.store, running.store
            )
        try:
            for project in restored.store.projects():
                if restored.store.configuration(project) is None:
                    continue
                configuration = find_configuration(restored.store, project)
                for name, compare in compared.items():
                    done = compare(project=project, configuration=configuration)
                    check = {"project": project, "compared_with": name, "hours": done.hours}
                    checks.append({**check, "wrong": list(done.wrong)})
        finally:
            if running is not None:
                running.close()
    return checks


def _describe(check: dict[str, object]) -> str:
    wrong = check["wrong"]
    other = show(str(check["compared_with"]))
    told = f"{check['hours']:,} final hours compared with {other}"
    result = "equal" if check["hours"] else "nothing to compare"
    if isinstance(wrong, list) and wrong:
        result = f"other values: {', '.join(wrong)}"
    return f"{show(str(check['project']))}\t{told}: {result}"


def add_upgrade(parser: Parser) -> None:
    """Add the arguments of `upgrade`."""
    parser.description = (
        "Bring the tables of a store to this release, in one transaction: all of it or nothing. A "
        "backup is made first. A store in a file must not be in use; in PostgreSQL, services go "
        "on if the plan says that it only adds."
    )
    parser.add_argument("store", metavar="STORE", help=STORE_HELP)
    parser.add_argument(
        "--plan", action=OnceFlag, help="only print what an upgrade would do, and change nothing"
    )
    parser.add_argument(
        "--backup-to", metavar="PLACE", help=f"{PLACE} (default: the folder STORE.backups)"
    )
    parser.add_argument(
        "--no-backup", action=OnceFlag, help="make no backup: needed for a store in PostgreSQL"
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    parser.set_defaults(run=run_upgrade, project=PROJECT)
    parser.add_examples(
        "rankscope monitor upgrade music.db --plan",
        "rankscope monitor upgrade music.db",
    )


def run_upgrade(options: Namespace) -> int:
    """Upgrade a store, and print which revisions that took."""
    from rankscope._names import as_dict
    from rankscope.monitor.backups import make_backup
    from rankscope.monitor.events.times import read_clock
    from rankscope.monitor.store import open_reader, open_store
    from rankscope.monitor.store.tables.revisions import (
        find_revision,
        plan_upgrade,
    )

    refuse_host(options.store)
    note_password(options.store)
    url = options.store if "://" in options.store else SQLITE + options.store
    with closing(open_reader(url, is_for_upgrade=True)) as reader:
        revision = reader.query(find_revision)
    steps = plan_upgrade(revision)
    said: dict[str, object] = {"revision": revision, "steps": [as_dict(step) for step in steps]}
    name = show(name_store(options.store))
    lines = [f"{name} has revision {revision}", *map(_describe_step, steps)]
    if steps and not options.plan:

        def back_up(store: StoreReader) -> None:
            if options.no_backup:
                return
            place = options.backup_to or f"{options.store.removeprefix(SQLITE)}.backups"
            try:
                made = make_backup(store, place, now=read_clock())
            except UsageError as error:
                if error.code == "store_backup":
                    error.hint += "; then add --no-backup"
                raise
            said["backup"] = made.location
            lines.append(f"backup\t{show(made.location)}")

        try:
            open_store(url, before_upgrade=back_up).close()
        except FileError as error:
            if error.code == "store_locked":
                error.hint = "stop the service or the command that writes to the store first"
            raise
        lines.append(f"upgraded to revision {steps[-1].number}")
    elif not steps:
        lines = [f"{name} has revision {revision}: nothing to do"]
    if options.json:
        print_json(said)
    else:
        print("\n".join(lines))
    return 0


def _describe_step(step: Revision) -> str:
    needs = "only adds: services of the release before go on" if step.only_adds else "needs a stop"
    return f"{step.number}\t{step.summary} ({needs})"
