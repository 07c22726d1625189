"""Only addresses that anybody could call are called, however they are written."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from rankscope.monitor.notify.addresses import is_loopback, is_public

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
    )
    for address in line.split()
]


def test_there_are_enough_of_them() -> None:
    assert len(set(PRIVATE)) >= 60


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_somebody_else_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", PRIVATE)
def test_only_plain_addresses_of_this_machine_are_its_own(address: str) -> None:
    expected = address == "::1" or address.startswith("127.")
    assert is_loopback(ip_address(address)) is expected
