"""Language labels: ISO 639-1 where there is one, else 639-3, from the labels of any model."""

import difflib
import re
from collections.abc import Collection
from typing import Final

from victor_spark.errors import UsageError

_PAIRS: Final = """
aar aa abk ab afr af aka ak amh am ara ar arg an asm as ava av ave ae aym ay aze az bak ba bam bm bel be
ben bn bih bh bis bi bod bo bos bs bre br bul bg cat ca ces cs cha ch che ce chu cu chv cv cor kw cos co
cre cr cym cy dan da deu de div dv dzo dz ell el eng en epo eo est et eus eu ewe ee fao fo fas fa fij fj
fin fi fra fr fry fy ful ff gla gd gle ga glg gl glv gv grn gn guj gu hat ht hau ha hbs sh heb he her hz
hin hi hmo ho hrv hr hun hu hye hy ibo ig ido io iii ii iku iu ile ie ina ia ind id ipk ik isl is ita it
jav jv jpn ja kal kl kan kn kas ks kat ka kau kr kaz kk khm km kik ki kin rw kir ky kom kv kon kg kor ko
kua kj kur ku lao lo lat la lav lv lim li lin ln lit lt ltz lb lub lu lug lg mah mh mal ml mar mr mkd mk
mlg mg mlt mt mon mn mri mi msa ms mya my nau na nav nv nbl nr nde nd ndo ng nep ne nld nl nno nn nob nb
nor no nya ny oci oc oji oj ori or orm om oss os pan pa pli pi pol pl por pt pus ps que qu roh rm ron ro
run rn rus ru sag sg san sa sin si slk sk slv sl sme se smo sm sna sn snd sd som so sot st spa es sqi sq
srd sc srp sr ssw ss sun su swa sw swe sv tah ty tam ta tat tt tel te tgk tg tgl tl tha th tir ti ton to
tsn tn tso ts tuk tk tur tr twi tw uig ug ukr uk urd ur uzb uz ven ve vie vi vol vo wln wa wol wo xho xh
yid yi yor yo zha za zho zh zul zu
"""
_MEMBERS: Final = """
arb ar azj az cmn zh ekk et fil tl gaz om gug gn khk mn lvs lv npi ne ory or pbt ps pes fa plt mg quy qu
swh sw uzn uz ydd yi zsm ms prs fa
"""
_GLOTLID_ONLY: Final = {"als": "sq"}
"""With a script behind it this is Tosk Albanian; alone (lid.176) it is Alemannic."""

ISO_639_1: Final = dict(zip(_PAIRS.split()[::2], _PAIRS.split()[1::2], strict=True))
_TO_SHORT: Final = ISO_639_1 | dict(zip(_MEMBERS.split()[::2], _MEMBERS.split()[1::2], strict=True))
_NAMES: Final = """
af Afrikaans, am Amharic, ar Arabic, as Assamese, ast Asturian, az Azerbaijani, ba Bashkir, be Belarusian,
bg Bulgarian, bn Bengali, bo Tibetan, br Breton, bs Bosnian, ca Catalan, ckb Central Kurdish, cs Czech, cv
Chuvash, cy Welsh, da Danish, de German, dv Dhivehi, dz Dzongkha, el Greek, en English, eo Esperanto, es
Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fo Faroese, fr French, fy Western Frisian, ga
Irish, gd Scottish Gaelic, gl Galician, gn Guarani, gu Gujarati, ha Hausa, he Hebrew, hi Hindi, hr Croatian,
hsb Upper Sorbian, hu Hungarian, hy Armenian, ia Interlingua, id Indonesian, ig Igbo, is Icelandic, it
Italian, ja Japanese, ka Georgian, kab Kabyle, kk Kazakh, km Khmer, kmr Northern Kurdish, kn Kannada, ko
Korean, ky Kyrgyz, la Latin, lb Luxembourgish, lg Ganda, lo Lao, lt Lithuanian, lv Latvian, mg Malagasy, mi
Maori, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, nb Norwegian
Bokmål, ne Nepali, nl Dutch, nn Norwegian Nynorsk, nso Northern Sotho, ny Chichewa, om Oromo, or Odia, pa
Punjabi, pl Polish, ps Pashto, pt Portuguese, ro Romanian, ru Russian, rw Kinyarwanda, sah Yakut, sd Sindhi,
si Sinhala, sk Slovak, sl Slovenian, sm Samoan, sn Shona, so Somali, sq Albanian, sr Serbian, sr_latn
Serbian in Latin script, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, ti Tigrinya, tk
Turkmen, tl Tagalog, tn Tswana, tr Turkish, tt Tatar, ug Uyghur, uk Ukrainian, ur Urdu, uz Uzbek, vi
Vietnamese, wo Wolof, xh Xhosa, yi Yiddish, yo Yoruba, zh Chinese, zu Zulu
"""
NAMES: Final[dict[str, str]] = dict(entry.split(maxsplit=1) for entry in " ".join(_NAMES.split()).split(", "))
"""Label of a shipped profile → the language's English name."""

_VALID: Final = re.compile(r"(?:__label__)?([a-z]{2,3})(?:[_-]([a-z]{4}))?(?:[_-].*)?", re.IGNORECASE)


def iso(label: str) -> str:
    """ISO 639-1, else 639-3, of a model's label: __label__ces_Latn → cs, __label__cs → cs, sr_latn → sr."""
    match = _VALID.fullmatch(label)
    if match is None:
        return label.removeprefix("__label__")
    language, script = match[1].lower(), match[2]
    if script and language in _GLOTLID_ONLY:
        return _GLOTLID_ONLY[language]
    return _TO_SHORT.get(language, language)


def resolve(codes: Collection[str], languages: Collection[str]) -> tuple[str, ...]:
    """The profiles' labels for the codes a user gave: sr → sr, sr_latn; UsageError for unknown codes."""
    labels: list[str] = []
    for code in codes:
        wanted = code.strip().lower()
        found = [label for label in languages if label == wanted]
        found = found or [label for label in languages if iso(label) == iso(wanted)]
        if wanted in found:  # a bare code stands for all its scripts
            found = [label for label in languages if label == wanted or label.startswith(f"{wanted}_")]
        if not found:
            raise UsageError(f"unknown language {code!r}{closest(wanted, languages)}")
        labels.extend(label for label in found if label not in labels)
    return tuple(labels)


def closest(code: str, languages: Collection[str]) -> str:
    """The end of an error line: the codes most like a mistyped one, or those of a language's name."""
    wanted = code.strip().lower()
    names = {NAMES[label].lower(): label for label in languages if label in NAMES}
    near = [names[name] for name in difflib.get_close_matches(wanted, names, n=3, cutoff=0.7)]
    if len(wanted) > 1:  # cz → Czech
        near += [label for name, label in names.items() if name.startswith(wanted)]
    near += difflib.get_close_matches(wanted, sorted(languages), n=3, cutoff=0.5)
    shown = [f"{label} ({NAMES[label]})" if label in NAMES else label for label in dict.fromkeys(near)][:3]
    return f" (did you mean {' or '.join(shown)}?)" if shown else " (`victor languages` lists them)"
