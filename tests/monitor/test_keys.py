"""Keys open what they were made for, and show their secret once."""

from __future__ import annotations

import json
import re
from hashlib import sha256

import pytest
from rankscope import RankscopeError
from rankscope.monitor.store.keys import Secret, authenticate, make_key
from rankscope.records import replace

from tests.refusals import refuses


def test_a_key_has_256_bits_of_which_sha_256_is_kept() -> None:
    key, shown = make_key("music", ["read", "ingest", "read"], name="search", now=5)
    form = re.fullmatch(r"rk_([0-9a-f]{16})_([0-9a-f]{64})", shown.reveal())
    assert (key.key_id, key.digest) == (form[1], sha256(form[2].encode()).digest())
    assert (key.project, key.scopes) == ("music", ("ingest", "read"))
    assert (key.created, key.revoked) == (5, None)
    assert make_key("music", ["read"], name="search", now=5)[1].reveal() != shown.reveal()


def test_only_the_whole_key_opens() -> None:
    key, shown = make_key("music", ["ingest"], name="search", now=0)
    other, other_shown = make_key("films", ["ingest"], name="search", now=0)
    find_key, text = {one.key_id: one for one in (key, other)}.get, shown.reveal()
    assert authenticate(find_key, text, 1) == key
    secret = other_shown.reveal().rpartition("_")[2]
    wrong = [
        "",
        text[:-1],
        text + "0",
        text + "\n",
        text.upper(),
        text.replace("rk_", "rk-"),
        f"rk_{key.key_id}_{secret}",
        f"rk_{'0' * 16}_{secret}",
        f"rk_{key.key_id}_{'٠' * 64}",
        f"rk_{key.key_id}_" + "0" * 64,
    ]
    assert [authenticate(find_key, presented, 1) for presented in wrong] == [None] * len(wrong)
    assert authenticate({key.key_id: replace(key, revoked=1)}.get, text, 1) is None


@pytest.mark.parametrize(
    ("project", "scopes", "name", "code"),
    [
        ("music", [], "x", "key_scope"),
        ("music", ["root"], "x", "key_scope"),
        ("", ["read"], "x", "missing_id"),
        ("m" * 129, ["read"], "x", "id_length"),
        ("music", ["read"], "\0", "nul_byte"),
    ],
)
def test_a_key_is_for_something(project: str, scopes: list[str], name: str, code: str) -> None:
    with refuses(RankscopeError, code):
        make_key(project, scopes, name=name, now=0)


def test_a_secret_is_not_shown_by_accident() -> None:
    shown = [f"{Secret('abc')}", f"{Secret('abc')!r}", f"{[Secret('abc')]}"]
    assert not any("abc" in text for text in shown)
    with pytest.raises(TypeError):
        json.dumps(Secret("abc"))
