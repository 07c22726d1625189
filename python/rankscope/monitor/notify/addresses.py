"""Which addresses may be called: those that anybody on the Internet could call, and no others.

The registries of special addresses (IANA, RFC 6890 and what updates it) are listed here, because
what Python knows of them depends on its version. Clouds add services that only their own machines
reach, some of them at addresses that look public, and a metadata service may hand out credentials.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address


SPECIAL = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind the translators of providers; Alibaba, 100.100.100.200
        "127.0.0.0/8",  # this machine
        "169.254.0.0/16",  # this link; metadata of most clouds, 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols; Oracle, 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # sinks of names
        "192.52.193.0/24",  # multicast by unicast
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # sinks of names
        "198.18.0.0/15",  # measurements
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
CLOUDS = tuple(
    IPv4Network(network)
    for network in (
        "168.63.129.16/32",  # Azure: the platform of the machine, its settings and its DNS
        "192.80.8.124/32",  # Equinix Metal: metadata
        "161.26.0.0/16",  # IBM: services of the infrastructure
        "166.8.0.0/14",  # IBM: private endpoints of services
    )
)
"""Services of clouds at addresses that no registry lists as special."""

METADATA_NAMES = frozenset(
    {
        "instance-data",  # Amazon
        "instance-data.ec2.internal",
        "metadata",  # Google, as its machines resolve it
        "metadata.goog",
        "metadata.google.internal",
        "metadata.packet.net",  # Equinix Metal
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",  # Tencent
    }
)
"""Names of metadata services, refused before they are resolved."""

SPECIAL_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, measurements and identifiers
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # sinks of names
        "3fff::/20",  # documentation
    )
)
GLOBAL_6 = IPv6Network("2000::/3")
"""All of IPv6 that was ever given to anybody."""

# Addresses that stand for one of IPv4, which is what is reached by them.
MAPPED = IPv6Network("::ffff:0:0/96")
TRANSLATED = IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = IPv6Network("2002::/16")
TEREDO = IPv6Network("2001::/32")
ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
"""Of any network: what stands before an IPv4 address in the last 64 bits."""

PRIVATE = (
    IPv4Network("10.0.0.0/8"),
    IPv4Network("100.64.0.0/10"),
    IPv4Network("127.0.0.0/8"),
    IPv4Network("172.16.0.0/12"),
    IPv4Network("192.168.0.0/16"),
    IPv6Network("::1/128"),
    IPv6Network("fc00::/7"),
)
"""Networks of a company, and this machine; the operator may allow them."""

METADATA = (
    IPv4Address("100.100.100.200"),  # Alibaba
    IPv6Address("fd00:ec2::254"),  # Amazon
    IPv6Address("fd00:ec2::23"),  # Amazon: credentials of its containers
    IPv6Address("fd20:ce::254"),  # Google
)
"""Metadata services at private addresses, which nobody may allow."""

LOOPBACK = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))


def is_public(address: Address) -> bool:
    """Whether an address is public.

    Examples:
        >>> from ipaddress import ip_address
        >>> [is_public(ip_address(one)) for one in ("8.8.8.8", "10.0.0.1", "64:ff9b::a00:1")]
        [True, False, False]
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    if isinstance(address, IPv4Address):
        return _is_plain(address)
    inner = list(unwrap(address))
    is_wrapper = any(address in network for network in (MAPPED, TRANSLATED, SIX_TO_FOUR, TEREDO))
    is_global = address in GLOBAL_6 and not any(address in network for network in SPECIAL_6)
    return (is_wrapper or is_global) and all(map(_is_plain, inner))


def is_private(address: Address) -> bool:
    """Whether an address is one of a company's network or of this machine, and no metadata service.

    Examples:
        >>> from ipaddress import ip_address
        >>> [is_private(ip_address(one)) for one in ("10.0.0.1", "::1", "169.254.169.254")]
        [True, True, False]
    """
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        if address in MAPPED:
            return is_private(IPv4Address(int(address) & 0xFFFF_FFFF))
    within = any(address.version == network.version and address in network for network in PRIVATE)
    return within and address not in METADATA


def is_metadata_name(host: str) -> bool:
    """Whether a host is the metadata service of a cloud.

    Examples:
        >>> is_metadata_name("metadata.google.internal."), is_metadata_name("example.com")
        (True, False)
    """
    return host.removesuffix(".") in METADATA_NAMES


def is_loopback(address: Address) -> bool:
    """Whether an address is one of this machine."""
    return any(address.version == network.version and address in network for network in LOOPBACK)


def unwrap(address: Address) -> Iterator[IPv4Address]:
    """List the IPv4 addresses that an IPv6 address leads to.

    A network may have its own prefix for such addresses (RFC 6052), which nobody else can know.
    """
    if isinstance(address, IPv4Address):
        return
    number = int(address)
    if address in MAPPED or address in TRANSLATED:
        yield IPv4Address(number & 0xFFFF_FFFF)
    elif address in SIX_TO_FOUR:
        yield IPv4Address(number >> 80 & 0xFFFF_FFFF)
    elif address in TEREDO:
        yield IPv4Address(number >> 64 & 0xFFFF_FFFF)  # the server
        yield IPv4Address(~number & 0xFFFF_FFFF)  # the client
    elif number >> 32 & 0xFFFF_FFFF in ISATAP:
        yield IPv4Address(number & 0xFFFF_FFFF)


def _is_plain(address: IPv4Address) -> bool:
    return not any(address in network for network in (*SPECIAL, *CLOUDS))
