"""What every store guarantees for accounts, roles, sessions, and keys that are replaced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rankscope.errors import UsageError
from rankscope.monitor.store.keys import AuditEntry, Secret, authenticate, make_key
from rankscope.monitor.store.methods import fold
from rankscope.monitor.store.people import SESSION_IDLE, SESSION_LIFE, BrowserSession, Person
from rankscope.monitor.store.store import Store
from rankscope.monitor.store.tables.keys import touch_key

from tests.monitor.store.conformance.events import Open
from tests.refusals import refuses

ANN = Person(person_id=0, email="ann@example.com", name="Ann", created=5)


def add(store: Store, person: Person = ANN) -> Person:
    entry = AuditEntry(person.created, "root", "person.add", person.email)
    number = store.add_person(person, entry)
    assert number is not None
    return replace(person, person_id=number)


def note(time: int, action: str = "test") -> AuditEntry:
    return AuditEntry(time, "root", action, ANN.email)


def begin(person: Person, digest: str, time: int) -> BrowserSession:
    return BrowserSession(
        digest=digest, person_id=person.person_id, created=time, seen=time, agent="a browser"
    )


class PeopleConformance:
    """Tests of people, and of keys that expire."""

    def test_an_account_is_found_by_what_it_has(self, opened: Open) -> None:
        with opened() as store:
            assert not store.has_people()
            ann = add(store, replace(ANN, groups=("a", "b"), recovery=("1",), subject="issuer 1"))
            assert store.add_person(replace(ANN, name="another"), note(6)) is None
        with opened() as store:
            assert store.has_people()
            assert store.people() == [ann]
            for known in ({"email": ann.email}, {"subject": "issuer 1"}, {"person_id": 1}):
                assert store.find_person(**known) == ann
            assert store.find_person(email="ben@example.com") is None
            assert store.projects() == []

    def test_a_change_is_made_from_what_is_stored_or_not_at_all(self, store: Store) -> None:
        ann = add(store)
        assert store.change_person(ann, {"totp_step": 7}, note(6))
        before = store.read_audit(None)
        used = begin(ann, "d", 7)
        assert not store.change_person(ann, {"totp_step": 8}, note(7), session=used)
        assert (store.find_session("d", 7), store.read_audit(None)) == (None, before)
        assert store.find_person(email=ann.email) == replace(ann, totp_step=7)

    def test_a_secret_is_stored_with_the_account_that_names_it(self, store: Store) -> None:
        ann = add(store)
        assert store.change_person(ann, {"totp": "ab"}, note(6), secret=Secret("JBSW"))
        found = store.find_secret("ab")
        assert found is not None
        assert found.reveal() == "JBSW"
        later = replace(ann, totp="ab")
        assert store.change_person(later, {"totp_step": 7}, note(7))
        assert store.find_secret("ab") is not None

    def test_the_largest_role_of_a_person_and_the_groups_counts(self, store: Store) -> None:
        ann = add(store, replace(ANN, groups=("search",)))
        assert store.set_roles("music", {"group:search": "editor", ann.email: "viewer"}, 5, "me")
        assert store.set_roles("films", {ann.email: "viewer", "ben@example.com": "admin"}, 5, "me")
        access = store.find_access(ann)
        assert (access.roles, access.is_operator) == ({"music": "editor", "films": "viewer"}, False)
        assert store.set_roles("films", {ann.email: None, "ben@example.com": None}, 6, "me")
        assert not store.set_roles("films", {ann.email: None}, 6, "me")
        assert store.find_access(ann).roles == {"music": "editor"}
        assert store.find_access(replace(ann, groups=())).roles == {"music": "viewer"}
        # The names of groups are not patterns, and no group is a person.
        assert store.find_access(replace(ann, email="", groups=("%", "Search"))).roles == {}

    def test_an_operator_administers_all_projects_and_one_stays(self, store: Store) -> None:
        ann = add(store)
        for project in ("music", "films"):
            store.set_roles(project, {"ben@example.com": "viewer"}, 5, "me")
        store.set_roles(None, {ann.email: "operator"}, 5, "me")
        access = store.find_access(ann)
        assert (access.roles, access.is_operator) == ({"films": "admin", "music": "admin"}, True)
        with refuses(UsageError, "no_administrator"):
            store.set_roles(None, {ann.email: None}, 6, "me")
        assert store.roles(None) == {ann.email: "operator"}
        key, _ = make_key("music", ["ingest"], name="log", now=7)
        store.add_key(key, "root", keeps_admin=True)  # somebody administers the project

    @pytest.mark.parametrize(
        ("since_use", "since_begin", "is_open"),
        [
            (SESSION_IDLE - 1, SESSION_IDLE, True),
            (SESSION_IDLE, SESSION_IDLE, False),
            (1, SESSION_LIFE - 1, True),
            (1, SESSION_LIFE, False),
        ],
    )
    def test_a_session_ends_after_a_while_unused_and_in_any_case(
        self, store: Store, since_use: int, since_begin: int, *, is_open: bool
    ) -> None:
        ann, now = add(store), 10 * SESSION_LIFE
        assert store.change_person(ann, {}, note(1), session=begin(ann, "d", now - since_begin))
        assert store.renew_session("d", {"seen": now - since_use})
        assert (store.find_session("d", now) is not None) == is_open

    def test_sessions_are_of_enabled_accounts_and_end_together(self, store: Store) -> None:
        ann, ben = add(store), add(store, replace(ANN, email="ben@example.com"))
        for person, digest in ((ann, "a"), (ann, "b"), (ben, "c")):
            assert store.change_person(person, {}, note(6), session=begin(person, digest, 6))
        assert store.end_sessions(ben.person_id, "a", note(7)) == 0  # somebody else's
        assert store.end_sessions(ann.person_id, "a", note(7)) == 1
        assert [store.find_session(digest, 8) is not None for digest in "abc"] == [
            False,
            True,
            True,
        ]
        assert store.change_person(ben, {"disabled": 8}, note(8))
        assert store.find_session("c", 8) is None
        fresh = begin(ann, "e", 9)
        assert store.change_person(ann, {}, note(9), session=fresh, left="b")
        assert [each.digest for each in store.list_sessions(ann.person_id)] == ["e"]
        assert store.end_sessions(ann.person_id, None, note(9)) == 1

    def test_a_person_has_100_sessions_the_newest(self, store: Store) -> None:
        ann = add(store)
        for number in range(102):
            session = begin(ann, str(number), 1000 + number)
            assert store.change_person(ann, {}, note(6), session=session)
        kept = {each.digest for each in store.list_sessions(ann.person_id)}
        assert kept == {str(number) for number in range(2, 102)}

    def test_a_key_opens_until_it_expires(self, store: Store) -> None:
        key, shown = make_key("music", ["read"], name="search", now=7, expires=10)
        store.add_key(key, "root")
        opens = [
            authenticate(store.find_key, shown.reveal(), now) is not None for now in (9, 10, 11)
        ]
        assert opens == [True, False, False]

    def test_a_key_goes_on_for_a_while_after_it_was_replaced(self, store: Store) -> None:
        old, shown = make_key("music", ["read"], name="search", now=7)
        store.add_key(old, "root")
        new, other = make_key("music", ["read"], name="search", now=8)
        assert store.rotate_key(old.key_id, new, 20, "root")
        for now, is_old in ((8, True), (19, True), (20, False)):
            assert (authenticate(store.find_key, shown.reveal(), now) is not None) == is_old
            assert authenticate(store.find_key, other.reveal(), now) is not None
        later, _ = make_key("music", ["read"], name="search", now=20)
        assert not store.rotate_key(old.key_id, later, 30, "root")  # it has expired
        again, _ = make_key("films", ["read"], name="search", now=9)
        assert not store.rotate_key(new.key_id, again, 30, "root")  # of another project
        assert [key.key_id for key in store.keys("music")] == [old.key_id, new.key_id]
        assert store.keys("films") == []

    def test_the_last_use_of_a_key_is_kept(self, store: Store) -> None:
        key, _ = make_key("music", ["read"], name="search", now=7)
        store.add_key(key, "root")
        store.transact(fold(touch_key, (key.key_id, 9), {})).result()
        assert store.keys("music")[0].used == 9

    def test_the_audit_log_is_read_from_the_newest_on(self, store: Store) -> None:
        for time in range(5):
            store.record_audit(None if time % 2 else "music", note(time))
        everything = store.read_audit(None)
        assert [each.entry.time for each in everything] == [4, 3, 2, 1, 0]
        assert [each.project for each in everything] == ["music", None, "music", None, "music"]
        assert store.read_audit("music") == everything[::2]
        assert store.read_audit(None, before=everything[1].number, limit=2) == everything[2:4]
        assert store.read_audit("films") == []
