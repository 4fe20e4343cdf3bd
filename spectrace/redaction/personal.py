"""Personal data by its own form, each kind on request: email, card, iban, phone.

Cards and IBANs count only where their check digits are right, phones only in the international form (`+351 912 ...`):
a national number looks like any order's. Check digits are two formulas of ten lines, and a package would bring a
country's every number along (phonenumbers: 8 MB of tables); where national forms matter, name a pattern of your own.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from spectrace.redaction.findings import Found

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+\-])[A-Za-z0-9_][A-Za-z0-9._%+\-]{0,63}+@(?:[A-Za-z0-9][A-Za-z0-9\-]{0,62}+\.)+[A-Za-z]{2,24}+"
)
_CARD = re.compile(r"(?<![\w.\-+])[2-6](?:[ \-]?[0-9]){12,18}+(?![\w\-]|\.[0-9])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}+(?![A-Za-z0-9])")
_PHONE = re.compile(r"(?<![\w+])\+[1-9](?:[ .\-()/]{0,2}[0-9]){7,14}+(?![0-9])")


def luhn(digits: str) -> bool:
    """Whether a card number's check digit is right (ISO/IEC 7812)."""
    twice = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(int(digit) for digit in digits[-1::-2]) + sum(two - 9 if two > 9 else two for two in twice)) % 10 == 0  # noqa: PLR2004 - the formula


def mod97(iban: str) -> bool:
    """Whether an IBAN's check digits are right (ISO 13616)."""
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit())


_KINDS: Mapping[str, tuple[str, re.Pattern[str], Callable[[str], bool], str]] = {
    "email": ("@", _EMAIL, lambda _: True, "e-mail address"),
    "card": ("", _CARD, lambda text: luhn(_digits(text)) and len(set(_digits(text))) > 1, "card number"),
    "iban": ("", _IBAN, lambda text: mod97(text.replace(" ", "")), "IBAN"),
    "phone": ("+", _PHONE, lambda _: True, "phone number"),
}
KINDS = tuple(_KINDS)


def personal(text: str, kinds: Collection[str]) -> Iterator[Found]:
    """Yield the personal data of these kinds."""
    for kind in kinds:
        anchor, pattern, right, why = _KINDS[kind]
        if anchor in text:
            for match in pattern.finditer(text):
                if right(match[0]):
                    yield Found(match.start(), match.end(), kind, why)
