"""Digests by which a text is known again."""


def digest(data: bytes | str, letters: int = 64) -> str:
    """The first `letters` of a SHA-256 in hexadecimal; a text is taken as UTF-8."""
    import hashlib  # noqa: PLC0415  it loads OpenSSL, which takes a twentieth of a cold start

    return hashlib.sha256(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")).hexdigest()[
        :letters
    ]
