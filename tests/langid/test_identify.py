"""Identification: right on plain sentences, unknown without evidence, the same in batches."""

from pathlib import Path

import numpy as np
import pytest

from victor_spark.kernels import code_points
from victor_spark.langid import identify
from victor_spark.langid.identify import UNKNOWN, Guess
from victor_spark.langid.normalise import joined
from victor_spark.langid.profiles import Profiles

SENTENCES = {
    "cs": "Obecní úřad bude v pátek zavřený, protože se v přízemí opravuje topení a vymění se okna.",
    "en": "The council office will be closed on Friday while the heating on the ground floor is repaired.",
    "de": "Das Gemeindeamt bleibt am Freitag geschlossen, weil im Erdgeschoss die Heizung repariert wird.",
    "ru": "В пятницу сельсовет будет закрыт, потому что на первом этаже ремонтируют отопление и окна.",
    "el": "Το κοινοτικό γραφείο θα είναι κλειστό την Παρασκευή επειδή επισκευάζεται η θέρμανση.",
    "zh": "由于一楼的暖气正在维修，村委会办公室本周五将不对外开放，请大家下周一再来办理。",
    "ja": "一階の暖房を修理するため、金曜日は役場を閉めます。月曜日にまたお越しください。",
    "ko": "일층 난방을 고치는 동안 금요일에는 면사무소를 열지 않습니다. 월요일에 다시 와 주세요.",
    "th": "วันศุกร์นี้ที่ทำการจะปิดเพราะกำลังซ่อมเครื่องทำความร้อนที่ชั้นล่าง กรุณามาใหม่วันจันทร์",
    "ar": "سيكون مكتب البلدية مغلقا يوم الجمعة بسبب إصلاح التدفئة في الطابق الأرضي من المبنى القديم",
}


def test_a_filter_lets_the_whole_confusable_group_through() -> None:
    assert identify.is_among("sr_latn", ["hr"])
    assert identify.is_among("cs", ["sk", "cs"])
    assert not identify.is_among("cs", ["sk"])
    assert not identify.is_among(None, ["cs"])


def test_the_language_of_a_page_is_identified_from_its_windows(shipped: Profiles) -> None:
    for language, sentence in SENTENCES.items():
        for repeats in (1, 100):
            assert identify.page(code_points(f"{sentence}\n" * repeats), shipped).language == language
    assert identify.page(code_points(""), shipped) == UNKNOWN


def test_shares_of_a_mixed_page(shipped: Profiles) -> None:
    text, starts, ends = joined([SENTENCES["cs"]] * 3 + ["Menu", "1 2 3"] + [SENTENCES["en"]])
    shares = identify.shares(text, starts, ends, shipped)
    assert list(shares) == ["cs", "en"]
    assert shares["cs"] == pytest.approx(0.74, abs=0.04)
    assert sum(shares.values()) == pytest.approx(1)


def test_shares_without_text_are_empty(shipped: Profiles) -> None:
    nothing = np.zeros(0, np.int32)
    assert identify.shares(code_points(""), nothing, nothing, shipped) == {}
    assert identify.shares(*joined(["", "12", "a"]), shipped) == {}


def test_fewer_profiles_still_tell_the_language_they_were_loaded_for(root: Path) -> None:
    some = Profiles.load(root / "models" / "langid" / "profiles.npz", ["cs"])
    assert identify.page(code_points(SENTENCES["cs"]), some).language == "cs"
    assert identify.page(code_points(SENTENCES["ru"]), some).language == "ru"


def test_guesses_are_plain_values() -> None:
    assert Guess("cs", 0.9) == Guess("cs", 0.9)
