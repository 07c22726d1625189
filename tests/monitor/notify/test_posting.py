from __future__ import annotations

import itertools
import shutil
import socket
import ssl
import subprocess
import threading
from ipaddress import ip_address

import pytest
from rankscope import UsageError
from rankscope.monitor.notify import http
from rankscope.monitor.notify import http as posting
from rankscope.monitor.notify.addresses import is_loopback

from tests.monitor.notify.listener import OK, listening, make_poster
from tests.refusals import refuses, refuses_if

PRIVATE = [
    address
    for line in (
        "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1",
        "127.255.255.254 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255",
        "192.168.0.1 192.168.255.255",
        "168.63.129.16 192.80.8.124 161.26.0.10 166.11.255.255",
        "192.0.0.1 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1",
        "198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1",
        "224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255",
        ":: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:7f00:1",
        "64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::a00:1 64:ff9b:1::808:808 100::1 100:0:0:1::1",
        "2001::1 2001:0:7f00:1::1 2001:0:808:808:0:0:80ff:fffe 2001:0:a00:1:0:0:f7f7:f7f7",
        "2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2620:4f:8000::1 3fff::1 5f00::1 4000::1",
        "2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe::1 2002:c0a8:1::1",
        "fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 2a00:1450:4001::1%1 fec0::1 ff02::1 ff0e::1",
    )
    for address in line.split()
]

PUBLIC = [
    address
    for line in (
        "1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 128.0.0.1 169.253.0.1 168.63.129.15",
        "168.63.129.17 166.12.0.1 172.15.0.1 172.32.0.1 192.167.0.1 198.17.0.1 198.20.0.1",
        "223.255.255.255",
        "2a00:1450:4001::1 2606:4700::1111 2001:4860:4860::8888",
        "::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1 2001:0:808:808:0:0:f7f7:f7f7",
        "2a00:1450::5efe:808:808",
    )
    for address in line.split()
]


def post(listener, url="", body=b"", **more):
    target = http.read_url(url or listener.url, allows_http=True)
    return make_poster(**more).post(target, {}, body)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "http://example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://user@example.com/",
        "https://user:pass@example.com/",
        "https://@example.com/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:port/",
        "https://example.com/#fragment",
        "https://exam ple.com/",
        "https://example.com/\r\nX: y",
        "https://example.com/\x00",
        "https://ex\u00e4mple.com/",
        "https://\u24db\u24de\u24d2alhost/",
        "https://example.com\\@localhost/",
        "https://[fe80::1%25eth0]/",
        "https://%6cocalhost/",
        "https://[::1/",
    ],
)
def test_what_is_no_address_of_the_web_is_refused_and_not_shown(url):
    with refuses(UsageError, "webhook_url") as refused:
        http.read_url(url)
    assert url not in str(refused.value) or not url


def test_http_is_an_exception_that_is_asked_for():
    assert http.read_url("http://example.com", allows_http=True).authority == "example.com"
    assert http.read_url("http://example.com:8080/a?b", allows_http=True).path == "/a?b"
    assert http.read_url("https://[2a00:1450:4001::1]/").authority == "[2a00:1450:4001::1]"


@pytest.mark.parametrize("address", [*PRIVATE, "localhost", "", "1.2.3"])
def test_an_address_that_is_not_public_is_never_called(address):
    poster = http.Poster(resolve=lambda *_: [address])
    for do in (
        lambda: poster.check(http.read_url("https://example.com/")),
        lambda: poster.post(http.read_url("https://example.com/"), {}, b""),
    ):
        with refuses(http.PostError, "webhook_address") as refused:
            do()
        assert not address or address not in str(refused.value)


def test_one_address_that_is_not_public_is_enough(monkeypatch):
    monkeypatch.setattr(socket, "create_connection", pytest.fail)
    for addresses in (["8.8.8.8", "10.0.0.1"], ["::1", "2606:4700::1111"]):
        poster = http.Poster(resolve=lambda *_, found=addresses: found)
        with pytest.raises(http.PostError):
            poster.post(http.read_url("https://example.com/"), {}, b"")


