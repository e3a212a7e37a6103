"""conf/langid.toml: its values are used, and invalid values are refused."""

from pathlib import Path

import pytest

from victor_spark.errors import ConfigurationError
from victor_spark.langid.settings import settings


def test_confusable_groups_hold_both_ways() -> None:
    assert settings().group("hr") == settings().group("bs") >= {"hr", "bs", "sr_latn"}
    assert settings().group("cs") == {"cs"}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("n_windows", "n_wimdows", "page.n_w"),
        ("[anchors]", "[ankers]", "an"),
        ("shrink = 10", 'shrink = "ten"', "blocks.shrink"),
        ('["id", "ms"]', '"id"', "is not a list such as"),
        ("[page]", "[page", "langid.toml"),
    ],
)
def test_wrong_keys_and_types_are_one_clear_error(
    root: Path, tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    text = (root / "conf" / "langid.toml").read_text("utf-8")
    path = tmp_path / "langid.toml"
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        settings(path)
    assert "\n" not in str(caught.value)
