"""Unpacks gzip that nobody trusts: its output, its ratio and the number of its members are bounded.

Members are unpacked piece by piece, so that many small ones do not cost the square of their number.
"""

from __future__ import annotations

import zlib

from rankscope.monitor.server.problems import RefusedRequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.server.settings import Settings

GZIP = 16 + zlib.MAX_WBITS
PIECE = 1 << 16
FREE = 1 << 20
"""Bytes of output whose ratio does not count."""


def gunzip(packed: bytes, settings: Settings) -> bytes:
    """Unpack a body.

    Args:
        packed: One or more members of gzip, and nothing else.
        settings: How much comes out of them at most.

    Raises:
        RefusedRequestError: They are damaged or cut off, or too much comes out.

    Examples:
        >>> import gzip
        >>> from rankscope.monitor.server.settings import Settings
        >>> gunzip(gzip.compress(b"a") + gzip.compress(b"b"), Settings())
        b'ab'
    """
    most = min(settings.plain_bytes, max(FREE, settings.ratio * len(packed)))
    plain = bytearray()
    members = 0
    member = None
    for start in range(0, len(packed), PIECE):
        piece = packed[start : start + PIECE]
        while piece:
            if member is None:
                members += 1
                if members > settings.members:
                    raise _too_much(f"at most {settings.members} members of gzip")
                member = zlib.decompressobj(GZIP)
            try:
                plain += member.decompress(piece, most - len(plain) + 1)
            except zlib.error:
                raise _damaged("something else") from None
            if len(plain) > most:
                raise _too_much(f"at most {most} bytes once unpacked")
            piece = member.unused_data if member.eof else member.unconsumed_tail
            if member.eof:
                member = None
    if member is not None or not members:
        raise _damaged("it cut off")
    return bytes(plain)


def _too_much(expected: str) -> RefusedRequestError:
    return RefusedRequestError(413, f"expected {expected}, found more", code="body_too_large")


def _damaged(found: str) -> RefusedRequestError:
    return RefusedRequestError(400, f"expected a body in gzip, found {found}", code="bad_gzip")
