"""Labels of all kinds become ISO codes, and codes that users give become the profiles' labels."""

import pytest

from victor_spark.errors import UsageError
from victor_spark.langid.labels import iso, languages, resolve

LANGUAGES = ("ast", "cs", "nb", "sr", "sr_latn", "zh")


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ("__label__cs", "cs"),
        ("__label__ces_Latn", "cs"),
        ("__label__cmn_Hani", "zh"),
        ("__label__arb_Arab", "ar"),
        ("__label__als_Latn", "sq"),
        ("__label__als", "als"),
        ("__label__ast_Latn", "ast"),
        ("__label__zh-Hans", "zh"),
        ("sr_latn", "sr"),
        ("srp_Cyrl", "sr"),
        ("ces", "cs"),
    ],
)
def test_labels_become_iso_codes(label: str, code: str) -> None:
    assert iso(label) == code


def test_the_table_of_codes_is_sound() -> None:
    assert len(languages().iso_639_1) >= 180
    assert all(len(three) == 3 and len(two) == 2 for three, two in languages().iso_639_1.items())


def test_codes_stand_for_all_scripts_of_a_language() -> None:
    assert resolve(["cs", " SR "], LANGUAGES) == ("cs", "sr", "sr_latn")
    assert resolve(["sr_latn"], LANGUAGES) == ("sr_latn",)
    assert resolve(["sr", "sr_latn", "sr"], LANGUAGES) == ("sr", "sr_latn")
    assert resolve(["ces", "zho", "srp"], LANGUAGES) == ("cs", "zh", "sr", "sr_latn")


@pytest.mark.parametrize("code", ["xx", "czech", "", "c s"])
def test_unknown_codes_are_refused(code: str) -> None:
    with pytest.raises(UsageError, match="unknown language"):
        resolve([code], LANGUAGES)
