"""A service in this process, without a socket."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlencode

import httpx
from rankscope.monitor.server.app import make_app
from rankscope.monitor.store.keys import AuditEntry, make_key
from rankscope.monitor.store.people import BrowserSession, Person, hash_secret
from rankscope.monitor.store.sqlite.store import SQLiteStore

NOW = 1_795_284_000_000_000
TIME = "2026-11-21T17:00:00Z"


class Service:
    """An application on a store of its own, and a key for ingest."""

    def __init__(self, folder, settings=None, store=None, *, has_key=True, **said):
        self.store = store or SQLiteStore(folder / "events.db")
        self.log = []
        self.seconds = 0.0
        self._people = 0
        self.app = make_app(
            self.store,
            settings,
            write_log=self.log.append,
            clock=lambda: self.seconds,
            now=lambda: self.now,
            **said,
        )
        self.key = self.make_key("music", "ingest") if has_key else ""

    def make_key(self, project, *scopes):
        key, shown = make_key(project, scopes, name="test", now=NOW)
        self.store.add_key(key, "test")
        return shown.reveal()

    def make_person(self, **roles):
        """Store a person with roles by project; an operator with `operator=...`."""
        self._people += 1
        email = f"person{self._people}@example.com"
        person = Person(person_id=0, email=email, name="", created=NOW)
        number = self.store.add_person(person, AuditEntry(NOW, "test", "person.add", email))
        for project, role in roles.items():
            is_operator = role == "operator"
            self.store.set_roles(None if is_operator else project, {email: role}, NOW, "test")
        return replace(person, person_id=number)

    @property
    def now(self):
        return NOW + round(self.seconds * 1_000_000)

    def ask(self, method, path, body=b"", *, key="", headers=None):
        return self.ask_all([(method, path, body, self.headers(key, headers))])[0]

    def headers(self, key, headers=None):
        """Return the headers of a request; of an empty key, those with the key of the service."""
        made = {"content-type": "application/json"}
        if key is not None:
            made["authorization"] = f"Bearer {key or self.key}"
        return made | dict(headers or {})

    def ask_all(self, requests, client="10.1.2.3"):
        """Send requests at the same time, from one address."""

        async def ask():
            transport = httpx.ASGITransport(self.app, client=(client, 5))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost:8000"
            ) as asking:
                return await asyncio.gather(
                    *(
                        asking.request(method, path, content=body, headers=headers)
                        for method, path, body, headers in requests
                    )
                )

        # A browser that another test has started keeps a loop running in this thread.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, ask()).result()

    def abandon(self, method, path, *messages):
        """Send a request, or a part of it, and disconnect; return what was answered."""
        headers = {"host": "localhost:8000"} | self.headers("")
        scope = {
            "type": "http",
            "method": method,
            "scheme": "http",
            "root_path": "",
            "path": path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 5),
        }
        received, sent = iter([*messages, {"type": "http.disconnect"}]), []

        async def receive():
            return next(received)

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        return sent

    def post(self, path, events, **said):
        return self.ask("POST", path, json.dumps(events).encode(), **said)

    def counters(self, project="music"):
        """Return the counters of a project, once all that was submitted is stored."""
        self.store.transact(lambda _: None).result()
        counted = self.store.counters(project)
        assert isinstance(counted, dict)
        return counted

    def browser(self, client="127.0.0.1"):
        return Browser(self, client)

    def last_line(self):
        line = json.loads(self.log[-1])
        assert isinstance(line, dict)
        return line


class Browser:
    def __init__(self, service, client):
        self._service = service
        self._client = client
        self.cookies = {}

    def get(self, path, **headers):
        return self._ask("GET", path, b"", {"sec-fetch-site": "none"} | headers)

    def send(self, path, fields, **headers):
        said = {
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-site": "same-origin",
            "origin": "null",
        }
        return self._ask("POST", path, urlencode(fields, doseq=True).encode(), said | headers)

    def sign_in(self, key, wanted="/"):
        """Sign in as a person who may do what a key may do, and go on."""
        known = self._service.store.find_key(key.split("_")[1])
        role = next((each for each in ("admin", "edit", "read") if each in known.scopes), "")
        roles = {known.project: {"admin": "admin", "edit": "editor", "read": "viewer"}[role]}
        self.enter(self._service.make_person(**roles))
        return self.get(f"/sign-in?{urlencode({'next': wanted})}")

    def is_in(self):
        """Whether it is signed in: it is sent on from where one signs in."""
        return self.get("/sign-in").status_code == 303

    def enter(self, person):
        """Sign in as a person, without a password."""
        now, cookie = self._service.now, secrets.token_hex(32)
        session = BrowserSession(
            digest=hash_secret(cookie),
            person_id=person.person_id,
            created=now,
            seen=now,
            agent="a test",
        )
        entry = AuditEntry(now, person.email, "sign_in", self._client)
        assert self._service.store.change_person(person, {}, entry, session=session)
        near = self._client in {"127.0.0.1", "::1"}
        self.cookies = {f"{'' if near else '__Host-'}rankscope-session": cookie}

    def _ask(self, method, path, body, headers):
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            said["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        [answer] = self._service.ask_all([(method, path, body, said)], self._client)
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        assert isinstance(answer, httpx.Response)
        return answer


def find_token(page):
    token = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)
    assert token is not None
    return token[1]


class Refusing:
    failure: Exception | None = None

    def __init__(self, inner, error=None):
        self._inner = inner
        self.error = error
        self.probes = 0

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def probe(self):
        self.probes += 1
        return self._write(self._inner.probe)

    def submit(self, *given):
        return self._write(self._inner.submit, *given)

    def _write(self, write, *given):
        if self.error is not None:
            raise self.error
        return write(*given)


def make_ranking(number, **fields):
    made = {
        "event_id": f"e{number}",
        "ranking_id": f"r{number}",
        "time": TIME,
        "items": [{"doc_id": name, "rank": rank} for rank, name in enumerate("abc", start=1)],
    }
    return made | fields


def make_label(number, **fields):
    made = {
        "event_id": f"l{number}",
        "ranking_id": f"r{number}",
        "doc_id": "a",
        "time": TIME,
        "labels": ["click"],
    }
    return made | fields
