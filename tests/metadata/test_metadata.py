"""The metadata of a page are found in every form; no form of metadata breaks the reader."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from victor_spark.metadata import author_names, dates, json_ld
from victor_spark.metadata.extract import Metadata, metadata

URL = "https://www.harbour-news.example/2024/05/03/ferry-is-late"


def page(head: str = "", body: str = "") -> Metadata:
    return metadata(
        f"<!doctype html><html lang='en-GB'><head>{head}</head><body>{body}</body></html>".encode(), URL
    )


def linked_data(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def test_a_graph_with_references_gives_every_field_and_its_source() -> None:
    found = page(
        linked_data(
            {
                "@context": "https://schema.org",
                "@graph": [
                    {"@type": "WebSite", "@id": "#site", "name": "Harbour News"},
                    {"@type": "Person", "@id": "#anna", "name": "Anna Kos"},
                    {
                        "@type": ["NewsArticle"],
                        "headline": "Ferry is late",
                        "author": [{"@id": "#anna"}, {"@type": "Person", "name": "Bo Lind"}],
                        "datePublished": "2024-05-03T07:30:00+0200",
                        "dateModified": "2024-05-04",
                        "publisher": {"@id": "#site"},
                        "image": {"@type": "ImageObject", "url": "/ferry.jpg"},
                        "keywords": "ferries, delays",
                    },
                ],
            }
        )
        + '<link rel="canonical" href="/ferry-is-late"><meta name="description" content="Fog &amp; tide">'
    )
    assert found.title == "Ferry is late"
    assert found.authors == ("Anna Kos", "Bo Lind")
    assert (found.date, found.date_modified) == ("2024-05-03T07:30:00+02:00", "2024-05-04")
    assert (found.site_name, found.description) == ("Harbour News", "Fog & tide")
    assert found.canonical_url == "https://www.harbour-news.example/ferry-is-late"
    assert found.image == "https://www.harbour-news.example/ferry.jpg"
    assert (found.tags, found.language) == (("ferries", "delays"), "en-GB")
    assert found.sources["authors"] == "json-ld NewsArticle.author"
    assert found.sources["description"] == "meta description"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        (
            "<title>Ferry is late | Harbour News</title><meta property=og:site_name content='Harbour News'>",
            "Ferry is late",
        ),
        ("<title>Harbour News – Ferry is late</title>", "Ferry is late"),
        ("<title>Ferry is late - a report - Harbour News</title>", "Ferry is late - a report"),
        ("<title>Ferries: Late again</title>", "Ferries: Late again"),
        ("<title>Ferry is late | Pier Talk</title>", "Ferry is late"),
        ("<title>Ferry is late | A story of fog</title>", "Ferry is late | A story of fog"),
        ("<TITLE>Ferry\n is&nbsp;late</TITLE>", "Ferry is late"),
    ],
)
def test_the_title_has_not_the_name_of_its_site(head: str, title: str) -> None:
    assert page(head).title == title


def test_the_heading_that_resembles_the_stated_title_is_the_title() -> None:
    body = "<h1>Harbour News</h1><h1>Fog makes the <em>ferry</em> late</h1>"
    assert (
        page("<meta property='og:title' content='Why fog makes ferries late'>", body).title
        == "Fog makes the ferry late"
    )


@pytest.mark.parametrize(
    ("title", "heading", "found"),
    [
        (
            "The Net Loft • Why twine frays after one winter",
            "The Net Loft",
            "Why twine frays after one winter",
        ),
        (
            "Why twine frays after one winter - The Net Loft",
            "The Net Loft",
            "Why twine frays after one winter",
        ),
        ("Twine | The Long Handbook of Nets and Knots", "Twine", "Twine"),
    ],
)
def test_a_heading_that_names_the_board_is_no_title(title: str, heading: str, found: str) -> None:
    assert page(f"<title>{title}</title>", f"<h1>{heading}</h1>").title == found


@pytest.mark.parametrize(
    ("title", "link", "found"),
    [
        ("Net Loft: Twine frays", "<a href='https://loft.example/'>Net Loft</a>", "Twine frays"),
        ("Net Loft: Twine frays", "<span><a rel=home href=/en/>Net Loft</a></span>", "Twine frays"),
        ("Net Loft: Twine frays", "<a href=/net-loft>Net Loft</a>", "Net Loft"),
        ("Net Loft: Twine frays", "Net Loft", "Net Loft"),
        ("Net Loft", "<a href=/>Net Loft</a>", "Net Loft"),
        ("twine:frays [Net Loft]", "<a href=/>Net Loft</a></h1><h1>Why twine frays", "Why twine frays"),
    ],
)
def test_a_heading_that_links_to_the_home_page_names_the_site(title: str, link: str, found: str) -> None:
    assert page(f"<title>{title}</title>", f"<h1>{link}</h1>").title == found


def test_of_several_headings_the_one_most_like_the_title_is_the_title() -> None:
    head = "<title>Mending nets: a guide to knots - The Harbour Handbook</title>"
    body = "<h1>The Harbour Handbook</h1><h1>Mending nets: a guide to knots and twine</h1>"
    assert page(head, body).title == "Mending nets: a guide to knots and twine"


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        (
            "<meta property=og:title content='Harbour: Ferry is late'>",
            "Ferry is late",
            "Harbour: Ferry is late",
        ),
        ("<meta property=og:title content='Harbour News: Ferry is late'>", "Ferry is late", "Ferry is late"),
        (
            "<meta property=og:title content='r/sea on Harbour News: Ferry is late'>",
            "Ferry is late",
            "Ferry is late",
        ),
        ("<title>Ferries: timetable</title>", "Ferries<b>:</b> time<b>table</b>", "Ferries: timetable"),
        ("<title>Ferries: timetable</title>", "Ferries: time<wbr>table", "Ferries: timetable"),
        ("<title>[24.1] Ferry is late</title>", "<span>Title:</span>Ferry is late", "Ferry is late"),
        ("<title>The ferry: Ferry is late</title>", "The ferry", "Ferry is late"),
        ("<title>Ferry is late</title>", "<small>The North</small> Ferry is late", "Ferry is late"),
        ("<title>Ferry is late</title>", "Ferry is late<br><i>3 May 2024 · News</i>", "Ferry is late"),
        ("<title>Ferry is late</title>", "Why the ferry is late", "Why the ferry is late"),
        ("<title>Knots</title>", "<i>Our most beautiful</i> Knots", "Our most beautiful Knots"),
    ],
    ids=[
        *("kicker", "site as kicker", "site in kicker", "tags in a word", "wbr", "label", "name of the blog"),
        *("kicker in the heading", "date in the heading", "no element of its own", "small part"),
    ],
)
def test_a_heading_is_mended_by_a_stated_title(head: str, heading: str, title: str) -> None:
    head += "<meta property=og:site_name content='Harbour News'>"
    if "The ferry" in head:
        head += "<meta name=twitter:title content='Ferry is late'>"
    assert page(head, f"<h1>{heading}</h1>").title == title


def test_a_title_has_not_the_name_of_its_host() -> None:
    title = "Ferries to the isles | harbour-news.example | harbour-news.example"
    assert page(f"<title>{title}</title>").title == "Ferries to the isles"


def test_a_stated_title_that_names_the_site_is_the_last_resort() -> None:
    head = "<meta property=og:site_name content=Harbour><meta property=og:title content=Harbour>"
    assert page(f"{head}<title>Ferries to the isles | Harbour</title>").title == "Ferries to the isles"
    assert page(head).title == "Harbour"


def test_the_heading_that_is_the_title_goes_before_one_with_words_of_the_site() -> None:
    body = "<h1>Boats</h1><h1>Boats of Harbour News and Boats of others</h1>"
    found = metadata(
        f"<title>Boats | Harbour News and Boats</title>{body}".encode(), "https://harbour-news.example"
    )
    assert found.title == "Boats"


def test_the_small_image_of_a_work_and_the_names_of_journals_are_read() -> None:
    found = page(
        linked_data({"@type": "Article", "headline": "x", "thumbnailUrl": "/t.jpg"})
        + "<meta name=citation_journal_title content='Journal of Fog'><meta name=dc.subject content=fog;sea>"
    )
    assert (found.image, found.site_name) == ("https://www.harbour-news.example/t.jpg", "Journal of Fog")
    assert found.tags == ("fog", "sea")


def test_single_fields_are_those_of_the_whole() -> None:
    head = "<meta property=og:site_name content=Harbour><meta name=author content='Anna Kos'>"
    some = metadata(head.encode(), URL, ["authors", "date"])
    assert some == Metadata(
        authors=("Anna Kos",), date="2024-05-03", sources={"authors": "meta author", "date": "address"}
    )


@pytest.mark.parametrize(
    "markup",
    [
        "<meta name=author content='By Anna Kos and Bo Lind'>",
        ("<meta name=twitter:label1 content='By'><meta name=twitter:data1 content='Anna Kos, Bo Lind'>"),
        "<p><i itemprop='author'><b itemprop='name'>Anna Kos</b></i> <b itemprop=author>Bo Lind</b>",
        "<a rel=author href=/a>Anna Kos</a> <a rel='author' href=/b>Bo Lind</a>",
        "<div class='post-byline'>Von Anna Kos und Bo Lind · 3. Mai 2024</div>",
        "<p class=byline>Anna Kos and Bo Lind - Dec 21, 2024</p>",
        "<p>By <a href=/author/both>Anna Kos and Bo Lind</a>",
        "<a class=comment-author>Eva Novak</a><input class=author><a class=author>Anna Kos, Bo Lind</a>",
    ],
)
def test_authors_are_a_list_of_names_wherever_they_stand(markup: str) -> None:
    assert page(markup, markup).authors == ("Anna Kos", "Bo Lind")


@pytest.mark.parametrize(
    "markup",
    [
        "<ul class=authors><li>Anna Kos<li>Bo Lind</ul>",
        "<p class=byline>by <a href=/a>Anna Kos</a> <a href=/b>Bo Lind</a></p>",
        "<p class=byline>Anna Kos<br>Bo Lind</p>",
        "<b class=author>Anna Kos</b><b class=author>Bo Lind</b>",
    ],
)
def test_authors_without_separators_are_a_list_of_names(markup: str) -> None:
    assert page("", f"<h1>Ferries</h1>{markup}<p>The ferry is late.</p>").authors == ("Anna Kos", "Bo Lind")


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=author>Anna Kos<br>Harbour Officer</div>",
        "<div class=byline>Anna Kos<br>Senior Editor</div>",
        "<i class=hero-image__author>Bo Lind</i><i class=author>Commentary by Anna Kos</i>",
        "<i class=author>Getty Images</i><i class=author>Anna Kos</i>",
        f"<b class=author>Anna Kos</b>{'<p>The ferry is late.</p>' * 20}<b class=author>Bo Lind</b>",
    ],
)
def test_roles_and_authors_of_other_texts_are_no_authors(markup: str) -> None:
    assert page("", f"<h1>Ferries</h1>{markup}").authors == ("Anna Kos",)


def test_an_element_with_many_names_is_a_list_of_topics_and_no_byline() -> None:
    topics = ", ".join(f"{topic} News" for topic in ("Tide", "Net", "Knot", "Boat", "Fog", "Sand"))
    markup = f"<i class=byline>{topics}</i><p class=byline>Anna Kos</p>"
    assert page("", f"<h1>Ferries</h1>{markup}").authors == ("Anna Kos",)


def test_a_person_in_a_byline_goes_before_the_site_as_author() -> None:
    head = linked_data(
        {"@type": "Article", "headline": "x", "author": {"@type": "Organization", "name": "Harbour News"}}
    )
    site = "<meta property='og:site_name' content='Harbour News'>"
    assert page(head + site, "<p class=byline>by Anna Kos</p>").authors == ("Anna Kos",)
    assert page(head + site).authors == ("Harbour News",)
    both = "<meta name=author content='Anna Kos, Harbour News'>"
    assert page(both + site).authors == ("Anna Kos",)


@pytest.mark.parametrize(
    "author",
    [
        {"@type": "Person", "name": "annaK"},
        {"@type": "Person", "name": "anna.kos"},
        {"@type": "Organization", "name": "Isles Media"},
        {"@type": "Person", "name": "Staff writer"},
    ],
)
def test_a_person_in_a_byline_goes_before_an_account_and_an_organisation(author: object) -> None:
    head = linked_data({"@type": "Article", "headline": "x", "author": author})
    assert page(head, "<h1>x</h1><p class=byline>by Anna Kos</p>").authors == ("Anna Kos",)
    assert page(head, "<h1>x</h1><p class=byline>Sign up</p>").sources["authors"] == "json-ld Article.author"


@pytest.mark.parametrize("company", ["Harbour e.V.", "Harbour Verlag GmbH", "The Harbour Journal", "Harbour"])
def test_a_person_in_a_byline_goes_before_a_company_and_the_publisher(company: str) -> None:
    head = f"<meta name=author content='{company}'><meta name=publisher content=Harbour>"
    assert page(head, "<h1>Fog</h1><p>By Anna Kos</p>").authors == ("Anna Kos",)
    assert page(head, "<h1>Fog</h1>").authors == (company.rstrip("."),)


def test_an_agency_is_an_author() -> None:
    author = {"@type": "Organization", "name": "Reuters"}
    head = linked_data({"@type": "Article", "headline": "x", "author": author})
    assert page(head, "<h1>x</h1><p class=author>Bo Lind</p>").authors == ("Reuters",)


def test_an_account_is_the_author_where_nobody_else_is_named() -> None:
    found = page("<meta name=author content=anna_k>")
    assert (found.authors, found.sources["authors"]) == (("anna_k",), "meta author")
    assert page("<meta name=author content=anna_k>", "<h1>x</h1><p>by Bo Lind").authors == ("Bo Lind",)


def test_several_names_of_one_person_in_json_are_several_authors() -> None:
    author = {"@type": "Person", "name": ["Anna Kos", "Bo Lind"]}
    assert page(linked_data({"@type": "Article", "author": author})).authors == ("Anna Kos", "Bo Lind")


def test_last_names_of_papers_are_put_behind_first_names() -> None:
    names = ("Kos, Anna M.", "Bo Lind", "van der Roy, Ida")
    head = "".join(f"<meta name=citation_author content='{name}'>" for name in names)
    assert page(head).authors == ("Anna M. Kos", "Bo Lind", "Ida van der Roy")


def test_the_name_of_the_site_behind_a_name_is_no_part_of_it() -> None:
    head = "<meta property=og:site_name content='Harbour News'>"
    assert page(head + "<meta name=author content='Anna Kos Harbour News'>").authors == ("Anna Kos",)
    host = "<meta name=author content='Wilhelmina Lindgren Harbour-News.example'>"
    assert page(host).authors == ("Wilhelmina Lindgren",), "the host without www."


def test_an_author_in_microdata_may_be_stated_in_an_element_of_the_head() -> None:
    author = "<b itemprop=author itemscope><meta itemprop='name' content='Anna Kos'></b>"
    assert page("", f"<h1>Ferries</h1>{author}").authors == ("Anna Kos",)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("<p>3 May 2024 by Anna Kos</p>", "text by h1"),
        ("<h2>Contributors</h2>Bo Lind<br>Ida Roy", None),
        (f"{'<p>The song written by Bo Lind.</p>' * 200}", None),
    ],
)
def test_a_text_names_its_author(text: str, source: str | None) -> None:
    found = page("", f"<h1>Ferries</h1>{text}")
    assert (found.authors, found.sources.get("authors")) == (("Anna Kos",) if source else (), source)


def test_links_to_authors_of_another_site_and_biographies_name_no_author() -> None:
    papers = "<a href='https://papers.example/author/anna-kos/12'>Paper Index</a>"
    bio = "<p class=author__bio>Harbour Master<br>Sea Captain</p>"
    assert page("", f"<h1>Ferries</h1>{papers}{bio}").authors == ()
    own = f"<a href='{URL.rsplit('/', 1)[0]}/author/anna'>Anna Kos</a>"
    assert page("", f"<h1>Ferries</h1>{papers}{bio}{own}").authors == ("Anna Kos",)


def test_checkers_and_descriptions_of_authors_are_no_authors() -> None:
    body = "<p class='byline fact-checker'>Bo Lind</p><p class=author-description>Sea captain</p>"
    assert page("", f"<h1>x</h1>{body}<p class='post__author__name'>Anna Kos</p>").authors == ("Anna Kos",)
    assert page("", f"<h1>x</h1>{body}").authors == ()


def test_a_reader_says_who_wrote_a_text_not_where_or_for_whom() -> None:
    assert page(body="<h1>Ferries</h1><p>Por Ana Costa e João Lima, Jornal — Santos</p>").authors == (
        "Ana Costa",
        "João Lima",
    )
    body = "<h1>Ferries</h1><p>Photo by: Bo Lind</p><p>3 May · Written by: Anna Kos, AFP</p>"
    assert page(body=body).authors == ("Anna Kos", "AFP")


def test_the_account_that_an_element_marks_is_the_author_where_nobody_else_is_named() -> None:
    account = "<a class='author may-blank' href=/user/tall_ship>tall_ship</a>"
    assert page(body=f"<h1>Ferries</h1><p>submitted by {account}</p>").authors == ("tall_ship",)
    assert page(body=f"<h1>Ferries</h1><p>by Anna Kos</p>{account}").authors == ("Anna Kos",)


@pytest.mark.parametrize(
    "marked",
    [
        "<ol><li><a class='author vcard'>anna_k</a> Nice!</ol>",
        "<blockquote>Fog. <span class=quote-author>oscar_w</span></blockquote>",
        "<p><b class=author>anna_k</b> Nice!<p><b class=author>bo_l</b> No.",
    ],
)
def test_accounts_of_commenters_and_of_who_is_quoted_are_no_authors(marked: str) -> None:
    text = "<p>The ferry leaves at noon, in fog an hour later.</p>" * 9
    assert page(body=f"<h1>Ferries</h1>{text}{marked}").authors == ()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Reporter Bob Jones died on Sunday", ()),
        ("Текст Конституции", ()),
        ("글 목록", ()),
        ("द्वारा साझा करें", ()),
        ("A note from the author: Do not copy", ()),
        ("By Anna Kos, The Associated Press", ("Anna Kos", "The Associated Press")),
        ("By Anna Kos and Madonna", ("Anna Kos", "Madonna")),
        ("By Anna Kos, Hamburg", ("Anna Kos",)),
        ("By To Lam", ("To Lam",)),
        ("항구신문 김바다 기자 kim@harbour.example", ("김바다",)),
        ("정치부 기자, 신문사 기자, 김바다 기자가 말했다", ()),
        ("記者王海／台北報導", ("王海",)),
        ("Propos recueillis par Anne Côte", ("Anne Côte",)),
        ("Submitted by Anna Kos on 25 March 2024", ("Anna Kos",)),
        ("Написал Иван Кос", ("Иван Кос",)),
        ("Написал письмо президенту", ()),
        ("Автори проекту пояснили", ()),
        ("저자: 홍길동", ("홍길동",)),
        ("저자 소개", ()),
        ("執筆者 一覧 ページ", ()),
        ("خبرنگار ما از بندر", ()),
        ("유명한 기자 출신", ()),
        ("정의당 기자 회견", ()),
    ],
)
def test_lines_by_the_heading_name_authors_only_where_they_introduce_one(
    line: str, found: tuple[str, ...]
) -> None:
    assert page(body=f"<h1>Ferries</h1><p>{line}</p><p>It leaves at noon.</p>").authors == found


def test_rdfa_states_authors_and_dates() -> None:
    author = "<b property='schema:author'><i property='schema:name'>Anna Kos</i></b>"
    body = f"<h1>Ferries</h1>{author}<b property='schema:datePublished' content='2023-05-03'>3rd</b>"
    found = metadata(body.encode())
    assert (found.authors, found.date) == (("Anna Kos",), "2023-05-03")
    drupal = (
        "<h1>Ferries</h1><span property='dc:date dc:created' content='2023-05-03T07:30:00+02:00'>Wed</span>"
    )
    assert metadata(drupal.encode()).date == "2023-05-03T07:30:00+02:00"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (["Anna Kos Anna Kos", "Duran Duran", "bo3 bo3"], ("Anna Kos", "Duran Duran", "bo3")),
        (
            ["Contributors to Harbour projects", "Contributors: Bo Lind"],
            ("Contributors to Harbour projects", "Bo Lind"),
        ),
        (["By - Anna Kos", "김바다 기자"], ("Anna Kos", "김바다")),
        (["By Anna Kos, M.D., and Bo Lind"], ("Anna Kos, M.D", "Bo Lind")),
        (["admin", "https://harbour-news.example/anna", "@anna"], ()),
        (["anna_k", "anna-kos", "page.author.name", "Written by", "Sat"], ()),
        (["Anna Kos", "ANNA KOS"], ("Anna Kos",)),
        (["Anna Kos 12/03/2024 05:00"], ("Anna Kos",)),
        (
            ["Anna wrote:", "Bo Lind wrote on 15 Mar", "Eva Tan said on 3 May 2020"],
            ("Anna", "Bo Lind", "Eva Tan"),
        ),
        (["Anna napsala 3. 5. 2020", "Bo a écrit le 3 mai", "Eva 15 Mar"], ("Anna", "Bo", "Eva")),
        (["3 May 2020 · Anna Kos on behalf of the crew"], ("Anna Kos",)),
        (["Anna Kos · Image: Bo Lind"], ("Anna Kos",)),
        (["Anna Kos. Reviewed by Bo Lind"], ("Anna Kos",)),
        (["9Boats Staff", "3rd", "B"], ("9Boats Staff",)),
        (["Omar Said", "Posts 4", "kos77"], ("Omar Said", "Posts", "kos77")),
        (["Anna Kos", "Posts: 341"], ("Anna Kos",)),
        (["Medically reviewed by Anna Kos", "Photo by Bo Lind", "By Eva Tan Photo by Bo Lind"], ("Eva Tan",)),
        (["Anna Kos Founder at Harbour News", "Bo Lind The Associated Press"], ("Anna Kos", "Bo Lind")),
        (["The Associated Press", "Harbour Staff"], ("The Associated Press", "Harbour Staff")),
        (["Anna Kos", "(Image: Harbour/lind)", "on"], ("Anna Kos",)),
        (["Anna K (not verified)", "Bo Lind (Harbour News)"], ("Anna K", "Bo Lind")),
        (["Anna Kos &amp; Bo Lind"], ("Anna Kos", "Bo Lind")),
        (["Jana Kos a Petr Lind", "Eva Tan i Jan Roy"], ("Jana Kos", "Petr Lind", "Eva Tan", "Jan Roy")),
        (["Ana Costa a Silva"], ("Ana Costa a Silva",)),
        (
            ["Zhou En Lai", "Lê Và Anh", "ANNA KOS UND BO LIND"],
            ("Zhou En Lai", "Lê Và Anh", "ANNA KOS", "BO LIND"),
        ),
        (["Kos Anna és Lind Béla", "Anne Côte avec AFP"], ("Kos Anna", "Lind Béla", "Anne Côte", "AFP")),
        (
            ["Anna Kos, MD, MPH, and Md Karim", "Bo Lind, Md Rahman"],
            ("Anna Kos, MD, MPH", "Md Karim", "Bo Lind", "Md Rahman"),
        ),
        (["By Anna Kos with additional reporting by Bo Lind"], ("Anna Kos", "Bo Lind")),
        (["Anna Kos, photography by Bo Lind", "Illustrations by Eva Tan"], ("Anna Kos",)),
        (["Eine Analyse von Anna Kos", "Escrito por Ana Costa"], ("Anna Kos", "Ana Costa")),
        (["Super User", "{{ author }}", "%author%", "[object Object]"], ()),
        (["Anna Kos Senior Reporter", "Bo Lind +2 more et al."], ("Anna Kos", "Bo Lind")),
        (["記者王海／台北報導", "김바다 선임기자"], ("王海", "김바다")),
        (["Zeige alle Beiträge von Anna Kos", "Interview: Bo Lind"], ("Anna Kos", "Bo Lind")),
        (["Redaktion: Anna Kos", "Bo Lind am", "Eva Tan am 3. Mai"], ("Anna Kos", "Bo Lind", "Eva Tan")),
        (["Veröffentlicht am", "Publiziert am 3. Mai", "No Author"], ()),
    ],
)
def test_names_have_no_introductions_addresses_or_handles(value: list[str], found: tuple[str, ...]) -> None:
    assert author_names.authors(value) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2024-05-03", "2024-05-03"),
        ("2024-05-03T07:30:00.123Z", "2024-05-03T07:30:00+00:00"),
        ("2024/5/3 07:30", "2024-05-03T07:30:00"),
        ("20240503", "2024-05-03"),
        ("1714721400", "2024-05-03T07:30:00+00:00"),
        ("3.5.2024", "2024-05-03"),
        ("Updated May 3rd, 2024 by us", "2024-05-03"),
        ("3 de mayo de 2024", "2024-05-03"),
        ("3. května 2024", "2024-05-03"),
        ("3 мая 2024 г.", "2024-05-03"),
        ("2024年5月3日", "2024-05-03"),
        ("2024년 5월 3일", "2024-05-03"),
        ("2024 May 3;12(3):45", "2024-05-03"),
        ("Fri May  3 08:05:00 CEST 2024", "2024-05-03"),
        ("3 lipca 2024", "2024-07-03"),
        ("3 юли 2024 г.", "2024-07-03"),
        ("3 iulie 2024", "2024-07-03"),
        ("2024. szeptember 3.", "2024-09-03"),
        ("3. јануара 2024.", "2024-01-03"),
        ("2024 m. kovo 3 d.", "2024-03-03"),
        ("Ngày 3 tháng 10 năm 2024", "2024-10-03"),
        ("3 tháng 1, 2024", "2024-01-03"),
        ("3 მაისი, 2024", "2024-05-03"),
        ("令和6年5月3日", "2024-05-03"),
        ("民國113年5月3日", "2024-05-03"),
        ("2024. május 3. 7:30", "2024-05-03"),
        ("1403/02/14", "2024-05-03"),
        ("30 اسفند 1403", "2025-03-20"),
        ("1 فروردین 1404", "2025-03-21"),
        ("31 مهر 1403", "2024-10-22"),
        ("3 May 1403", None),
        ("1445/05/12", None),
        ("Le classement 2024 des 10 meilleures villes", None),
        ("In 2019 May 20 people came", None),
        ("1403/13/01", None),
        ("0000-00-00", None),
        ("99999-01-01", None),
        ("2024-13-45", None),
        ("in May", None),
        ("12 sausages 2021, 5 rugs 2023", None),
        ("5 красавиц 2020, 10 снежных 2021, 7 кастрюль 2023", None),
        ("5 красавіка 2020", "2020-04-05"),
        ("10 machines 2021, 5 marathons 2022, 10 destinations 2024, 3 novels 2025", None),
        ("10 серий 2021, 10 групп 2022, 10 версий 2023, 2 students 2024", None),
        ("Markt 12, 2020", None),
        ("3 ΜΑΡΤΊΟΥ 2024", "2024-03-03"),
        ("3 EKİM 2024", "2024-10-03"),
        ("3 Mac 2024", "2024-03-03"),
        ("3. Jänner 2024", "2024-01-03"),
        ("3. maja 2024, 3. junija 2023", "2024-05-03"),
        ("3. junija 2024", "2024-06-03"),
        ("3. маја 2024.", "2024-05-03"),
        ("3. октобра 2024.", "2024-10-03"),
        ("3. janvārī 2024", "2024-01-03"),
        ("3. märtsil 2024", "2024-03-03"),
        ("3 ΜΑΪΟΥ 2024", "2024-05-03"),
        ("৩ জানুয়ারী ২০২৪", "2024-01-03"),
        ("۵ فروردین\u200cماه ۱۴۰۲", "2023-03-25"),
        ("3 ژانویهٔ 2024", "2024-01-03"),
        ("3 d’abril de 2024", "2024-04-03"),
        ("3 de setiembre de 2024", "2024-09-03"),
        ("3 മാർച്ച് 2024", "2024-03-03"),
        ("令和元年5月3日", "2019-05-03"),
        ("20240503073000", "2024-05-03"),
        ("3 снежня 2020", "2020-12-03"),
        ("7 кастрычніка 2023", "2023-10-07"),
        ("2021 m. sausio 12 d.", "2021-01-12"),
        ("2023 m. rugsėjo 5 d.", "2023-09-05"),
        ("1445/10/24 هـ الموافق 2024/05/03 م", "2024-05-03"),
        ("24/10/1445 - 03/05/2024", "2024-05-03"),
        ("2 تير 1399", "2020-06-22"),
        ("24 نيسان / أبريل 2020", "2020-04-24"),
        ("03.05.24", "2024-05-03"),
        ("04/21/2004", "2004-04-21"),
        ("27/12/96", "1996-12-27"),
        ("26/10/13, 3:48 pm", "2013-10-26"),
        ("10.30.15", None),
        ("Version 12.10.11.12", None),
        ("12:10:11.12", None),
        ("Volume 12, November 2022", None),
        ("Vol. 12 November 2022", None),
        ("9999999999", None),
        ("", None),
    ],
)
def test_dates_are_read_in_the_ways_that_pages_write_them(text: str, found: str | None) -> None:
    assert dates.iso(text) == found


def test_a_date_of_numbers_is_read_as_its_country_does() -> None:
    assert dates.iso("3/4/2024", month_first=True) == "2024-03-04"
    assert dates.iso("3/4/2024") == "2024-04-03"
    assert dates.iso("13/4/2024", month_first=True) == "2024-04-13"
    assert dates.iso("3.4.2024 07:30", month_first=True) == "2024-04-03", "dots are of other countries"


@pytest.mark.parametrize(
    ("language", "url", "day"),
    [
        ("en_US", "https://pier.example/", "2024-03-04"),
        ("en-GB", "https://pier.example/", "2024-04-03"),
        ("en", "https://pier.example.co.uk/", "2024-04-03"),
        ("de", "https://pier.example/", "2024-04-03"),
    ],
)
def test_the_country_is_that_of_the_language_and_of_the_host(language: str, url: str, day: str) -> None:
    found = metadata(f"<html lang={language}><h1>Tides</h1><p>3/4/2024</p>".encode(), url)
    assert found.date == day


@given(st.dates(date(dates.FIRST_YEAR, 1, 1), date(dates.LAST_YEAR, 12, 31)))
def test_every_day_written_as_iso_is_read_as_it_is(day: date) -> None:
    assert dates.iso(day.isoformat()) == day.isoformat()


def test_of_many_authors_of_a_thread_the_first_is_the_author() -> None:
    posts = "".join(f"<a itemprop=author>User {name}</a>" for name in "ABCDEFG")
    assert page(body=posts).authors == ("User A",)


POSTS = "".join(
    f"<div class=post><div class=postprofile><a class='{{}}'>{name}</a></div><p>{'Ferries. ' * 150}</p></div>"
    for name in ("tall_ship", "Bo Lind", "Eve")
)


@pytest.mark.parametrize("name", ["username", "user-name bold", "postUserName"])
def test_the_first_one_who_posts_in_a_thread_is_its_author_handles_included(name: str) -> None:
    assert page(body=f"<h1>Ferries</h1>{POSTS.format(*[name] * 3)}").authors == ("tall_ship",)


def test_the_first_one_who_posts_is_the_author_where_only_answers_have_an_itemprop() -> None:
    first, *others = POSTS.format(*["username"] * 3).split("<div class=post>")[1:]
    answers = "".join(f"<div itemprop=author>{post.replace('</a>', '</a></div>', 1)}" for post in others)
    assert page(body=f"<h1>Ferries</h1>{first}{answers}").authors == ("tall_ship",)


@pytest.mark.parametrize("stated", ["itemprop=author", "rel=author", "class=byline"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<div class='header-username'>Welcome Guest</div>", ""),
        ("<form><label class='username-label'>Name</label><input></form>", ""),
        ("<form><div class='field-username'>User Name</div></form>", ""),
        ("<a class='username'>Guest Login</a>", ""),
        ("", "<span class='user-name'>Bob Miller</span>"),
        ("", "<span class='username'>troll_99</span>"),
        ("<a class='username'>Guest Login</a>", "<span class='username'>troll_99</span>"),
    ],
)
def test_names_of_users_beside_a_text_are_not_its_author(stated: str, before: str, after: str) -> None:
    text = f"<h1>Ferries</h1><p>By <a {stated}>Jane Doe</a></p>{'<p>Ferries are late.</p>' * 12}"
    assert page(body=before + text + after).authors == ("Jane Doe",)


@pytest.mark.parametrize("tag", ["form", "nav", "label"])
def test_names_of_users_in_forms_and_navigation_make_no_thread(tag: str) -> None:
    fields = "<i class='username'>User Name</i><i class='username'>Guest Login</i>"
    assert page(body=f"<{tag}>{fields}</{tag}><h1>Ferries</h1><p>They are late.</p>").authors == ()
    posts = POSTS.format(*["username"] * 3)
    assert page(body=f"<form>{fields}</form><form><h1>Ferries</h1>{posts}</form>").authors == ("tall_ship",)


def test_authors_marked_far_below_the_first_ones_wrote_something_else() -> None:
    marked = "<p itemprop=author>{}</p>".format
    body = f"{marked('Anna Kos')}{marked('Bo Lind')}<p>{'Ferries. ' * 200}</p>{marked('Eve Ray')}"
    assert page(body=body).authors == ("Anna Kos", "Bo Lind")


@pytest.mark.parametrize(
    ("lines", "author", "day"),
    [
        ("بقلم: أحمد البحري|٣ مايو ٢٠٢٤", "أحمد البحري", "2024-05-03"),
        ("كتبت ليلى حداد|الجمعة 3 أيار/مايو 2024", "ليلى حداد", "2024-05-03"),
        ("מאת: דנה לוי|3 במאי 2024", "דנה לוי", "2024-05-03"),
        ("โดย สมชาย เรือดี|3 พฤษภาคม 2567", "สมชาย เรือดี", "2024-05-03"),
        ("लेखक: अनिल कुमार|३ मई २०२४", "अनिल कुमार", "2024-05-03"),
        ("文／山田太郎|2024年5月3日", "山田太郎", "2024-05-03"),
        ("كتب - محمد البحري الجمعة، ٣ مايو ٢٠٢٤ - ١٠:٣٠ ص", "محمد البحري", "2024-05-03"),
        ("نویسنده: مریم دریایی|۱۴ اردیبهشت ۱۴۰۳ - ۱۰:۳۰", "مریم دریایی", "2024-05-03"),
        ("โดย สมชาย เรือดี|3 พ.ค. 2567 เวลา 07:30 น.", "สมชาย เรือดี", "2024-05-03"),
        ("द्वारा: अनिल कुमार|03 मई 2024, 07:30 AM IST", "अनिल कुमार", "2024-05-03"),
        ("佐藤 健一 記者|2024年5月3日", "佐藤 健一", "2024-05-03"),
        ("〔記者陳美玲／花蓮報導〕新橋今天通車。|2024/05/03", "陳美玲", "2024-05-03"),
        ("港口5月3日电（记者王海）渡轮今天晚点。|2024-05-03", "王海", "2024-05-03"),
        ("Muhabir: Ayşe Deniz Giriş: 03.05.2024 - 07:30", "Ayşe Deniz", "2024-05-03"),
        ("Teksti: Liisa Virta|3.5.2024 klo 14.20", "Liisa Virta", "2024-05-03"),
        ("Por: Luis Ríos Mar / Corresponsal|3 de mayo de 2024", "Luis Ríos Mar", "2024-05-03"),
        ("글: 김바다 기자|입력 2024.05.03 07:30", "김바다", "2024-05-03"),
        ("2024年05月03日 07:30 来源：港口新闻网 作者：王海 责任编辑：李江", "王海", "2024-05-03"),
        ("Yazar: Ayşe Deniz Yayınlanma: 03 Mayıs 2024 07:30", "Ayşe Deniz", "2024-05-03"),
        (
            "Por Ana Costa e Silva, Santos|Actualizado a 24/05/2024|23/5/2024",
            "Ana Costa e Silva",
            "2024-05-23",
        ),
        ("Par Anne Côte|Publié le 03 mai 2024, modifié le 04 mai 2024 à 09h00", "Anne Côte", "2024-05-03"),
    ],
)
def test_bylines_and_dates_of_other_scripts_are_read(lines: str, author: str, day: str) -> None:
    body = "".join(f"<p>{line}</p>" for line in lines.split("|"))
    found = metadata(f"<h1>عنوان</h1>{body}".encode(), "https://harbour.example/7")
    assert (found.authors, (found.date or "")[:10]) == ((author,), day)


def test_a_person_goes_before_a_role() -> None:
    head = "<meta name=author content='Harbour Staff'>"
    assert page(head, "<p class=byline>Anna Kos</p>").authors == ("Anna Kos",)
    assert page(head).authors == ("Harbour Staff",)


@pytest.mark.parametrize(
    "byline",
    [
        "<h1>Ferry</h1><p>A summary.</p><div>By <a href=/p/1>Anna Kos</a></div><p>Fog came.</p>",
        "<h1>Ferry</h1><div><p>Written by</p><p>Anna Kos</p></div>",
        "<h1></h1><h1>Ferry</h1><span>by: <!-- -->Anna Kos<!-- -->, 3 May 2024</span>",
        "<p>Von Anna Kos</p><h1>Ferry</h1>",
        "<h1>Ferry</h1><script>by('x')</script><p>Por Anna Kos</p><p>by the way, fog came.</p>",
    ],
)
def test_a_line_beside_the_heading_names_the_author(byline: str) -> None:
    found = page("<title>Ferry</title>", byline)
    assert (found.authors, found.sources["authors"]) == (("Anna Kos",), "text by h1")


def test_prose_that_begins_like_a_byline_names_nobody() -> None:
    assert page(body="<h1>Ferry</h1><p>By noon the fog was gone and the ferry left.</p>").authors == ()
    assert page(body="<h1>Ferry</h1><p>by the harbour</p><p>text</p>").authors == ()
    assert page(body="<h1>Ferry</h1><p>By Monday, Everything Had Changed</p>").authors == ()
    assert page(body="<h1>Ferry</h1><p>Via Roma</p><p>Text Version</p>").authors == ()
    assert page(body="<H1>Ferries by Land and Sea</H1>").authors == ()
    assert page(body="<h1>Ferry</h1><p>By Rose the Queen of All Tides</p>").authors == ()
    prose = "By Anna Kos, " + "whose boat was late again because of the fog, " * 3
    assert page(body=f"<h1>Ferry</h1><p>{prose}</p>").authors == ()


def test_the_role_in_the_next_line_of_a_byline_is_no_author() -> None:
    card = "<div class=byline><b>Anna Kos</b>,<p>Bo Lind</p><p>Harbour Reporters</p></div>"
    assert page(body=card).authors == ("Anna Kos", "Bo Lind")
    card = "<div class=author><p>Ferries</p>By Anna Kos</div>"
    assert page(body=card).authors == ("Anna Kos",)


@pytest.mark.parametrize("joined", ["Joined: 6 Mar 2023", "Joined<br>6 Mar 2023", "注册时间<br>2023-3-6"])
def test_the_day_when_a_user_joined_is_not_that_of_a_post(joined: str) -> None:
    body = f"<h1>Ferries</h1><p>tall_ship</p><p>{joined}</p><p>posted on 3 May 2024 at 7:30, #1</p>"
    assert metadata(body.encode()).date == "2024-05-03"


@pytest.mark.parametrize(
    "body",
    [
        "<p>3 May 2024</p><h1>Ferries</h1><p>The harbour master joined the crew of the ferry",
        "<h1>Ferries</h1><p>She joined the harbour council</p><p>By Anna Kos, 3 May 2024</p>",
        "<h1>Ferries</h1><p>All registered ferries were late</p><p>3 May 2024</p>",
    ],
)
def test_a_sentence_about_joining_takes_no_date_from_the_line_beside_it(body: str) -> None:
    assert metadata(body.encode()).date == "2024-05-03"


def test_the_date_by_the_heading_goes_before_that_of_another_article() -> None:
    other = "<div class=card-date>1 May 2020</div>"
    body = f"{other}<h1>Ferry</h1><p>Updated 9 May 2024</p><p>3 May 2024</p><p>Fog came on 1 May 2024.</p>"
    assert metadata(body.encode(), "https://harbour.example/ferry").date == "2024-05-03"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Which knot holds? - The Long Handbook", "<h1>The Long Handbook</h1>"),
        ("Knots / Boats / Harbour News Forums", "<h1>Knots</h1>"),
        ("Knots | Harbour-News.org", ""),
        ("Knots", "<h1>Kno\u00adts<a href=#k>¶</a></h1>"),
        ("渔网_港口新闻网", "<h1>渔网</h1>"),
        ("渔网｜Harbour-News.example", ""),
    ],
)
def test_titles_of_handbooks_and_boards_are_those_of_the_page(title: str, body: str) -> None:
    assert page(f"<title>{title}</title>", body).title in ("Which knot holds?", "Knots", "渔网")


def test_a_date_below_the_heading_is_the_last_resort() -> None:
    for label in ("Published", "Originally created"):
        body = f"<h1>Ferry is late</h1><p>Updated May 5, 2023 9:00 AM · {label} May 3, 2023</p>"
        assert metadata(body.encode()).date == "2023-05-03"
    body = (
        "<h1>Ferry is late</h1><p>Photo of 5 May 2021 by us, in the harbour: the ferry at noon, in rain</p>"
    )
    line = "<p>May 3, 2023 / 1:39 PM / Updated 2 minutes ago, 8 min read</p>"
    assert metadata(f"{line}{body}".encode()).date == "2023-05-03"
    last = "<p>23 replies · last post by Bo 5 May 2024</p>"
    assert metadata(f"<h1>Nets</h1>{last}{PROSE}<time>3 May 2024</time>".encode()).date == "2024-05-03"
    body = "<h1>Ferry is late</h1><div><span>3 May 2023</span></div>"
    assert page(body=body).sources["date"] == "address"
    found = metadata(body.encode(), "https://www.harbour-news.example/ferry")
    assert (found.date, found.sources["date"]) == ("2023-05-03", "text by h1")
    assert metadata(f"<h1>Ferry</h1>{'x ' * 200}3 May 2023".encode()).date is None
    assert metadata(b"<h1>Log in</h1><p>Terms of Use (3 May 2003)</p>").date is None


@pytest.mark.parametrize(
    ("stated", "shown", "day"),
    [
        ("2024-05-03T10:00:00Z", "Friday 10 May 2024", "2024-05-10"),
        ("2024-05-03", "By Anna Kos · 10 May 2024", "2024-05-10"),
        ("2024-05-03T02:00:00Z", "May 2, 2024 10 p.m.", "2024-05-02"),
        ("2024-05-03T02:00:00Z", "Updated: 10 May 2024", "2024-05-03"),
        ("2024-05-03T02:00:00Z", "3 May 2024<br>10 May 2024", "2024-05-03"),
        ("2024-05-03T20:00:00+02:00", "4 May 2024, page 1", "2024-05-03"),
        ("2024-05-03", "4 May 2024", "2024-05-04"),
        ("2024-05-03", "05.03.2024", "2024-05-03"),
        ("2024-05-03", "The ferries of the isles have been late since 10 March 2024.", "2024-05-03"),
        ("2024-05-03", "10 May 1999", "2024-05-03"),
        ("2024-05-03", "Nets 1 May 2024<br>Boats 7 May 2024", "2024-05-03"),
        ("2024-05-03", "Fog is near!<br>— Harbour May 1, 2024", "2024-05-03"),
    ],
    ids=[
        *("other", "byline", "time zone", "change", "both", "paper", "next", "order", "prose", "long ago"),
        *("other articles", "tweet"),
    ],
)
def test_the_day_shown_beside_the_heading_goes_before_the_stated_one(
    stated: str, shown: str, day: str
) -> None:
    head = linked_data({"@type": "Article", "headline": "Ferries", "datePublished": stated})
    found = page(head, f"<h1>Ferries</h1><p>{shown}</p>")
    assert (found.date or "")[:10] == day
    assert found.sources["date"] == ("text by h1" if day != "2024-05-03" else "json-ld Article.datePublished")


def test_a_day_is_shown_beside_the_longest_heading_that_the_title_holds() -> None:
    headings = f"<h1>Harbour</h1>{PROSE * 20}<h1>Ferry is late</h1>"
    body = f"<title>Harbour online - Ferry is late</title>{headings}<p>3 May 2024</p>"
    assert metadata(body.encode()).date == "2024-05-03"


def test_a_marked_span_may_hold_others() -> None:
    body = f"{PROSE * 20}<span class=published><span>published</span> 3 May 2024</span>"
    assert metadata(f"<h1>Nets</h1>{body}".encode()).date == "2024-05-03"


def test_dates_of_teasers_and_widgets_are_not_those_of_the_page() -> None:
    for name in ("big-teaser__date", "widget-date", "date-of-birth"):
        body = f"<h1>Nets</h1>{PROSE * 20}<i class={name}>3 May 2024</i>"
        assert metadata(body.encode()).date is None


def test_names_of_dublin_core_have_a_dot_or_a_colon_and_a_property_may_have_several() -> None:
    head = "<meta property='x:day dc:date' content=2024-05-06><meta name=dcterms:creator content='Anna Kos'>"
    found = page(head)
    assert (found.date, found.authors) == ("2024-05-06", ("Anna Kos",))
    assert found.sources["date"] == "meta dc.date"


def test_an_entry_of_a_blog_is_no_byline() -> None:
    post = "<article class='hentry author-anna'>Nets And Knots</article>"
    assert page("<meta name=author content='Anna Kos'>", post).authors == ("Anna Kos",)
    assert page("", post).authors == ()


def test_a_line_of_a_date_alone_goes_before_that_of_a_link_to_another_text() -> None:
    body = "<p>22 May 2026</p><h1>Ferries</h1><p>5 Mar 2026 Nets and how to mend</p>"
    assert metadata(body.encode()).date == "2026-05-22"


def test_the_day_of_a_question_goes_before_those_of_its_answers() -> None:
    answer = "<time itemprop=datePublished datetime=2024-05-05>5 May</time>"
    question = "<time itemprop=dateCreated datetime=2024-05-03>3 May</time>"
    found = metadata(f"<i itemprop=datePublished>2024-05-06</i>{answer}{question}".encode())
    assert (found.date, found.sources["date"]) == ("2024-05-03", "time datecreated")


def test_the_state_of_a_post_is_not_the_mark_of_its_date() -> None:
    card = "<article class='post status-publish'>Nets, 5 May 2023</article>"
    assert metadata(f"{card}<i class=date>2024-05-03</i>".encode()).date == "2024-05-03"


def test_the_address_tells_the_day_where_nothing_else_does() -> None:
    assert page().date == "2024-05-03"
    assert page().sources["date"] == "address"


@pytest.mark.parametrize(
    "text",
    [
        '{"@type": "Article", "headline": "Ferry is late",}',
        '<!-- {"@type": "Article", "headline": "Ferry is late"} -->',
        '//<![CDATA[\n{"@type": "Article", "headline": "Ferry is late"}\n//]]>',
        '{"@type": "Article", "headline": "Ferry is late"};',
        "{&quot;@type&quot;: &quot;Article&quot;, &quot;headline&quot;: &quot;Ferry is late&quot;}",
        '{"@type": "Article", "description": "two\nlines", "headline": "Ferry is late"}',
        r'{"@type": "Article", "description": "it\'s", "headline": "Ferry is late"}',
        '{"@type": "Article", "headline": "Ferry is late", "description": "It "was" foggy \\"today\\""}',
        '{"@type": "Article", "headline": "Ferry is late"\n  "author": ["Bo"]\n"url": ""}',
        '{"@type": "Article", "headline": "Ferry is late", "author": {"name": "Bo"}',
        '{"@type": "Article", /* one article */ "headline": "Ferry is late"}',
        '{"@type": "Article", // one article\n"url": "http://x.example/", "headline": "Ferry is late"}',
    ],
)
def test_broken_json_is_mended_where_one_reading_is_possible(text: str) -> None:
    value = json_ld.read(text)
    assert isinstance(value, dict)
    assert value["headline"] == "Ferry is late"


def test_several_objects_in_one_script_are_all_read() -> None:
    assert json_ld.read('{"a": 1}\n{"b": 2} {"c": 3};') == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert json_ld.read('{"a": 1} trailing') == {"a": 1}
    assert json_ld.read('{"a": "He said, "no", and left"}') is None


@pytest.mark.parametrize(
    "head",
    [
        linked_data({"@type": "Article", "articleBody": "x " * 2_500_000, "datePublished": "99999-01-01"}),
        linked_data({"@type": "Article", "datePublished": "0000-01-01", "url": "javascript:alert(1)"}),
        "<meta property=og:url content='javascript:alert(1)'><link rel=canonical href='data:text/html,x'>",
        linked_data({}) + "<script type=application/ld+json>" + "[" * 10_000 + "]" * 10_000 + "</script>",
        linked_data({"@type": "Article", "author": [{"name": str(n)} for n in range(20_000)]}),
        "<script type=application/ld+json>" + '{"a":' * 10_000,
        "<script type=application/ld+json>{" + '"a": "' + "x" * 5_000_000 + '"}</script>',
        "<link rel=canonical href='javascript:alert(1)'><link rel=canonical href='http://[bad'>",
        "<meta property=article:published_time content='0000-99-99'>",
        "<meta name=author content='" + "a," * 100_000 + "'>",
        "<meta " * 50_000,
        "<h1><h1 class=author " * 20_000,
        "<meta name=date content='99999-01-01'><time datetime='00000000'>",
        linked_data({"@graph": [{"@type": "Article", "headline": str(n)} for n in range(20_000)]}),
        "<h1>" * 20_000 + "<p>by " * 20_000,
        linked_data({"@type": {"a": 1}, "@id": ["x"], "author": {"@id": {"y": 2}}, "headline": [[["x"]]]}),
    ],
)
def test_hostile_statements_give_a_sane_answer(head: str) -> None:
    found = page(head)
    assert found.date == "2024-05-03"
    assert found.canonical_url is None
    assert len(found.authors) <= author_names.MAX_AUTHORS


@given(
    st.text(alphabet="<>/\"'= \nametlinkscriptdateauthor!-h1:{}[],@", max_size=300).map(str.encode)
    | st.binary()
)
def test_any_bytes_give_metadata(markup: bytes) -> None:
    assert isinstance(metadata(markup, "http://x.example/"), Metadata)


@pytest.mark.parametrize(
    "source",
    [
        f"<time {'a' * 500_000}>",
        f"<meta name=author {'a' * 500_000}>",
        f"<p class='author{'=' * 500_000}'>x</p>",
        f"<a{'b' * 500_000} class=author>x",
        f"<meta name=author content='{'@' * 2000}'>" * 50,
        f"<h1>x</h1><p>{'by ' * 2000}",
        f"<h1>x</h1>{'< ' * 2500}" * 50,
        f"<h1>x</h1>{'2020' * 1250}>",
        f"<h1>x</h1>{'A B 3 C ' * 600}",
        "> written by " * 50_000,
        "<b itemprop=author>" + "<meta itemprop=name >" * 50_000,
        f"<p class=byline>{'and ' * 400}</p>" * 200,
        f"<p class=byline>{'by: ' * 400}</p>" * 200,
        f"<title>{'a|' * 900}</title>"
        + linked_data([{"@type": "WebSite", "name": f"s{n}"} for n in range(2000)]),
        linked_data({"@type": "Article", "headline": "a|" * 250_000}),
        linked_data({"@type": "Article", "headline": "/*" * 250_000}),
        linked_data({"@type": "Article"}).replace(":", ":" + " " * 500_000),
        linked_data({"@type": "Article", "headline": " //" * 500_000}).replace('"}', '",}'),
        linked_data({"@type": "Article"}).replace("}", '"' * 500_000),
        linked_data({"@type": "Article"}).replace("}", "}\n" * 300_000),
        '<script type="application/ld+json">' + "{} " * 500_000,
        f"<h1>x</h1><p>{'Autor: ' * 3_000}",
        "rel='tag' " * 200_000,
        f"<i itemprop=author>{'<b itemprop=name>' * 100}" * 200,
    ],
    ids=[
        "name",
        "name of meta",
        "mark",
        "tag",
        "handles",
        "line",
        "tags",
        "years",
        "names before dates",
        "written by",
        "microdata",
        "lines",
        "by",
        "sites",
        "headline",
        "comments",
        "white space",
        "line comments",
        "quotation marks",
        "braces",
        "objects",
        "labels",
        "links",
        "names of items",
    ],
)
@pytest.mark.timeout(20)
def test_the_cost_grows_with_the_page_alone(source: str) -> None:
    metadata(source.encode(), URL)  # quadratic, most of these take minutes


@pytest.mark.parametrize(
    "source",
    [
        "<meta name='author' content='&#{};'>",
        "<p class='author &#{};'>x</p>",
        '<script type="application/ld+json">{{"@type": &quot;&#{};</script>',
    ],
)
def test_a_character_reference_of_thousands_of_digits_breaks_nothing(source: str) -> None:
    found = metadata(("<title>Tides</title>" + source.format("9" * 5000)).encode())
    assert found.title == "Tides"


def test_an_address_that_is_cut_off_is_no_address() -> None:
    found = page(f"<link rel='canonical' href='/{'a' * 5000}'><meta property='og:url' content='/tides'>")
    assert found.canonical_url == "https://www.harbour-news.example/tides"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-05-03 1:05 pm", "2024-05-03T13:05:00"),
        ("2024-05-03 12:05 AM", "2024-05-03T00:05:00"),
        ("2024-05-03T10:00:00+99:99", "2024-05-03T10:00:00"),
        ("2024-05-03T25:00:00", "2024-05-03"),
        ("2024-05-03 13:60 pm", "2024-05-03"),
        ("2024-05-03 14:05 AM", "2024-05-03T14:05:00"),
        ("2024-05-03T24:00:00", "2024-05-03"),
        ("2024-05-03T10:00:00-0330", "2024-05-03T10:00:00-03:30"),
        ("٢٠٢٤-٠٥-٠٣T١٠:٠٠+٠١:٠٠", "2024-05-03T10:00:00+01:00"),
    ],
)
def test_a_time_is_iso_8601_in_ascii_digits_and_of_24_hours(text: str, time: str) -> None:
    assert dates.iso(text) == time


def test_words_like_an_attribute_in_a_value_hide_no_meta_element() -> None:
    found = page("<meta content='how to write name=tag in a page' name='description'>")
    assert found.description == "how to write name=tag in a page"


def test_an_element_is_not_ended_by_one_whose_name_begins_alike() -> None:
    found = page(body="<a rel='author'>Eva <abbr>PhD</abbr> Novak</a>")
    assert found.authors == ("Eva PhD Novak",)


def test_how_a_word_is_pronounced_is_no_part_of_the_title() -> None:
    ruby = "<h1><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</ruby>の<em>船</em></h1>"
    assert page("<title>東京の船 | Harbour</title>", ruby).title == "東京の船"


def test_a_change_stays_where_the_words_behind_it_state_no_day() -> None:
    """A word such as publisher, and a year, are no day of publication."""
    body = "<h1>Ferry is late</h1><p>Updated May 5, 2023 · Publisher: Pier Talk, since 2019</p>"
    assert metadata(body.encode()).date == "2023-05-05"


def test_of_several_works_the_one_named_like_the_page_comes_first() -> None:
    works = [
        {"@type": "Article", "headline": name, "author": author, "datePublished": day}
        for name, author, day in (("Fog", "Bo Lind", "2020-01-01"), ("Ferries", "Anna Kos", "2023-01-05"))
    ]
    found = metadata(f"<title>Ferries</title>{linked_data(works)}".encode())
    assert (found.title, found.authors, found.date) == ("Ferries", ("Anna Kos",), "2023-01-05")


def test_works_in_a_list_are_not_the_page() -> None:
    work = {"@type": "Article", "headline": "Fog", "author": "Bo Lind", "datePublished": "2020-01-01"}
    listed = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": work}]}
    found = metadata(f"<title>Ferries</title>{linked_data(listed)}".encode())
    assert (found.title, found.authors, found.date) == ("Ferries", (), None)


def test_authors_and_dates_of_reviews_are_not_those_of_the_page() -> None:
    review = {"@type": "Review", "author": "Ben Oar", "datePublished": "2023-02-01"}
    stated = linked_data({"@type": "Product", "name": "Ferry model", "review": [review]})
    marked = (
        "<h1>Ferry model</h1><div itemprop=review itemscope><b itemprop=author>Ben Oar</b>"
        "<time itemprop=datePublished datetime=2023-02-01>in February</time></div>"
    )
    for found in (
        metadata(f"<head>{stated}</head><h1>Ferry model".encode()),
        metadata(f"<p>{'x' * 5000}</p>{marked}".encode(), None, ["authors"]),
    ):
        assert (found.authors, found.date) == ((), None)


def test_values_have_no_invisible_characters() -> None:
    found = page("<title>Fer\u00adry is\u200b late</title><meta name=author content='An\u00adna Kos'>")
    assert (found.title, found.authors) == ("Ferry is late", ("Anna Kos",))


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        ("<title>Pier Talk &bull; View topic - Which knot holds?</title>", "Pier Talk", "Which knot holds?"),
        ("<title>Which knot holds?</title>", "Thread: Which knot holds?", "Which knot holds?"),
        ("<title>r/nets - Which knot holds?</title>", "", "Which knot holds?"),
        ("<title>Which knot holds? : r/nets</title>", "", "Which knot holds?"),
        ("<title>Which knot holds? - by Anna Kos - Pier Letter</title>", "", "Which knot holds?"),
        ("<title>Which knot holds? – Page 2 of 3</title>", "", "Which knot holds?"),
        ("<title>Which knot holds? :: Harbour News</title>", "", "Which knot holds?"),
        ("<title>渔网-Harbour News</title>", "", "渔网"),
        ("<title>港口--财经--渔网 绳结和船</title>", "港口</h1><h1>渔网 绳结和船", "渔网 绳结和船"),
    ],
)
def test_titles_of_forums_letters_and_later_pages_are_those_of_the_text(
    head: str, heading: str, title: str
) -> None:
    head += "<meta property=og:site_name content='Harbour News'>"
    assert page(head, f"<h1>{heading}</h1>").title == title


@pytest.mark.parametrize(("users", "title"), [(2, "Knots"), (0, "Pier Forum")])
def test_the_name_of_a_forum_is_no_title_of_its_threads(users: int, title: str) -> None:
    posts = "<a class=username>tall_ship</a><p>Which knot holds?</p>" * users
    assert page("<title>Knots - Pier Forum</title>", f"<h1>Pier Forum</h1>{posts}").title == title


def test_names_of_papers_stand_in_one_element_or_behind_a_suffix() -> None:
    head = "<meta name=citation_authors content='Kos, Anna; van der Roy, Ida;'>"
    assert page(head).authors == ("Anna Kos", "Ida van der Roy")
    assert page("<meta name=citation_author content='Lind, Bo, Jr.'>").authors == ("Bo Lind, Jr",)
    head = "<meta name=DC.Creator.PersonalName content='Kos, Anna'>"
    head += "<meta name=prism.publicationDate content=2024-05-04>"
    assert (page(head).authors, page(head).date) == (("Anna Kos",), "2024-05-04")


def test_the_one_who_submitted_is_introduced_by_a_word_and_commenters_are_not() -> None:
    body = "<p>submitted by <a class=author>tall_ship</a></p><p><a class=author>bo_l</a> Nice!</p>"
    assert page(body=f"<h1>Ferries</h1>{body}").authors == ("tall_ship",)


def test_in_a_thread_of_microdata_accounts_are_names_and_the_first_is_the_author() -> None:
    posts = "<i itemprop=author>tall_ship</i><p>Late?</p><i itemprop=author>bo_l</i><p>Yes.</p>"
    thread = f"<div itemtype='https://schema.org/DiscussionForumPosting'>{posts}</div>"
    assert page(body=f"<h1>Ferries</h1>{thread}").authors == ("tall_ship",)


def test_a_page_with_questions_and_answers_of_its_own_is_no_thread() -> None:
    question = {
        "@type": "Question",
        "name": "When?",
        "acceptedAnswer": {"@type": "Answer", "text": "At noon."},
    }
    head = linked_data(
        [{"@type": "FAQPage", "mainEntity": [question]}, {"@type": "Article", "author": "annaB"}]
    )
    assert page(head, "<h1>Ferries</h1><p class=byline>By Anna Kos</p>").authors == ("Anna Kos",)


def test_references_values_with_a_language_and_numbers_in_json_are_read() -> None:
    head = linked_data(
        [
            {
                "@type": "Article",
                "author": [
                    {"@type": "Person", "@id": "#a", "url": "/a"},
                    {"name": {"@value": "Bo Lind"}},
                    {"@value": "Eva Roe", "@language": "en"},
                    {"@id": "#site", "name": "Ann Lee"},
                ],
                "datePublished": 1714721400000,
            },
            {"@type": "Person", "@id": "#a", "name": "Anna Kos"},
            {"@type": "Thing", "@id": "#site", "name": "Max Oar"},
        ]
    )
    found = page(head)
    assert found.authors == ("Anna Kos", "Bo Lind", "Eva Roe", "Ann Lee")
    assert found.date == "2024-05-03T07:30:00+00:00"


def test_half_a_character_in_json_does_not_stop_a_page_from_being_written() -> None:
    found = page(linked_data({"@type": "Article", "headline": "Ferry \ud83d is late"}))
    assert found.title == "Ferry ? is late"


def test_dates_of_comments_and_reviews_in_a_shop_are_not_those_of_the_page() -> None:
    comment = '<div id="comments"><time datetime=2024-05-05>5 May</time></div>'
    review = (
        "<b class=shop-review__author>Ben Oar</b><time class=shop-review__date datetime=2024-05-05></time>"
    )
    for replies in (comment, review):
        found = metadata(f"<h1>Ferry model</h1><p>{'Fog. ' * 300}</p>{replies}".encode())
        assert (found.authors, found.date) == ((), None)
    found = metadata(b"<h1>Ferries</h1><a class=preview__author>Anna Kos</a><p>Fog.</p>")
    assert found.authors == ("Anna Kos",), "a preview is no review"


def test_a_time_without_a_number_in_its_attribute_is_that_of_its_text() -> None:
    body = f"<h1>Ferries</h1>{'<p>Fog came.</p>' * 500}<time datetime='{{{{ day }}}}'>3 May 2024</time>"
    assert metadata(body.encode()).date == "2024-05-03"
    body = "<h1>Ferries</h1><b itemprop=datePublished datetime=2024-05-03>a day ago</b>"
    assert metadata(body.encode()).date == "2024-05-03", "of any element that states one"


def test_the_end_of_an_offer_is_no_date_of_the_page() -> None:
    assert metadata(b"<h1>Ferry model</h1><p>Offer valid until 31 December 2030</p>").date is None


@pytest.mark.parametrize("path", ["n1/2024/0503/c1001.html", "202405/t20240503_17.html", "x-2024-05-03-y"])
def test_addresses_state_the_day_also_without_separators(path: str) -> None:
    assert metadata(b"<h1>Ferries</h1>", f"https://harbour.example/{path}").date == "2024-05-03"


@pytest.mark.parametrize(
    ("stated", "language"),
    [
        ("de", "de"),
        ("de-CH", "de-CH"),
        ("es-419", "es-419"),
        ("en ; fr", "en ; fr"),
        ("en, fr", "en, fr"),
        ("UTF-8", None),
        ("Japanese", None),
    ],
)
def test_content_language_may_state_the_language(stated: str, language: str | None) -> None:
    found = metadata(f"<html><meta http-equiv=Content-Language content='{stated}'>".encode())
    assert found.language == language


@pytest.mark.parametrize("stated", ["lang=cs lang=en", "xml:lang=cs"])
def test_the_element_html_states_the_language_by_its_first_attribute(stated: str) -> None:
    assert metadata(f"<html {stated}><title>Loď</title>".encode()).language == "cs"


def test_the_canonical_link_goes_before_the_address_for_sharing() -> None:
    head = "<meta property=og:url content=/shared><link rel=canonical href=/tides>"
    assert page(head).canonical_url == "https://www.harbour-news.example/tides"


def test_the_description_in_the_head_goes_before_that_in_json() -> None:
    stated = linked_data({"@type": "Article", "headline": "Tides", "description": "Of the article"})
    assert page(stated + "<meta name=description content='Of the page'>").description == "Of the page"
    assert page(stated).description == "Of the article"


def test_lists_of_names_and_of_tags_end_at_their_limits() -> None:
    names = [f"Anna {chr(65 + n % 26)}{'ab'[n // 26]}" for n in range(52)]
    for authors in (names, "; ".join(names)):
        tags = [f"tide {n}" for n in range(60)]
        found = page(linked_data({"@type": "Article", "author": authors, "keywords": tags}))
        assert (len(found.authors), len(found.tags)) == (author_names.MAX_AUTHORS, 50)


def test_tags_are_separated_by_commas_semicolons_or_bars() -> None:
    assert page("<meta name=keywords content='fog | sea;tide，net، بحر'>").tags == (
        "fog",
        "sea",
        "tide",
        "net",
        "بحر",
    )


def test_a_name_in_microdata_may_be_stated_in_a_link_element() -> None:
    author = "<i itemprop=author><link itemprop=url href=/a><link itemprop='name' content='Anna Kos'></i>"
    assert page(body=f"<h1>Ferries</h1>{author}").authors == ("Anna Kos",)


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Tides</h1><p>3 May 2024</p><time itemprop=dateModified datetime=2024-05-04>4 May</time>",
        "<h1>Tides</h1><time class=published>3 May 2024</time><time class=updated>4 May 2024</time>",
        "<h1>Tides</h1><p>Published: 07:30, 3 May 2024 | Updated: 11:02, 4 May 2024</p>",
        "<h1>Tides</h1><p>Publié le 3 mai 2024 à 6h, modifié le 4 mai 2024 à 7h</p>",
        "<h1>Tides</h1><dl><dt>Published<dd>3 May 2024<dt>Last updated<dd>4 May 2024</dl>",
        "<h1>Tides</h1><p>Updated 4 May 2024, published 3 May 2024</p>",
    ],
)
def test_a_page_shows_the_days_of_publication_and_of_the_last_change(body: str) -> None:
    found = page(body=body)
    assert ((found.date or "")[:10], found.date_modified) == ("2024-05-03", "2024-05-04")


def test_a_change_may_be_on_the_day_of_publication_and_its_day_stands_for_that_where_none_is_stated() -> None:
    change = "<h1>Tides</h1>{}<p>Updated 3 May 2024</p>"
    for own in ("<p>Published 3 May 2024</p>", ""):
        found = metadata(change.format(own).encode())
        assert (found.date, found.date_modified) == ("2024-05-03", "2024-05-03")
    found = metadata(
        f"<h1>Tides</h1>{linked_data({'@type': 'Article', 'dateModified': '2024-05-04'})}".encode()
    )
    assert (found.date, found.date_modified) == ("2024-05-04", "2024-05-04")


def test_a_change_before_the_publication_is_that_of_another_text() -> None:
    other = "<time class=updated datetime=2023-01-05>5 January 2023</time>"
    assert page(body=f"<h1>Tides</h1><p>3 May 2024</p>{other}").date_modified is None


def test_changes_of_other_articles_are_none_of_the_page() -> None:
    """As in themes of WordPress, whose lists of articles have both times of each."""
    own = "<time class='entry-date published' datetime=2024-05-03>3 May 2024</time>"
    other = own.replace("2024-05-03", "2024-07-01") + "<time class=updated datetime=2024-08-02></time>"
    change = "<time class=updated datetime=2024-05-04></time>"
    assert page(body=f"<h1>Tides</h1>{own}<p>The tide is low.</p>{other}").date_modified is None
    assert page(body=f"<h1>Tides</h1>{own}{own}{change}<p>Low.</p>{other}").date_modified == "2024-05-04"


def test_edits_of_posts_are_no_changes_of_a_thread() -> None:
    users = "<a class=username>annaB</a><a class=username>boL</a>"
    edit = "<time itemprop=dateModified datetime=2024-05-04></time>"
    assert page(body=f"<h1>Tides</h1><p>3 May 2024</p>{users}{edit}").date_modified is None


def test_how_long_the_name_of_a_month_is_does_not_decide_between_dates() -> None:
    body = "<p>November 14, 2023</p><p>Locks have gates.</p><p>Ben on May 2, 2024</p>"
    assert metadata(f"<h1>Locks</h1>{body}".encode()).date == "2023-11-14"


@pytest.mark.parametrize("kind", ["Product", "ProductGroup", "Event"])
def test_days_beside_a_product_or_event_are_not_those_of_the_page(kind: str) -> None:
    head = linked_data({"@type": kind, "name": "Kettle"})
    assert metadata(f"{head}<h1>Kettle</h1><p>3 May 2024: good</p>".encode()).date is None


def test_the_day_on_which_a_job_was_posted_goes_before_the_last_one_to_apply() -> None:
    head = linked_data({"@type": "JobPosting", "title": "Diver", "datePosted": "2024-05-03"})
    assert metadata(f"{head}<h1>Diver</h1><p>Apply by 4 June 2024</p>".encode()).date == "2024-05-03"


def test_the_title_of_an_abbreviation_states_the_time() -> None:
    mark = "<abbr class=published itemprop=datePublished title='2024-05-03T21:14:00+02:00'>9:14 PM</abbr>"
    assert metadata(f"<h3>Plum jam</h3>{mark}".encode()).date == "2024-05-03T21:14:00+02:00"


def test_the_job_of_an_author_in_microdata_is_no_part_of_the_name() -> None:
    author = "<a href=/anna><b itemprop=name>Anna Kos</b></a> <i itemprop=jobTitle>captain</i>"
    assert page(body=f"<h1>Tides</h1><div itemprop=author>{author}</div>").authors == ("Anna Kos",)


def test_first_and_last_names_in_json_make_a_name() -> None:
    author = {"@type": "Person", "givenName": "Anna", "familyName": "Kos"}
    assert page(linked_data({"@type": "Article", "author": author})).authors == ("Anna Kos",)


@pytest.mark.parametrize("name", ["Van Life 77", "Rock and Roll", "tall_ship"])
def test_names_of_users_in_the_json_of_a_thread_are_exact(name: str) -> None:
    thread = {"@type": "DiscussionForumPosting", "headline": "Leak", "author": {"name": name}}
    assert page(linked_data(thread), "<h1>Leak</h1>").authors == (name,)


def test_a_thing_with_a_headline_is_an_article_and_a_name_may_be_an_object() -> None:
    person = {"@type": "Person", "name": {"@type": "Person", "name": "Anna Kos"}}
    found = page(linked_data({"@type": [], "headline": "Ferry is late", "author": [person, "¿ Bo Lind"]}))
    assert (found.title, found.authors) == ("Ferry is late", ("Anna Kos", "Bo Lind"))


def test_a_user_of_a_thread_is_named_once_and_addresses_are_no_names() -> None:
    names = ["Van Life 77", "Van Life 77", "https://forum.example/u/3", "admin"]
    thread = {
        "@type": "DiscussionForumPosting",
        "headline": "Leak",
        "author": [{"name": name} for name in names],
    }
    assert page(linked_data(thread), "<h1>Leak</h1>").authors == ("Van Life 77",)


def test_a_first_name_that_is_no_text_is_left_out() -> None:
    author = {"@type": "Person", "givenName": ["Anna"], "familyName": "Kos"}
    assert page(linked_data({"@type": "Article", "author": author})).authors == ("Kos",)


def test_a_department_is_no_reporter() -> None:
    assert page(body="<h1>橋が開通</h1><p>政治部 記者</p>").authors == ()
    assert page(body="<h1>橋が開通</h1><p>阿部 記者</p>").authors == ("阿部",)


@pytest.mark.parametrize("link", ["<a rel=license>CC BY</a>", "<a rel=license href=''>CC BY</a>"])
def test_a_page_is_not_its_own_license(link: str) -> None:
    assert page(body=f"<h1>Tides</h1><p>{link}").license is None


def test_words_of_a_language_introduce_authors_on_its_pages_alone() -> None:
    body = "<h1>Ferry</h1><p>di Giulia Rossi e Marco De Luca</p>"
    assert metadata(f"<html lang=it-IT>{body}".encode()).authors == ("Giulia Rossi", "Marco De Luca")
    assert metadata(f"<html lang=id>{body}".encode()).authors == ()


def test_the_license_is_where_the_link_in_the_text_leads_unless_it_is_that_of_a_figure() -> None:
    link = '<a class=cc rel="license" href="https://cc.example/by/4.0/">CC BY</a>'
    found = page(body=f"<h1>Tides</h1><footer>{link}</footer>")
    assert (found.license, found.sources["license"]) == ("https://cc.example/by/4.0/", "rel=license")
    assert page(body=f"<figure><img src=a.png>{link}</figure>").license is None
    assert page(body=f"{link}{link.replace('by', 'by-nc')}").license is None
    rights = "<meta name=DC.Rights content='(c) Harbour News'>"
    assert page(rights, link).license == "https://cc.example/by/4.0/"
    assert page("<link rel=license href=/terms>", link).license == "https://www.harbour-news.example/terms"


@pytest.mark.parametrize("tag", ["script", "style"])
@pytest.mark.parametrize("before", ["", f"/* {'x' * 480} */ if (tide > 2) "])
def test_a_script_just_above_the_heading_shows_no_date(tag: str, before: str) -> None:
    script = f"<{tag}>{before}var day = '2023-01-05'\n</{tag}>"
    assert metadata(f"{script}<p>3 May 2024</p><h1>Tides</h1>".encode()).date == "2024-05-03"
    assert metadata(f"{script}<h1>Tides</h1>".encode()).date is None


PROSE = "<p>The water in the harbour is low this spring, and the ferry cannot leave the pier before noon.</p>"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "Sand in the port - Harbour Forum",
            "<a href=/>Harbour Forum</a><td><strong>Sand in the port</strong>",
        ),
        ("Harbour Post: Sand in the port", "<div class=subject><a href=/1>Sand in the port</a></div>"),
        ("Harbour Post - Sand in the port", "<font size=5><b>Sand in the port</b></font>"),
        ("Sand in the port « Harbour Office of Eastmouth", "<h2><a href=/1>Sand in the port</a></h2>"),
        ("Sand in the port | The Post", "<h1><a href=/>The Post</a></h1><h2> Sand in the port </h2>"),
        ("Sand &amp; ice | The Post", "<h3><a href=/2>The Post</a></h3><h3>Sand &amp; ice</h3>"),
    ],
)
def test_a_page_without_h1_has_the_title_that_its_text_repeats(title: str, body: str) -> None:
    found = page(f"<title>{title}</title>", f"<ul><li>Home</li></ul>{body}{PROSE}")
    assert found.title == ("Sand & ice" if "&" in title else "Sand in the port")
    assert found.sources["title"] == "text"


def test_author_and_date_stand_beside_a_title_that_is_no_h1() -> None:
    title = "<title>Sand in the port - Harbour Post</title>"
    byline = "<br><font>By Anna Kos and Bo Lind<br>Tuesday, March 5, 2024</font>"
    found = metadata(f"{title}<b>Sand in the port</b>{byline}{PROSE}".encode())
    assert (found.authors, found.date) == (("Anna Kos", "Bo Lind"), "2024-03-05")
    lists = "<h3><a href=/1>Sand in the port</a></h3><h3><a href=/2>Ice</a></h3>"
    body = f"{lists}<h2>Sand in the port</h2><p>By Anna Kos</p>{PROSE}"
    assert metadata(f"{title}{body}".encode()).authors == ("Anna Kos",), "not beside a smaller heading"


def test_a_short_repeated_part_of_the_title_is_not_the_title() -> None:
    head = "<title>Sand in the port - Eastmouth</title>"
    assert page(head, f"<h2>Eastmouth</h2>{PROSE}").title == "Sand in the port - Eastmouth"
    head = "<title>The Port | How sand comes into it</title>"
    head += "<meta property=og:title content='How sand comes into it'>"
    assert page(head, f"<h2>The Port</h2>{PROSE}").title == "How sand comes into it"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("نویسنده: مریم رضایی تاریخ انتشار: ۱۵ اسفند ۱۳۹۹", ("مریم رضایی",)),
        ("लेखक: मीरा शर्मा और राज वर्मा", ("मीरा शर्मा", "राज वर्मा")),
        ("By Anna Kos, Software Engineer", ("Anna Kos",)),
        ("Posted by Anna Kos on Mar 4th", ("Anna Kos",)),
    ],
)
def test_names_end_at_the_next_label_a_role_or_a_day(line: str, names: tuple[str, ...]) -> None:
    assert page("<title>Sand</title>", f"<h1>Sand</h1><p>{line}</p>{PROSE}").authors == names
