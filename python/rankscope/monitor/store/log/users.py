"""The users of an archived hour as hashes: to find the rankings of one, few files are read."""

from __future__ import annotations

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.store.log.blocks import Block, read_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.arrays import Texts


def hash_users(user_ids: Texts) -> NDArray[np.uint32]:
    """Return 4 bytes of a hash of each user, once."""
    starts, text = user_ids
    rows = np.arange(len(starts) - 1)
    numbers = np.frombuffer(memoryview(_core.hash_texts([(b"", (starts, text))], rows)), np.int64)
    return np.unique(numbers[np.diff(starts) > 0].astype(np.uint32))


def may_have_user(connection: Connection, block: Block, user_id: str) -> bool:
    """Return whether an archived hour may have rankings of a user; the file says whether it has."""
    text = np.frombuffer(user_id.encode(), np.uint8)
    wanted = hash_users((np.array([0, len(text)], dtype=np.int64), text))
    stored = np.frombuffer(read_index(connection, block), np.uint32)
    return not len(wanted) or bool(np.isin(wanted, stored).all())
