"""Pages and templates use the same name for a site, so that the tables can be joined."""

import pytest

from victor_spark.hosts import host_name, registered_domain, site


@pytest.mark.parametrize(
    "url",
    [
        "https://alice.blogspot.com/2013/",
        "https://www.alice.blogspot.com/",
        "http://deep.down.obec.co.uk:8080/a",
        "http://News.Harbour.EXAMPLE./",
        "https://docs.project.github.io/",
    ],
)
def test_the_registered_domain_of_a_page_is_its_site_in_a_templates_table(url: str) -> None:
    assert registered_domain(host_name(url)) == site(url)


@pytest.mark.parametrize(
    "host", [None, "", ".", "a..b", "co.uk", "localhost", "192.168.7.1", "::1", "blogspot.com"]
)
def test_addresses_and_bare_suffixes_have_no_registered_domain(host: str | None) -> None:
    assert registered_domain(host) is None


@pytest.mark.parametrize("grouping", ["registered-domain", "host", "path-prefix:1"])
def test_an_international_domain_is_one_site_in_both_of_its_spellings(grouping: str) -> None:
    ascii_form = site("https://xn--bcher-kva.example/shop/1", grouping)
    assert site("https://Bücher.example./shop/2", grouping) == ascii_form
    assert (ascii_form or "").startswith("xn--bcher-kva.example")
    assert registered_domain("www.bücher.example") == "xn--bcher-kva.example"
    assert site("//bücher.example", "host") == "xn--bcher-kva.example"  # as `sites show` asks


def test_a_host_name_that_the_dns_does_not_allow_is_a_site_of_its_own() -> None:
    too_long = f"{'ü' * 5_000}.example"
    assert site(f"http://{too_long}/a", "host") == too_long