@pytest.mark.parametrize("host", ["2130706433", "0177.1", "0x7f.1", "127.1", "0", "localhost"])
def test_other_spellings_of_this_machine_are_found_out(host):
    with refuses(http.PostError, "webhook_address"):
        http.Poster().check(http.read_url(f"https://{host}/"))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_this_machine_may_be_called_where_that_is_said(address):
    assert make_poster(address).check(http.read_url("https://example.com/")) == [address]
    with pytest.raises(http.PostError):
        make_poster("10.0.0.1").check(http.read_url("https://example.com/"))


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "192.168.1.1", "172.16.0.1", "127.0.0.1", "::1", "fd12::1", "8.8.8.8"]
)
def test_private_networks_may_be_called_where_that_is_said(address):
    target = http.read_url("https://example.com/")
    assert http.Poster(resolve=lambda *_: [address]).with_private().check(target) == [address]


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "192.80.8.124",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "224.0.0.1",
    ],
)
def test_metadata_services_are_never_called(address):
    poster = http.Poster(resolve=lambda *_: [address], allows_private=True)
    with refuses(http.PostError, "webhook_address"):
        poster.check(http.read_url("https://example.com/"))


def test_what_was_judged_is_called_though_the_name_stands_for_another_then(monkeypatch):
    answers = itertools.chain([["8.8.8.8"], ["8.8.8.8"]], itertools.repeat(["127.0.0.1"]))
    poster = http.Poster(resolve=lambda *_: next(answers))
    target = http.read_url("http://example.com:8080/", allows_http=True)
    poster.check(target)
    called = []

    def connect(address, timeout):
        called.append(address)
        assert timeout > 0
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    with refuses(http.PostError, "webhook_unreachable"):
        poster.post(target, {}, b"")
    assert called == [("8.8.8.8", 8080)]
    with refuses(http.PostError, "webhook_address"):
        poster.post(target, {}, b"")
    assert called == [("8.8.8.8", 8080)]


def test_a_request_is_what_was_said():
    with listening(b"HTTP/1.1 204 No Content\r\n\r\n") as listener:
        target = http.read_url(listener.url, allows_http=True)
        reply = make_poster().post(target, {"webhook-id": "a"}, b"body")
    assert reply == http.Reply(204)
    head, _, body = listener.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST /in?team=search HTTP/1.1",
        f"Host: hook.example:{listener.port}".encode(),
        b"webhook-id: a",
        b"Content-Length: 4",
        b"Connection: close",
    ]
    assert body == b"body"


def test_the_next_address_is_tried_where_one_is_closed():
    with listening() as listener:
        target = http.read_url(listener.url, allows_http=True)
        poster = make_poster("::1", "127.0.0.1")
        assert poster.post(target, {}, b"").status == 200


def test_certificates_are_those_of_the_name():
    class Context:
        names: list[str] = []  # noqa: RUF012 - one for the test

        def set_alpn_protocols(self, _names):
            pass

        def wrap_socket(self, plain, server_hostname):
            self.names.append(server_hostname)
            return plain

    with listening() as listener:
        url = f"https://hook.example:{listener.port}/"
        assert post(listener, url, context=Context()).status == 200
    assert Context.names == ["hook.example"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("certificates are made by openssl")
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "certificate.pem", folder / "key.pem"
    said = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    subprocess.run(
        [
            *(tool, *said.split(), "-subj", "/CN=hook.example"),
            *("-addext", "subjectAltName=DNS:hook.example", "-out", made[0], "-keyout", made[1]),
        ],
        check=True,
        capture_output=True,
    )
    return made


@pytest.mark.parametrize(
    ("host", "is_trusted", "code"),
    [
        ("hook.example", True, ""),
        ("hook.example", False, "webhook_tls"),
        ("other.example", True, "webhook_tls"),
    ],
)
def test_certificates_are_checked_before_anything_is_sent(certificate, host, code, *, is_trusted):
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(*certificate)
    context = ssl.create_default_context()
    if is_trusted:
        context.load_verify_locations(certificate[0])
    with listening(tls=served) as listener:
        url = f"https://{host}:{listener.port}/"
        if code:
            with refuses(http.PostError, code):
                post(listener, url, b"secret", context=context)
        else:
            assert post(listener, url, b"secret", context=context).status == 200
    assert len(listener.requests) == (not code)


def test_what_does_not_speak_tls_is_told():
    def answer(connection):
        connection.sendall(OK)

    with listening(answer, reads=False) as listener, pytest.raises(http.PostError) as refused:
        post(listener, f"https://hook.example:{listener.port}/")
    assert refused.value.code in {"webhook_tls", "webhook_unreachable"}


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (OK, http.Reply(200)),
        (b"HTTP/1.0 500\r\n\r\n", http.Reply(500)),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\r\n", http.Reply(201)),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", http.Reply(302)),
        (b"HTTP/1.1 429 Slow\r\nRetry-After: 120\r\n\r\n", http.Reply(429, 120.0)),
        (b"HTTP/1.1 503 No\r\nretry-after:  7 \r\nX: y\r\n\r\n", http.Reply(503, 7.0)),
        (b"HTTP/1.1 503 No\r\nRetry-After: 86399\r\n\r\n", http.Reply(503, 86_399.0)),
        (b"HTTP/1.1 503 No\r\nRetry-After: 86401\r\n\r\n", http.Reply(503, 86_400.0)),
        (b"HTTP/1.1 503 No\r\nRetry-After: 99999999999\r\n\r\n", http.Reply(503, 86_400.0)),
        (b"HTTP/1.1 503 No\r\nRetry-After: -5\r\n\r\n", http.Reply(503)),
        (b"HTTP/1.1 503 No\r\nRetry-After: soon\r\n\r\n", http.Reply(503)),
        (b"HTTP/1.1 503 No\r\nRetry-After: Fri, 01 Jan 1999 00:00:00 GMT\r\n\r\n", http.Reply(503)),
        (
            b"HTTP/1.1 503 No\r\nRetry-After: Fri, 01 Jan 2999 00:00:00 GMT\r\n\r\n",
            http.Reply(503, 86_400.0),
        ),
        (b"HTTP/1.1 410 Gone\r\n\r\n" + b"x" * (1 << 20), http.Reply(410)),
    ],
)
def test_of_an_answer_only_the_status_is_kept(answer, reply):
    with listening(answer) as listener:
        assert post(listener) == reply
    assert len(listener.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 2000 x\r\n\r\n", b"x" * (1 << 20)],
)
def test_what_is_no_answer_of_http_is_none(answer):
    with listening(answer) as listener, pytest.raises(http.PostError) as refused:
        post(listener)
    assert refused.value.code in {"webhook_answer", "webhook_unreachable"}


