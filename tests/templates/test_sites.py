"""Pages of one site are found by registered domain, by host, or by the first folders of their path."""

import pytest

from victor_spark.errors import UsageError
from victor_spark.hosts import check_grouping, site

URL = "http://Forum.Obec.co.uk:8080/rady/2013/leden.html?strana=2"


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        ("registered-domain", "obec.co.uk"),
        ("host", "forum.obec.co.uk"),
        ("path-prefix:1", "forum.obec.co.uk/rady"),
        ("path-prefix:2", "forum.obec.co.uk/rady/2013"),
        ("path-prefix:9", "forum.obec.co.uk/rady/2013"),
    ],
)
def test_a_page_belongs_to_its_site(grouping: str, expected: str) -> None:
    assert site(URL, grouping) == expected


def test_a_blog_under_a_provider_is_a_site_of_its_own() -> None:
    assert site("https://zahrada.blogspot.com/2013/") == "zahrada.blogspot.com"
    assert site("https://www.zahrada.blogspot.com/") == "zahrada.blogspot.com"


def test_addresses_without_a_domain_are_their_own_sites() -> None:
    assert site("http://192.168.7.1/a") == "192.168.7.1"
    assert site("http://localhost/a") == "localhost"


def test_pages_from_files_belong_to_their_folder() -> None:
    assert site("file:///data/obec/a.html") == site("file:///data/obec/b.html") == "file:///data/obec"
    assert site("file:///data/jiná/a.html") != site("file:///data/obec/a.html")


@pytest.mark.parametrize("url", [None, "", "urn:uuid:1", "http://[half", "mailto:a@b.cz"])
def test_what_has_neither_host_nor_folder_has_no_site(url: str | None) -> None:
    assert site(url) is None


@pytest.mark.parametrize(
    "text", ["domain", "path-prefix", "path-prefix:0", "path-prefix:x", "path-prefix:21"]
)
def test_an_unknown_grouping_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="registered-domain, host or path-prefix:N"):
        check_grouping(text)
