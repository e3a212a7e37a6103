"""Which addresses of the net may be asked: not this machine, not its network, unless somebody says so.

The check sits where a socket is made for one resolved address, so a name that resolves to something else at
the next look (DNS rebinding), a redirect and a number for a name all meet it.
"""

import errno
import ipaddress
import socket
from collections.abc import Callable
from typing import Any, Final

REFUSED: Final = "private address refused"
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")

AddrInfo = tuple[Any, Any, int, str, tuple[Any, ...]]


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public net (addresses wrapped in IPv6 ones are unwrapped)."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        wrapped = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if wrapped is None and ip in _NAT64:
            wrapped = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if wrapped is not None:
            return is_public(str(wrapped))
    return ip.is_global and not ip.is_multicast


def sockets(*, allow_private: bool) -> Callable[[AddrInfo], socket.socket]:
    """What makes the fetcher's sockets; it raises OSError for a private address."""

    def make(address: AddrInfo) -> socket.socket:
        family, kind, protocol, _, target = address
        if not allow_private and not is_public(str(target[0])):
            raise OSError(errno.EACCES, f"{REFUSED}: {target[0]}")
        return socket.socket(family, kind, protocol)

    return make
