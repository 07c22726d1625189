"""Notices about incidents, for tests of messages."""

from __future__ import annotations

from datetime import UTC, datetime

from rankscope.monitor.incidents.incident import Incident, make_notice

NOW = datetime(2026, 11, 8, 15, 30, tzinfo=UTC)
BEGAN = datetime(2026, 11, 6, 11, 30, tzinfo=UTC)


def make_incident(**said):
    return Incident(
        **{
            "incident_id": "incident_1",
            "project": "music",
            "rule": "quality",
            "measure": "nDCG@5",
            "kind": "quality",
            "model": "gbdt",
            "version": "42",
            "slice": (("device", "tv"),),
            "opened": NOW,
            "began": BEGAN,
            "updated": NOW,
            "reason": "nDCG@5 is 0.7045, below the floor of 0.7976.",
            "group": "group_1",
        }
        | said
    )


def make(*parts, group="group_1"):
    return make_notice("music", NOW, group, parts)


HOSTILE = (
    "<!channel> <!here> <!everyone|x>",
    "<@U012AB3CD> <#C0123|general> <!subteam^S1|ops>",
    "@channel @here @everyone @all @_all",
    "<@123456789012345678> <@&123456789012345678> <:smile:1>",
    "<https://evil.example|Click here> <mailto:a@evil.example|x>",
    "[Click](https://evil.example/) ![x](https://evil.example/p.png) [a]: https://evil.example",
    "https://evil.example/login www.evil.example evil.example",
    "`code` ``` *bold* _italic_ ~gone~ **strong** || hidden ||",
    "# Heading\n## Other\n- item\n> quote\n1. one\n***\n| a | b |",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</code></p><a href='javascript:alert(1)'>x</a><!-- ",
    "&lt;b&gt; &#60;b&#62; &amp;amp; &nbsp;",
    '" onmouseover="alert(1)" x="',
    "tv\r\nBcc: victim@evil.example\r\n\r\nbody",
    "tv\nSubject: other",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200f \u061c",
    "\x00\x07\x1b[31mred\x1b[0m\x9b1m",
    "{0.__class__} {incident} %s %(x)s ${HOME} $(id) {{7*7}}",
    "\\ \\` \\* \\[x\\](https://evil.example)",
    "\ud800 \udfff".encode("utf-8", "replace").decode(),
    "🚨" * 60,
    "x" * 10_000,
    "`" * 50,
    "]]>" * 20 + "--></style>",
    " ",
    ".",
)
"""Names that mean something in mail, chats, terminals, templates or markup."""
