"""What Schemathesis has to know of the service that its description cannot say."""

from __future__ import annotations

import os
import re
from itertools import count

import schemathesis
from schemathesis.checks import positive_data_acceptance
from schemathesis.core.failures import Failure
from schemathesis.generation.meta import TestPhase

BEYOND_SCHEMA = {
    # A span ends after it begins, and has at most so many windows.
    "bad_span": "",
    "bad_period": "",
    "span_limit": "",
    "parameter": "expected two spans",
    # A measure has to be one that there is, and one of the project.
    "unknown_measure": "",
    "measure_syntax": "",
    "bad_parameter": "",
    "bad_definition": "expected (one of|measures|a gain|max_grade)",
    # With a long attribution window, nothing is final yet.
    "empty_input": "there are no rankings|no two versions|the versions have no values",
    # Versions are compared that there are.
    "unknown_version": "",
    # Slices are by attributes that the project has.
    "unknown_slice": "",
    # What a rule asks for is measured and fits its kind, its name is the one in its address, a
    # share is below 1, and a limit is either above or below a value. Only the rule about data can
    # be left out by name.
    "bad_rule": "(measure|slices|name|tolerance|above|below|rankings|channels|remind): "
    "|expected the fields of a rule",
    # A baseline ends after it begins; pairs are of two attributes of the configuration; a duration
    # is within bounds, whatever its unit.
    # Events are kept for as long as the attribution window. Edges of bins ascend.
    "bad_configuration": r"(bins\.[\s\S]*: |[\w.]+: )?expected (since before until|pairs of two|"
    r"a window|a grace|\w+ or more|bins of|from 1 to)",
    # Roles are for email addresses and groups; lengths are in bytes.
    "bad_email": "",
    "bad_group": "",
    # A key lasts for ten years at most, whatever the unit.
    "key_life": "",
    # A project is named as the key says.
    "other_project": "",
    # The rankings of a set are of that set, and have ids that nothing outside it has.
    "set_refused": "",
    # Without TLS only if that is allowed, on a port for the web, and to a public address;
    # no pattern can tell all spellings of IPv6 addresses.
    "webhook_url": "(webhook: )?expected (an address (with https|such as|in ASCII)|port 443)",
    "webhook_address": "",
}
"""What depends on several values at once, or on the project: by the code of a refusal, how its
message begins."""

STRIDE = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 4
"""Every fourth case at the limits of values is sent; HYPOTHESIS_PROFILE=thorough sends all."""
_numbers = count()


@schemathesis.hook
def filter_case(_ctx, case):
    """Send every so many cases at the limits of values, and all others."""
    is_at_limits = case.meta is not None and case.meta.phase.name == TestPhase.COVERAGE
    return not is_at_limits or next(_numbers) % STRIDE == 0


@schemathesis.check
def accepts_valid_data(ctx, response, case):
    """Refuse nothing that fits the description, but for what a schema cannot say."""
    try:
        positive_data_acceptance(ctx, response, case)
    except Failure:
        if not _is_beyond_schema(response):
            raise


def _is_beyond_schema(response):
    if response.status_code == 414:
        return True  # several long values make an address that is too long
    if response.status_code != 422:
        return False
    if response.headers["content-type"][0].startswith("text/html"):
        return True  # the same in JSON is looked at
    problem = response.json()["error"]
    begins = BEYOND_SCHEMA.get(problem["code"])
    return begins is not None and re.match(begins, problem["message"]) is not None


@schemathesis.serializer("application/x-ndjson")
def send_lines(_ctx, value):
    """Send lines as they were made."""
    return str(value).encode()


@schemathesis.check
def answers_for_each_event(_ctx, response, case):
    """Say what became of each event, and count that."""
    if case.operation.path in {"/v1/rankings", "/v1/labels"} and response.status_code == 200:
        told = response.json()
        statuses = [one["status"] for one in told["items"]]
        for status in ("accepted", "duplicate", "conflict", "rejected"):
            assert told[status] == statuses.count(status)


@schemathesis.hook
def map_body(ctx, body):  # noqa: ARG001 - theirs
    """Add the token of the session to forms."""
    if isinstance(body, dict) and "csrf" in body:
        return {**body, "csrf": os.environ["RANKSCOPE_CSRF"]}
    return body
