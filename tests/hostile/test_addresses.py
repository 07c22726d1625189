"""No webhook reaches the metadata of a cloud, however its address is written or wrapped."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import RankscopeError
from rankscope.monitor.notify.addresses import METADATA_NAMES, is_public
from rankscope.monitor.notify.http import Poster, read_url

from tests.refusals import refuses

SERVICES = {
    "Amazon": ("169.254.169.254", "fd00:ec2::254"),
    "Amazon, DNS": ("169.254.169.253", "fd00:ec2::253"),
    "Amazon, containers": ("169.254.170.2", "169.254.170.23", "fd00:ec2::23"),
    "Azure, wire server": ("168.63.129.16",),
    "Azure": ("169.254.169.254",),
    "Google": ("169.254.169.254", "fd20:ce::254"),
    "Alibaba": ("100.100.100.200",),
    "Oracle": ("192.0.0.192", "169.254.169.254"),
    "Tencent": ("169.254.0.23",),
    "Scaleway": ("169.254.42.42", "fd00:42::42"),
    "Akamai": ("169.254.169.254", "fd00:a9fe:a9fe::1"),
    "OpenStack": ("169.254.169.254", "fe80::a9fe:a9fe"),
    "IBM": ("161.26.0.10", "166.9.0.1"),
    "Equinix Metal": ("192.80.8.124",),
}
ADDRESSES = sorted({address for some in SERVICES.values() for address in some})
PLAIN = [address for address in ADDRESSES if ":" not in address]


def wrap(text):
    """The addresses of IPv6 that lead to one of IPv4."""
    number = int(IPv4Address(text))
    google = int(IPv4Address("8.8.8.8"))
    wrapped = {
        "mapped": 0xFFFF << 32 | number,
        "compatible": number,
        "translated": 0xFFFF << 48 | number,
        "NAT64": 0x64_FF9B << 96 | number,
        "NAT64 of a network": 0x64_FF9B_0001 << 80 | number,
        "6to4": 0x2002 << 112 | number << 80 | 1,
        "Teredo server": 0x2001_0000 << 96 | number << 64 | ~google & 0xFFFF_FFFF,
        "Teredo client": 0x2001_0000 << 96 | google << 64 | ~number & 0xFFFF_FFFF,
        "ISATAP": 0x2A00_1450 << 96 | 0x5EFE << 32 | number,
        "ISATAP, of a global address": 0x2A00_1450 << 96 | 0x0200_5EFE << 32 | number,
    }
    return [str(IPv6Address(address)) for address in wrapped.values()]


@pytest.mark.parametrize("address", [*ADDRESSES, *(each for one in PLAIN for each in wrap(one))])
def test_a_name_that_stands_for_one_is_not_called(address):
    for found in ([address], ["8.8.8.8", address]):
        poster = Poster(resolve=lambda _host, _port, found=found: found)
        with refuses(RankscopeError, "webhook_address"):
            poster.post(read_url("https://example.com/hook"), {}, b"{}")


@pytest.mark.parametrize("name", sorted(METADATA_NAMES))
@pytest.mark.parametrize("write", [str, str.upper, "{}.".format], ids=["plain", "upper", "dot"])
def test_a_metadata_service_is_refused_by_its_name(name, write):
    """Whatever the name is said to stand for now: the machine that sends may see it otherwise."""
    asked = []

    def resolve(host, _port):
        asked.append(host)
        return ["8.8.8.8"]

    poster = Poster(resolve=resolve)
    with refuses(RankscopeError, "webhook_address"):
        poster.check(read_url(f"https://{write(name)}/hook"))
    assert asked == []


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_never_more_public_than_the_address(address):
    for each in wrap(str(address)):
        assert is_public(address) or not is_public(ip_address(each))
