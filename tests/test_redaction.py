"""Redaction removes users, passwords and signatures from addresses and messages, and nothing else."""

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from victor_spark.errors import AnnotationError, InputError, ShardError, described
from victor_spark.redaction import redacted, redacted_message

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("http://anna:hunter2@h.example/x.warc.gz", "http://h.example/x.warc.gz"),
        ("http://hunter2@h.example:80/x", "http://h.example:80/x"),
        ("http://anna:hun@ter2@h.example/x", "http://h.example/x"),
        ("s3://key:hun/ter2@bucket/x", "s3://bucket/x"),
        ("http://anna:hun ter2@h.example/x", "http://h.example/x"),
        ("http://anna:hun/te?r#2@h.example/x", "http://h.example/x"),
        ("http://[2001:db8::1]:80/a@b", "http://[2001:db8::1]:80/a@b"),
        ("simplecache::https://anna:hunter2@h.example/x", "simplecache::https://h.example/x"),
        ("abfs://container@account.example/x", "abfs://container@account.example/x"),
        ("abfs://container:hunter2@account.example/x", "abfs://account.example/x"),
        (
            (
                "https://b.example/x?X-Amz-Algorithm=A&X-Amz-Credential=AK%2F1&X-Amz-Date=2&X-Amz-Expires=9"
                "&X-Amz-SignedHeaders=host&X-Amz-Security-Token=t&X-Amz-Signature=hunter2&versionId=7"
            ),
            "https://b.example/x?versionId=7",
        ),
        ("https://b.example/x?AWSAccessKeyId=A&Signature=s%3D&Expires=1", "https://b.example/x"),
        ("https://b.example/x?GoogleAccessId=A&X-Goog-Signature=s&generation=2", "https://b.example/x?generation=2"),
        (
            "https://a.example/c/x?sv=2020&ss=b&srt=o&st=1&se=2&sr=b&sp=r&spr=https&sip=1&skoid=4&sig=a%2Bb%3D",
            "https://a.example/c/x",
        ),
        ("https://a.example/x?st=3&se=4&sp=5", "https://a.example/x?st=3&se=4&sp=5"),
        ("https://d.example/x?Policy=eyJ&Signature=s~&Key-Pair-Id=K", "https://d.example/x"),
        ("https://d.example/x?OSSAccessKeyId=A&security-token=t", "https://d.example/x"),
        ("https://d.example/x?q-sign-algorithm=sha1&q-ak=A&q-signature=s", "https://d.example/x"),
        ("https://d.example/x?file=1.warc.gz&token=hunter2", "https://d.example/x?file=1.warc.gz"),
        ("https://d.example/x?access_token=hunter2#part", "https://d.example/x#part"),
        ("https://d.example/x#access_token=hunter2", "https://d.example/x"),
        ("https://d.example/x?a=1;Signature=hunter2;b=2", "https://d.example/x?a=1&b=2"),
        ("https://d.example/x?X%2DAmz%2DSignature=hunter2", "https://d.example/x"),
        ("https://d.example/x?SIG=hun ter2&y=1", "https://d.example/x?y=1"),
        ("https://d.example/x?t=eyJhbGciOiJIUzI1NiJ9.e30.hunter2", "https://d.example/x"),
        ("https://d.example/x?key=AIhunter2", "https://d.example/x"),
        ("https://d.example/x?key=CC-MAIN/1.warc.gz", "https://d.example/x?key=CC-MAIN/1.warc.gz"),
        ("https://d.example/x?author=a&author_id=2", "https://d.example/x?author=a&author_id=2"),
        ("https://d.example/x?u=https%3A%2F%2Fa%3Ahunter2%40h%2Fx&y=1", "https://d.example/x?y=1"),
        ("https://d.example/x?next=%2Fy%3Ftoken%3Dhunter2", "https://d.example/x"),
        ("https://d.example/x?next=https%253A%252F%252Fa%253Ahunter2%2540h%252F", "https://d.example/x"),
        ("https://d.example/x?auth%5Bpw%5D=hunter2&bearer=hunter2&private_key=hunter2", "https://d.example/x"),
        ("https://d.example/x?a=1%26token%3Dhunter2&b=1,token=hunter2&c=1|2", "https://d.example/x?c=1|2"),
        ("https://d.example/x?Signature=a,hunter2", "https://d.example/x"),
        ("https://d.example/x?a=1?token=hunter2", "https://d.example/x?a=1"),
        ("https://d.example/x;v=2;jsessionid=hunter2", "https://d.example/x;v=2"),
        ("http://@u:hunter2?hunter2@h/x", "http://h/x"),
        ("https://h.example:8080/a@b?c=d:e@f", "https://h.example:8080/a@b?c=d:e@f"),
        ("https://h.example/x?", "https://h.example/x?"),
    ],
)  # fmt: skip
def test_an_address_keeps_the_name_of_the_file_and_loses_the_credentials(address: str, public: str) -> None:
    assert redacted(address) == public
    assert redacted(public) == public


@pytest.mark.parametrize(
    ("message", "public"),
    [
        (
            "http://h.example/x?sig=hunter2: the server answered 403",
            "http://h.example/x: the server answered 403",
        ),
        ("can't open 'https://a:hunter2@h/x?token=b' (3 tries)", "can't open 'https://h/x' (3 tries)"),
        (
            "exceeded with url: /x?X-Amz-Signature=hunter2 (Caused by y)",
            "exceeded with url: /x (Caused by y)",
        ),
        ("http://h/x?token=hunter2, http://g/y?id=1.", "http://h/x, http://g/y?id=1."),
        ("no https://anna:'hun\"ter2@h/x there", "no https://h/x there"),
        ("http://h.example: write to me@h.example", "http://h.example: write to me@h.example"),
        ("https:/anna:hunter2@h.example/x: no such file", "https:/h.example/x: no such file"),
        ("C:/x/y@z: no such file", "C:/x/y@z: no such file"),
        ("why? a = b", "why? a = b"),
        ("page.html: no such file", "page.html: no such file"),
    ],
)
def test_a_message_loses_the_credentials_of_the_addresses_in_it(message: str, public: str) -> None:
    assert redacted_message(message) == public
    assert str(InputError(message)) == public
    assert described(OSError(message)) == f"OSError: {public}"


@example("@::", "@")
@given(st.text(), st.text())
def test_any_text_is_taken_and_taken_once(text: str, more: str) -> None:
    address = f"http://{text}?{more}"
    for function in (redacted, redacted_message):
        assert function(function(address)) == function(address)
    assert (
        redacted(f"https://h.example/{text.replace('?', '').replace('#', '')}?sig={SECRET}").count(SECRET)
        == 0
    )


def test_errors_travel_between_processes_as_they_are() -> None:
    for error in (ShardError("http://a:b@h/x: gone"), AnnotationError("no", "stale")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
