"""Why an endpoint gave no whole answer, and the one sentence that says so and what to do."""

import re

RETRIES = 2  # times that a passing failure is tried again
FIRST_PAUSE = 0.5  # seconds before the first retry where the endpoint names none; the second waits twice as long
LONGEST_PAUSE = 20.0  # seconds that an endpoint may ask us to wait before a person would rather know
DETAIL = 200  # characters of the endpoint's own words that an error repeats

# Patterns are compiled when first used, which most commands never do.
OVERLONG = r"context[ _-]?(length|window|size)|prompt is too long|too many tokens|token count"


class Failure(Exception):
    """Why there is no whole answer, before it is put into words: `kind` is a key of SENTENCES, or "status"."""

    def __init__(self, kind: str, status: int = 0, body: object = None, after: str = "", elsewhere: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.status = status
        self.body = body
        self.after = after  # the header Retry-After: seconds or a date
        self.elsewhere = elsewhere  # the header Location
        self.message = _message(body)
        self.code = str(body.get("code") or "") if isinstance(body, dict) else ""

    @property
    def too_long(self) -> bool:
        """Whether the prompt was more than the model's context holds."""
        told = self.kind == "error" or self.status in (400, 413, 422, 500)
        named = self.code == "context_length_exceeded" or self.status == 413
        return told and (named or bool(re.search(OVERLONG, self.message.lower())))

    @property
    def passing(self) -> bool:
        """Whether trying again may help."""
        passing = self.kind == "dropped" or self.status in (408, 429, 500, 502, 503, 504, 529)
        # Groq refuses its own model's answer with this code when the model wrote a call badly; the next try may do.
        return ((passing and self.code != "insufficient_quota") or self.code == "tool_use_failed") and not self.too_long

    @property
    def seconds(self) -> float | None:
        """The pause that the endpoint names, in seconds."""
        return _seconds(self.after)

    def pause(self, retries: int) -> float | None:
        """Seconds to wait before trying again after `retries` retries, None where that would not help."""
        if not self.passing or retries >= RETRIES:
            return None
        if not self.after:
            return float(FIRST_PAUSE * 2**retries)
        return self.seconds if self.seconds is not None and self.seconds <= LONGEST_PAUSE else None

    def sentence(self, key: str, silence: float) -> str:
        """What failed and what to do; never `key`, which an endpoint may repeat. `silence` is the time-out, seconds."""
        words = one_line(self.message.replace(key, "…") if key else self.message)
        template = OVERLONG_PROMPT if self.too_long else SENTENCES.get(self.kind) or _refusal(self, bool(key))
        return template.format(
            said=f', "{words}"' if words else "",
            status=self.status,
            silence=span(silence),
            when=_when(self.after),
            elsewhere=one_line(self.elsewhere) or "another address",
        )


SENTENCES = {
    "address": "that is no address to ask; set OPENAI_BASE_URL to one such as http://localhost:11434/v1",
    "keyless": "a key is needed; set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own",
    "key": "the key in OPENAI_API_KEY holds characters that no key has; set it again",
    "proxy": "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used; correct or unset it",
    "no proxy": "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names lets nothing through; correct or unset it",
    "silent": "nothing came for {silence}; ask again, or raise timeout in filemem.yaml",
    "refused": "nothing answers there (connection refused); start the server, or correct OPENAI_BASE_URL",
    "unknown": "no such host is known; check the network and OPENAI_BASE_URL",
    "insecure": "no secure connection; check the host's certificate, and https or http in OPENAI_BASE_URL",
    "unreachable": "the host cannot be reached; check the network and OPENAI_BASE_URL",
    "dropped": "the connection was closed without an answer; ask again in a moment",
    "cut": "the answer broke off in the middle; what had come is kept, ask again for the rest",
    "error": "the endpoint gave up{said}; ask again",
    "garbled": "what came back is no chat completion; check that OPENAI_BASE_URL names an OpenAI-compatible endpoint",
    "page": "a web page came back and no answer; check OPENAI_BASE_URL, which often ends in /v1",
    "empty": "the answer held no choice to take; ask again, or choose another model",
    "endless": "the answer went on without end and was stopped; what had come is kept, ask again",
    "filtered": "the endpoint's content filter stopped the answer; put it another way",
}

OVERLONG_PROMPT = "the prompt is longer than the model can take{said}; send less, or choose another model"


def _refusal(failure: Failure, keyed: bool) -> str:
    """What a refusal under an HTTP status means and what to do, as a template like SENTENCES."""
    status, code, words = failure.status, failure.code, failure.message.lower()
    if 300 <= status < 400:
        return "it sends on to {elsewhere} ({status}), where nothing was sent; name that address if you trust it"
    if code in ("content_filter", "content_policy_violation"):
        return SENTENCES["filtered"]
    if status == 401 and not keyed:
        return "a key is needed (401); set OPENAI_API_KEY"
    if status == 401:  # the endpoint's words are left out: they often repeat a part of the key
        return "the key in OPENAI_API_KEY is not accepted (401); set a valid one"
    if status == 403:
        return "this key may not use the model (403{said}); check the account's rights, or choose another model"
    if status == 404 and ("model" in words or "deployment" in words or code == "model_not_found"):
        return "no such model (404{said}); choose another with --model or FILEMEM_MODEL"
    if status in (404, 405):
        return "no chat completions at this address ({status}); check OPENAI_BASE_URL, which often ends in /v1"
    if code == "insufficient_quota":
        return "the account's quota is used up ({status}); check its plan and billing"
    if status == 429:
        return "too many requests (429{said}); try again {when}"
    if status >= 500 or status == 408:
        return "the endpoint failed ({status}{said}); try again {when}"
    if code == "tool_use_failed":
        return "the model wrote a tool call that the endpoint cannot read; ask again, or choose another model"
    return "the request was refused ({status}{said}); check the model's name and OPENAI_BASE_URL"


def cause(error: BaseException, began: bool) -> str:
    """The kind of failure behind a lost connection, `began` telling whether an answer had begun."""
    names: set[str] = set()
    link: BaseException | None = error
    while link is not None:
        names.update(kind.__name__ for kind in type(link).__mro__)
        link = link.__cause__ or link.__context__
    if began:
        return "silent" if "TimeoutException" in names else "cut"
    # By name, because importing ssl and socket for the classes would cost every command 15 ms.
    kinds = {
        "ConnectTimeout": "unreachable",
        "TimeoutException": "silent",
        "gaierror": "unknown",
        "ConnectionRefusedError": "refused",
        "SSLError": "insecure",
        "ProxyError": "no proxy",
        "ConnectError": "unreachable",
        "UnsupportedProtocol": "address",
    }
    return next((kind for name, kind in kinds.items() if name in names), "dropped")


def _message(body: object) -> str:
    """The sentence in the body of an error, whichever of the common shapes it has; "" for a web page."""
    while isinstance(body, dict | list):
        if isinstance(body, dict):
            body = next((body[key] for key in ("message", "detail", "msg", "error") if body.get(key)), "")
        else:
            body = body[0] if body else ""
    return body if isinstance(body, str) and "<" not in body[:20] else ""


def one_line(text: str) -> str:
    """Text of an endpoint made fit for one line of a terminal: printable, single blanks, cut at DETAIL characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= DETAIL else f"{line[:DETAIL]}…"


def _seconds(after: str) -> float | None:
    """The seconds in a Retry-After header, None for a date or for nonsense."""
    try:
        seconds = float(after)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _when(after: str) -> str:
    """When to try again by a Retry-After header, in words."""
    seconds = _seconds(after)
    if seconds is not None and seconds >= 1:
        return f"in {span(seconds)}"
    words = "" if seconds is not None else one_line(after)
    return f"after {words}" if words else "in a moment"


def span(seconds: float) -> str:
    """A length of time in words."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.3g} s"
