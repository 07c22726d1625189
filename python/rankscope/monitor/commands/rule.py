"""`rankscope monitor rule`: manages alert rules."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import Any

from rankscope._cli.parser import Parser, print_json, read_integer, read_number
from rankscope._names import quote
from rankscope._show.table import Table
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    Run,
    add_store_arguments,
    ask_service,
    is_service,
    name_path,
    open_reader,
    open_writer,
    print_fields,
    read_duration,
    read_word,
    take_several,
    write_moment,
)
from rankscope.monitor.events.times import format_time, read_clock, read_time, to_datetime
from rankscope.monitor.rules.kinds import RuleField


def add_list(parser: Parser) -> None:
    """Add the arguments of `rule list`."""
    add_store_arguments(parser, run_list, more=SERVICE)


def add_remove(parser: Parser) -> None:
    """Add the arguments of `rule remove`."""
    _add_rule(parser, run_remove)


def add_silence(parser: Parser) -> None:
    """Add the arguments of `rule silence`."""
    _add_rule(parser, run_silence)
    parser.add_argument(
        "--for",
        dest="duration",
        type=read_duration,
        metavar="DURATION",
        help="how long to pause notifications, such as 8h; without it, notifications resume now",
    )


def add_resolve(parser: Parser) -> None:
    """Add the arguments of `rule resolve`."""
    parser.description = (
        "Mark the incident of a rule as resolved and start fresh: the evidence collected so far "
        "is discarded."
    )
    _add_rule(parser, run_resolve)


def _add_rule(parser: Parser, run: Run) -> None:
    add_store_arguments(parser, run, more=SERVICE)
    parser.add_argument("name", type=read_word, metavar="NAME", help="name of the rule")


def add_add(parser: Parser) -> None:
    """Add the arguments of `rule add`."""
    from rankscope.monitor.rules.kinds import FIELDS, KINDS
    from rankscope.monitor.rules.rule import DROP

    _add_rule(parser, run_add)
    kinds = "; ".join(f"{name} {kind.text}" for name, kind in KINDS.items())
    parser.add_argument("--kind", choices=tuple(KINDS), default=DROP, metavar="KIND", help=kinds)
    for field in FIELDS.values():
        if field.name not in {"name", "is_relative"}:
            _add_field(parser, field)
    parser.add_examples(
        "rankscope monitor rule add music.db quality -m nDCG@5 --slice device device:country",
        "rankscope monitor rule add music.db quality -m nDCG@5 --tolerance 5% --severity critical",
    )


def _add_field(parser: Parser, field: RuleField) -> None:
    """Add the option of a field; what isn't given is the default of its kind."""
    from rankscope.monitor.rules.kinds import KINDS

    setting, default = field.setting, field.setting.unset
    if not default and field.default is not None and field.control not in {"boxes", "flag"}:
        default = f"{field.default:g}" if field.control == "number" else str(field.default)
    kinds = "" if field.kinds == tuple(KINDS) else f"kind {', '.join(field.kinds)}: "
    text = kinds + setting.text.replace("`", "") + (f" (default: {default})" if default else "")
    names = [setting.option or f"--{field.name.replace('_', '-')}"]
    if field.name == "measure":
        names.insert(0, "-m")
    how: dict[str, dict[str, Any]] = {
        "boxes": {"nargs": "+", "choices": field.choices} if field.choices else take_several(),
        "list": {"nargs": "*"},
        "choice": {"choices": field.choices or None},
        "number": {"type": _read_tolerance if field.name == "tolerance" else read_number},
        "integer": {"type": read_integer},
        "text": {"type": read_word},
    }
    options: dict[str, Any] = {
        "dest": field.name,
        "metavar": field.metavar,
        "help": text,
    }
    parser.add_argument(*names, **options | how[field.control])


