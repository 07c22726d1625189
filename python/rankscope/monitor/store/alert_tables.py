"""The tables of rules, of their alerts, and of what is still to be told."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, Text

from rankscope.monitor.store.schema import SEQ, TABLES

rules = Table(
    "rules",
    TABLES,
    Column("project_id", Integer, ForeignKey("projects.project_id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("rule", Text, nullable=False),
    Column("progress", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("evaluated", BigInteger, nullable=False),
    Column("silenced_until", BigInteger),
    Column("revision", BigInteger, nullable=False),
)
"""Rules and their states; `rule` and `progress` are JSON, and `revision` grows by each change."""

alerts = Table(
    "alerts",
    TABLES,
    Column("number", SEQ, primary_key=True),
    Column("project_id", Integer, ForeignKey("projects.project_id"), nullable=False),
    Column("alert_id", Text, nullable=False, unique=True),
    Column("body", Text, nullable=False),
    Index("alerts_of_project", "project_id", "number"),
)
"""Every change of a state, as JSON."""

outbox = Table(
    "outbox",
    TABLES,
    Column("number", SEQ, primary_key=True),
    Column("project_id", Integer, ForeignKey("projects.project_id"), nullable=False),
    Column("notification_id", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("finished", BigInteger),
    Column("problem", Text, nullable=False),
    Index("outbox_of_project", "project_id", "number"),
    Index("outbox_by_status", "status", "due"),
)
"""What is to be told, and what became of it; `status` is waiting, delivered, dead or summed."""

webhooks = Table(
    "webhooks",
    TABLES,
    Column("project_id", Integer, ForeignKey("projects.project_id"), primary_key=True),
    Column("url", Text, nullable=False),
    Column("secret_id", Text, nullable=False),
    Column("allows_http", Boolean, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("disabled", BigInteger),
)
"""Where notifications of a project go. The secret that signs them is in the file `.secrets`, by its
id, and not in the database."""
