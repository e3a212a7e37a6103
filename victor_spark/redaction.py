"""Removes credentials from addresses and messages: user, password, signed and secret query parameters.

A redacted address is the same each time the address is signed anew, so it can name a file.
"""

import re
from typing import Final
from urllib.parse import unquote

_SECRET: Final = re.compile(
    # Signatures of S3 and compatible stores, Google, CloudFront, Alibaba, Tencent, Akamai, nginx:
    r"x-(?:amz|goog|oss|obs|cos|tos|bce|ms|ibm)-.*|q-(?:sign|ak|key|header|url)-?.*|key-pair-id|policy|expires"
    r"|googleaccessid|hdn\w*|__gda__|__token__|md5|s?hmac|mac"
    # and any name that contains one of these.
    r"|.*(?:signature|credential|secret|token|passw|passphrase|pwd|(?:access|api|private)[._-]?key|subscription-key|bearer"
    r"|authorization|jwt|cookie|session).*|(?:.*[_-])?auth(?:[_-].*)?|ticket"
    r"|sig|sign|sas|key|apikey|bearer|verify|tok|nonce|code|pass|pw|pin|otp|sid|user|username|user[_-]?name|usr|uid|login|email",
    re.IGNORECASE,
)
_SHARED_ACCESS: Final = re.compile(
    r"(?i)s[veiprst]|spr|sip|ss|srt|sdd|sks|skoid|sktid|skt|ske|skv|saoid|suoid|scid|ses|rsc[cdelt]"
)
"""Parameters of Azure's shared access signatures. They are secret only in a query that has `sig`, too."""

_BRACKETS: Final = re.compile(r"[\[\]]")
_SEPARATORS: Final = re.compile(r"[,|(]")
_PATH: Final = re.compile(r"[./]")
_WEB_TOKEN: Final = re.compile(r"eyJ[\w-]{10,}(?:\.[\w-]*)*")
# `Path` leaves one slash of two.
_SCHEME: Final = r"(?<![\w+.-])([A-Za-z][\w+.-]*://|(?:https?|ftps?|sftp|s3[an]?|gs|hdfs|webhdfs):/)"
# Up to the last @ before the path. If no port follows the colon, the password may also hold / ? or #.
_USER: Final = re.compile(_SCHEME + r"(?:[^/?#\s]*@)?(?:[^/?#\s:@\[]*:(?!\d*(?:[/?#\s]|$))\S{0,1000}@)?")
_USER_IN_ADDRESS: Final = re.compile(_SCHEME + r"(?:[^/?#]*@)?(?:[^/?#:@\[]*:(?!\d*(?:[/?#]|$))[\s\S]*@)?")
# In a text, a query ends with the word, without the punctuation at the word's end.
_QUERY: Final = re.compile(r"([?#;])([^\s\"'<>:,.;)\]]*(?:[:,.;)\]]+[^\s\"'<>:,.;)\]]+)*)")
_QUERY_IN_ADDRESS: Final = re.compile(r"([?#;])([^#]*)", re.DOTALL)
_CONTAINERS: Final = ("abfs://", "abfss://", "wasb://", "wasbs://")
"""Schemes of addresses in which the name before the @ is a container, not a user."""


def redacted(address: str) -> str:
    """An address without credentials; a path stays as it is."""
    return _redacted(address, _USER_IN_ADDRESS, _QUERY_IN_ADDRESS)


def redacted_message(text: str) -> str:
    """A text whose addresses have no credentials."""
    return _redacted(text, _USER, _QUERY)


def _redacted(text: str, user: re.Pattern[str], query: re.Pattern[str]) -> str:
    if "@" in text and ":/" in text:
        text = user.sub(_without_user, text)
    return query.sub(_public, text) if "=" in text else text


def _without_user(found: re.Match[str]) -> str:
    container = found[1].lower() in _CONTAINERS and ":" not in found[0][len(found[1]) :]
    return found[0] if container else found[1]


def _public(found: re.Match[str]) -> str:
    """A query without its secret parameters."""
    if "=" not in found[2]:
        return found[0]
    parts = re.split("[&;?]", found[2])
    names = [unquote(part.partition("=")[0]).strip() for part in parts]
    signed = any(name.lower() == "sig" for name in names)
    kept = [
        part
        for part, name in zip(parts, names, strict=True)
        if not _is_secret(name, unquote(unquote(part.partition("=")[2])), signed=signed)
    ]
    if len(kept) == len(names):
        return found[0]
    return found[1] + "&".join(kept) if kept else ""


def _is_secret(name: str, value: str, *, signed: bool) -> bool:
    if name.lower() == "key" and _PATH.search(value):
        return False  # the key of a file in a store, which is no secret
    if any(map(_SECRET.fullmatch, _BRACKETS.split(name))) or _WEB_TOKEN.fullmatch(value):
        return True
    nested = "?" + _SEPARATORS.sub("&", value)
    return (signed and _SHARED_ACCESS.fullmatch(name) is not None) or redacted(nested) != nested