def run_add(options: Namespace) -> int:
    """Create or replace a rule, and print it."""
    from rankscope.monitor.rules.kinds import FIELDS, Rule

    given: dict[str, Any] = {"kind": options.kind}
    for name, field in FIELDS.items():
        value = getattr(options, name, None)
        if value is not None:
            given[name] = tuple(value) if isinstance(value, list) else value
        elif field.is_required and options.kind in field.kinds:
            raise UsageError(
                f"a rule of the kind {options.kind} needs a {name}",
                hint=f"pass --{name}, such as --measure nDCG@5 or --measure empty",
                code="usage",
            )
    if "tolerance" in given:
        given["tolerance"], given["is_relative"] = given["tolerance"]
    rule = Rule(**given)
    if is_service(options.store):
        said = dict(ask_service(options, "PUT", name_path("rules", rule.name), rule.to_dict()))
    else:
        with open_writer(options) as monitor:
            monitor.set_rule(rule, actor=ACTOR)
            (stored,) = (each for each in monitor.rules() if each.name == rule.name)
        said = stored.to_dict()
    order = [name for name in ("name", "kind", *FIELDS) if name in said]
    _print_fields(options, {name: said[name] for name in order})
    return 0


def run_list(options: Namespace) -> int:
    """Print the rules."""
    if is_service(options.store):
        rules = [state["rule"] for state in ask_service(options, "GET", "/v1/rules")["rules"]]
    else:
        with open_reader(options) as monitor:
            rules = [rule.to_dict() for rule in monitor.rules()]
    if options.json:
        print_json({"rules": rules})
    elif rules:
        names = ("name", "measure", "kind", "period", "slices", "tolerance")
        shown = [
            {name: _show(rule, name) if name in rule else "-" for name in names} for rule in rules
        ]
        print(Table({name: [row[name] for row in shown] for name in names}))
    return 0


def run_remove(options: Namespace) -> int:
    """Delete a rule."""
    if is_service(options.store):
        ask_service(options, "DELETE", name_path("rules", options.name))
    else:
        with open_writer(options) as monitor:
            monitor.remove_rule(options.name, actor=ACTOR)
    print_fields(options, {"removed": options.name})
    return 0


def run_silence(options: Namespace) -> int:
    """Pause the notifications of a rule, and print until when."""
    now = read_clock()
    until = None if options.duration is None else to_datetime(now + options.duration)
    moment = None if until is None else format_time(until)
    if is_service(options.store):
        path = name_path("rules", options.name, "silence")
        ask_service(options, "POST", path, {"until": moment})
    else:
        with open_writer(options) as monitor:
            monitor.silence(options.name, until, actor=ACTOR)
    _print_fields(options, {"name": options.name, "silenced_until": moment})
    return 0


def run_resolve(options: Namespace) -> int:
    """Resolve the incident of a rule."""
    if is_service(options.store):
        ask_service(options, "POST", name_path("rules", options.name, "resolve"))
    else:
        with open_writer(options) as monitor:
            monitor.resolve_rule(options.name, actor=ACTOR)
    print_fields(options, {"resolved": options.name})
    return 0


def _print_fields(options: Namespace, fields: dict[str, Any]) -> None:
    shown = fields if options.json else {name: _show(fields, name) for name in fields}
    print_fields(options, shown)


def _show(fields: dict[str, Any], name: str) -> str:
    from rankscope.monitor.rules.kinds import FIELDS

    value = fields[name]
    if name == "tolerance" and fields.get("is_relative"):
        return f"{100 * value:g}%"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if name == "silenced_until" and value is not None:
        return write_moment(read_time(value, name)[0])
    shown = ", ".join(value) if isinstance(value, list) else value
    unset = FIELDS[name].setting.unset if name in FIELDS else ""
    # Without channels, only the log is notified.
    is_unset = value is None or name == "watches"
    return str(shown or (unset if is_unset else "") or "-")


def _read_tolerance(text: str) -> tuple[float, bool]:
    is_relative = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise ArgumentTypeError(
            f"expected a number such as 0.02 or 5%, found {quote(text)}"
        ) from None
    return (number / 100 if is_relative else number), is_relative
