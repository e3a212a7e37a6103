"""Which addresses of the net may be asked: not this machine, not its network, unless somebody says so.

The check sits where a socket is made for one resolved address, so a name that resolves to something else at
the next look (DNS rebinding), a redirect and a number for a name all meet it.
"""

import errno
import ipaddress
import socket
from typing import Any, Final

REFUSED: Final = "private address refused"

_NOT_PUBLIC_4: Final = tuple(
    map(
        ipaddress.IPv4Network,
        (
            # IANA's registry of special-purpose IPv4 addresses, whole, and multicast.
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
            "168.63.129.16/32",  # a host's own services in Azure
        ),
    )
)
_UNICAST_6: Final = ipaddress.IPv6Network("2000::/3")
"""All that is allocated as public; loopback, link-local, site-local, private and multicast lie outside."""
_NOT_PUBLIC_6: Final = tuple(
    map(
        ipaddress.IPv6Network,
        # Within 2000::/3, of IANA's registry: protocol assignments (Teredo, benchmarks, ORCHID),
        # documentation, the AS112 service.
        ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"),
    )
)
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")
_6TO4: Final = ipaddress.IPv6Network("2002::/16")

AddrInfo = tuple[Any, Any, int, str, tuple[Any, ...]]


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public net; an IPv4 one within an IPv6 one decides.

    Not for what is no address as the resolver writes them (such as 0x7f.1).
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return False
        if ip.ipv4_mapped or ip in _TRANSLATED:
            ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        elif ip in _6TO4:
            ip = ipaddress.IPv4Address(int(ip) >> 80 & 0xFFFFFFFF)
        else:
            return ip in _UNICAST_6 and not any(ip in network for network in _NOT_PUBLIC_6)
    return not any(ip in network for network in _NOT_PUBLIC_4)


def open_socket(address: AddrInfo, *, allow_private: bool) -> socket.socket:
    """A socket for one resolved address, not connected yet; OSError for a private address."""
    family, kind, protocol, _, target = address
    if not allow_private and not is_public(str(target[0])):
        raise OSError(errno.EACCES, f"{REFUSED}: {target[0]}")
    made = socket.socket(family, kind, protocol)
    made.setblocking(False)
    return made