def drip(connection):
    while True:
        connection.sendall(b"H")


def drip_body(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    drip(connection)


def test_bytes_that_drip_are_not_waited_for(monkeypatch):
    monkeypatch.setattr(posting, "PIECE", 1)
    ticks = itertools.count(step=0.5)
    with listening(drip) as listener, refuses(http.PostError, "webhook_timeout"):
        post(listener, clock=lambda: float(next(ticks)), seconds=5.0)
    assert next(ticks) < 8


def test_a_body_without_end_is_cut(monkeypatch):
    read = []
    receive = http.Stream.read

    def count(stream, most, timeout=None):
        piece = receive(stream, most, timeout)
        read.append(len(piece))
        return piece

    monkeypatch.setattr(http.Stream, "read", count)
    with listening(drip_body) as listener:
        assert post(listener).status == 200
    assert sum(read) < http.MOST_BYTES + 2 * posting.PIECE


@pytest.mark.parametrize("where", ["name", "answer"])
def test_what_hangs_is_given_up(where):
    ends = threading.Event()

    def hang(*_):
        ends.wait(300)
        return ["127.0.0.1"]

    with listening(hang if where == "answer" else OK) as listener:
        more = {"resolve": hang} if where == "name" else {}
        with refuses(http.PostError, "webhook_timeout"):
            post(listener, seconds=0.05, **more)
        ends.set()


def test_a_name_that_stands_for_nothing_is_told():
    def fail(*_):
        raise socket.gaierror

    for resolve in (fail, lambda *_: []):
        with refuses(http.PostError, "webhook_unreachable"):
            http.Poster(resolve=resolve).check(http.read_url("https://example.com"))


def test_public_addresses_are_called():
    poster = http.Poster(resolve=lambda *_: PUBLIC)
    assert poster.check(http.read_url("https://example.com")) == PUBLIC


def test_a_webhook_has_five_seconds(monkeypatch):
    asked = []
    monkeypatch.setattr(http, "start_deadline", lambda _, seconds: asked.append(seconds))
    monkeypatch.setattr(http.Poster, "_find", lambda *_: [])
    http.Poster().check(http.read_url("https://example.com/"))
    assert asked == [5.0]


def test_a_webhook_has_a_short_address_and_a_port_of_the_web():
    start = "https://example.com/"
    for length in (2047, 2048, 2049):
        with refuses_if(length > 2048, UsageError, match="2048 characters at most"):
            http.read_url(start + "x" * (length - len(start)))
    for port in (443, 80, 1023, 1024, 1025):
        with refuses_if(port == 1023, UsageError, match="from 1024 on"):
            assert http.read_url(f"https://example.com:{port}/").port == port


@pytest.mark.parametrize("address", PRIVATE)
def test_only_plain_addresses_of_this_machine_are_its_own(address):
    expected = address == "::1" or address.startswith("127.")
    assert is_loopback(ip_address(address)) is expected
