"""Changes how a project is measured, watched and shown, and answers its incidents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.times import Time, read_clock, read_moment, to_micros
from rankscope.monitor.incidents import management
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.incidents.response import respond
from rankscope.monitor.reader import ProjectReader
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.store.store import Store, StoreReader


class ProjectManager(ProjectReader):
    """Changes how a project is measured, watched and shown, and answers its incidents.

    Args:
        store: An open store.
        project: The name of the project.
        clock: Returns the current time as the store counts it.
        threads: The number of threads.
        writes: Whether the store can be written.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str = "default",
        *,
        clock: Callable[[], int] = read_clock,
        threads: int | None = None,
        writes: bool = True,
    ) -> None:
        super().__init__(store, project, clock=clock, threads=threads)
        self._writes = writes

    @property
    def writer(self) -> Store:
        """The store, for what writes to it.

        Raises:
            UsageError: The monitor was opened to read only.
        """
        from rankscope.monitor.store.store import Store

        if not (self._writes and isinstance(self.store, Store)):
            raise UsageError(
                "expected a monitor that writes, found one that only reads",
                hint="open it with writes=True, while no other process writes to the store",
                code="read_only",
            )
        return self.store

    def configure(self, configuration: Configuration, *, actor: str = "local") -> None:
        """Set up measurement, or change it.

        A new definition never mixes with values of an old one: the next `evaluate` recomputes all
        windows from the stored events.

        Args:
            configuration: The new configuration.
            actor: The name for the audit log.

        Raises:
            FileError: The store cannot be written.
        """
        self.writer.configure(self.project, configuration.to_json(), self.clock(), actor)
        self.__dict__.pop("configuration", None)

    def set_rule(self, rule: Rule, *, actor: str = "local") -> None:
        """Create a rule, or change the rule with its name.

        A change of what the rule measures discards the evidence collected so far.

        Args:
            rule: The rule.
            actor: The name for the audit log.

        Raises:
            UsageError: The project does not measure what the rule needs.
            FileError: The store cannot be written.
        """
        management.set_rule(
            self.writer, self.project, self.configuration, rule, now=self.clock(), actor=actor
        )

    def remove_rule(self, name: str, *, actor: str = "local") -> None:
        """Remove a rule; its incidents are resolved, and stay.

        Raises:
            UsageError: There is no such rule.
            FileError: The store cannot be written.
        """
        management.remove_rule(self.writer, self.project, name, now=self.clock(), actor=actor)

    def silence(self, name: str, until: Time | None, *, actor: str = "local") -> None:
        """Send no notifications of a rule until a time; it is still checked.

        Args:
            name: The name of the rule.
            until: A `datetime` with a time zone, or ISO text; `None` sends notifications again.
            actor: The name for the audit log.

        Raises:
            UsageError: There is no such rule, or the time has no time zone.
            FileError: The store cannot be written.
        """
        store = self.writer
        end = None if until is None else to_micros(read_moment(until, "until"))
        management.silence_rule(store, self.project, name, end, now=self.clock(), actor=actor)

    def resolve_rule(self, name: str, *, actor: str = "local") -> None:
        """Resolve all incidents of a rule and discard its evidence.

        Args:
            name: The name of the rule.
            actor: The name for the audit log.

        Raises:
            UsageError: There is no such rule.
            FileError: The store cannot be written.
        """
        management.resolve_rule(self.writer, self.project, name, now=self.clock(), actor=actor)

    def acknowledge(self, incident_id: str, *, note: str = "", actor: str = "local") -> Incident:
        """Acknowledge an incident: somebody works on it, so that no more reminders are sent.

        Args:
            incident_id: The ID of the incident.
            note: A note for its history.
            actor: Who does it.

        Returns:
            The incident afterwards.

        Raises:
            UsageError: There is no such incident, or it is over.
            FileError: The store cannot be written.
        """
        return self._respond(incident_id, "acknowledge", actor, note)

    def snooze(
        self, incident_id: str, until: Time, *, note: str = "", actor: str = "local"
    ) -> Incident:
        """Send no notifications of an incident until a time; if it lasts, it is open again then.

        Args:
            incident_id: The ID of the incident.
            until: A `datetime` with a time zone, or ISO text.
            note: A note for its history.
            actor: Who does it.

        Returns:
            The incident afterwards.

        Raises:
            UsageError: There is no such incident, it is over, or the time has passed or has no
                time zone.
            FileError: The store cannot be written.
        """
        end = read_moment(until, "until")
        return self._respond(incident_id, "snooze", actor, note, until=end)

    def resolve(self, incident_id: str, *, note: str = "", actor: str = "local") -> Incident:
        """Resolve an incident and discard the evidence of its stream.

        If the stream is still bad, new evidence opens a new incident.

        Args:
            incident_id: The ID of the incident.
            note: A note for its history.
            actor: Who does it.

        Returns:
            The incident afterwards.

        Raises:
            UsageError: There is no such incident, or it is resolved already.
            FileError: The store cannot be written.
        """
        return self._respond(incident_id, "resolve", actor, note)

    def _respond(
        self, incident_id: str, action: str, actor: str, note: str, **more: datetime
    ) -> Incident:
        store, now = self.writer, self.clock()
        return respond(
            store, self.project, incident_id, action, now=now, actor=actor, note=note, **more
        )
