"""The check digits of cards, bank accounts and national ids. Pure functions of a number without its separators.

Each rule is public and named by the standard or the office that sets it; none says that a number is in use, only that it
is well formed, which a number met by chance is one time in ten to one in ninety-seven.
"""

from collections.abc import Iterable

# Characters of an IBAN by country, from SWIFT's IBAN Registry (ISO 13616), release 100.
_IBAN_LENGTHS = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18
FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21
LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24
SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
"""
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_VERHOEFF_STEP = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
_FISCALE_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _weighted(digits: str, weights: Iterable[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def is_date(month: str, day: str) -> bool:
    """Whether the digits can be a day of a year; 29 February passes."""
    return 1 <= int(month) <= 12 and 1 <= int(day) <= _DAYS[int(month) - 1]


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B: payment cards, and the Canadian social insurance number."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[::-2]))) % 10 == 0


def card(digits: str) -> bool:
    """A payment card: 13 to 19 digits, an issuer's prefix with a length that it issues, and Luhn's check digit."""
    return _issued(digits) and luhn(digits)


def _issued(digits: str) -> bool:
    size, two, three, four = len(digits), int(digits[:2]), int(digits[:3]), int(digits[:4])
    if two in (34, 37):  # American Express
        return size == 15
    if two in (36, 38, 39) or 300 <= three <= 305:  # Diners Club
        return 14 <= size <= 19
    if digits[0] == "4":  # Visa
        return size in (13, 16, 19)
    if 51 <= two <= 55 or 2221 <= four <= 2720:  # Mastercard
        return size == 16
    if four in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763):  # Maestro
        return 13 <= size <= 19
    known = two in (60, 62, 64, 65, 81, 82) or 2200 <= four <= 2204 or 3528 <= four <= 3589 or four == 9558
    return known and 16 <= size <= 19  # Discover, UnionPay, RuPay, Mir, JCB, ICBC


def iban_length(country: str) -> int:
    """How many characters an IBAN of this country has; 0 where it issues none."""
    at = _IBAN_LENGTHS.find(country)
    return int(_IBAN_LENGTHS[at + 2 : at + 4]) if at >= 0 else 0


def iban(code: str) -> bool:
    """ISO 13616: the country and check digits moved behind the rest, letters as 10 to 35, modulo 97 is 1."""
    moved = code[4:] + code[:4]
    return len(code) == iban_length(code[:2]) and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def verhoeff(digits: str) -> bool:
    """Verhoeff 1969, over the dihedral group of ten elements: the Indian Aadhaar."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        for _ in range(place % 8):
            value = _VERHOEFF_STEP[value]
        sign = -1 if check >= 5 else 1
        check = (check + sign * value) % 5 + 5 * ((check >= 5) != (value >= 5))
    return check == 0


def chinese_resident(code: str) -> bool:
    """GB 11643-1999: region, birthday, sequence, and a check character of ISO 7064 MOD 11-2."""
    total = sum(int(digit) * pow(2, 17 - at, 11) for at, digit in enumerate(code[:17]))
    possible = 11 <= int(code[:2]) <= 91 and code[6:8] in ("19", "20") and is_date(code[10:12], code[12:14])
    return possible and "10X98765432"[total % 11] == code[17].upper()


def hong_kong(code: str) -> bool:
    """The Hong Kong identity card: one or two letters, six digits, a check character modulo 11."""
    values = [36, *(int(char, 36) for char in code)][-9:]
    return sum(value * weight for value, weight in zip(values, range(9, 0, -1), strict=True)) % 11 == 0


def taiwan(code: str) -> bool:
    """The identity card of Taiwan: a letter for the county, nine digits, modulo 10."""
    county = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(code[0]) + 10
    return (county // 10 + county % 10 * 9 + _weighted(code[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def singapore(code: str) -> bool:
    """The Singaporean NRIC or FIN: S, T, F, G or M, seven digits, a check letter modulo 11."""
    total = _weighted(code[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(code[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(code[0], "XWUTRQPNMLK")
    return letters[total % 11] == code[8]


def korean(digits: str) -> bool:
    """The South Korean resident number: birthday, sex, and a check digit modulo 11 (those issued before October 2020)."""
    total = _weighted(digits[:12], (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5))
    return is_date(digits[2:4], digits[4:6]) and (11 - total % 11) % 10 == int(digits[12])


def japanese(digits: str) -> bool:
    """The Japanese My Number: eleven digits and a check digit modulo 11."""
    rest = _weighted(digits[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def spanish(code: str) -> bool:
    """The Spanish DNI, or a foreigner's NIE, whose X, Y or Z counts as 0, 1 or 2: a check letter modulo 23."""
    number = int(str("XYZ".find(code[0])) + code[1:8]) if code[0] in "XYZ" else int(code[:8])
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == code[8]


def portuguese(digits: str) -> bool:
    """The Portuguese NIF: a check digit modulo 11."""
    rest = _weighted(digits[:8], range(9, 1, -1)) % 11
    return int(digits[8]) == (0 if rest <= 1 else 11 - rest)


def brazilian(digits: str) -> bool:
    """The Brazilian CPF: two check digits modulo 11, not all eleven digits alike."""
    first = _weighted(digits[:9], range(10, 1, -1)) * 10 % 11 % 10
    second = _weighted(digits[:10], range(11, 1, -1)) * 10 % 11 % 10
    return len(set(digits)) > 1 and digits[9:] == f"{first}{second}"


def french(code: str) -> bool:
    """The French NIR: thirteen characters, Corsica's 2A and 2B as 19 and 18, and a key of 97 less the rest modulo 97."""
    number = int(code[:13].replace("2A", "19").replace("2B", "18"))
    return int(code[13:]) == 97 - number % 97


def italian(code: str) -> bool:
    """The Italian codice fiscale: fifteen characters and a check letter modulo 26."""
    values = [int(char) if char.isdigit() else ord(char) - 65 for char in code[:15]]
    total = sum(value if at % 2 else _FISCALE_ODD[value] for at, value in enumerate(values))
    return chr(65 + total % 26) == code[15]


def polish(digits: str) -> bool:
    """The Polish PESEL: eleven digits, the last a check digit modulo 10."""
    return _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def dutch(digits: str) -> bool:
    """The Dutch BSN: nine digits that pass the test of eleven."""
    return _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0
