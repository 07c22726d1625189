"""The signing secrets of webhooks, in a file of their own beside the database.

The database has only their ids, so that neither it nor its log, a backup or an export contains a
secret. Only the process that writes to the store writes this file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from rankscope.errors import FileError
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.files import beside, cannot_write, make_private
from rankscope.monitor.store.sqlite.high_water import sync_folder


class SecretFile:
    """The file of the secrets of a store; there is none until there is a secret.

    Args:
        store: The database.
    """

    def __init__(self, store: Path) -> None:
        self._path = beside(store, ".secrets")

    def find(self, secret_id: str) -> Secret | None:
        """Find a secret by its id, `None` where the file does not have it."""
        text = self._read().get(secret_id)
        return None if text is None else Secret(text)

    def add(self, secret_id: str, secret: Secret) -> None:
        """Add a secret, on the disk when this returns."""
        stored = self._read()
        if stored.get(secret_id) != secret.reveal():
            self._write({**stored, secret_id: secret.reveal()})

    def keep(self, secret_ids: Collection[str]) -> None:
        """Remove all secrets but those with these ids."""
        stored = self._read()
        kept = {name: text for name, text in stored.items() if name in secret_ids}
        if kept != stored:
            self._write(kept)

    def _read(self) -> dict[str, str]:
        try:
            secrets = json.loads(self._path.read_bytes())["secrets"]
            if all(isinstance(text, str) for text in secrets.values()):
                return dict(secrets)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._damaged(error.strerror or "it cannot be read") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        raise self._damaged("it is damaged")

    def _write(self, secrets: Mapping[str, str]) -> None:
        """Replace the whole file, so that a crash leaves either the old or the new one."""
        part = self._path.with_name(f"{self._path.name}.part")
        try:
            part.unlink(missing_ok=True)
            make_private(part)
            with part.open("w", encoding="ascii") as file:
                json.dump({"version": 1, "secrets": dict(secrets)}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise cannot_write(self._path, error) from error

    def _damaged(self, problem: str) -> FileError:
        return FileError(
            f"the file with the secrets of webhooks cannot be used: {problem}",
            hint="restore the file, or delete it and set the webhook of each project again",
            code="store_secrets",
            file=str(self._path),
        )
