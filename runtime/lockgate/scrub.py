"""Text made safe to show: what an error says, without what it must not say.

Owns the patterns of secrets, hosts and paths, their order, and the two caps. It knows no error
types and no codes: `errors.py` decides what passes through here.
"""

import re

CLIENT_LIMIT = 256  # characters of any text that a client, a stored row or a log line may hold
MODEL_LIMIT = 8_192  # characters of the error result that the model reads

# The patterns see at most this much, which bounds their time whatever the text is.
_READ_LIMIT = 8_192

# A replacement may set the stage for another match, and so may the cap. Two rounds settle what we
# have met; the bound is for the rest.
_SETTLING_ROUNDS = 4

# C0, C1, the Unicode line ends, and the marks that reorder what a reader sees. They go without a
# space in their place: so does the published vector.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

# Half a surrogate pair cannot be stored or sent, and an error about broken text likes to quote it.
_SURROGATE = re.compile("[\ud800-\udfff]")

_UP_TO_LAST_SPACE = re.compile(r".*\s", re.DOTALL)
_CUT_ENTITY = re.compile(r"&(?:[lg]t?)?\Z")

# What follows `password=`: a quoted text, or a bare word. Never what is redacted already, so that a
# second look changes nothing.
_VALUE = r"(?!\[REDACTED\])(\"[^\"]*\"|'[^']*'|[^\s,;)\]}]+)"

# The order is part of the meaning: URLs before the paths in them, tokens before the names that
# announce them. The possessive repeats match what plain ones would, and never go back: without them
# a long row of colons costs a second.
_RULES = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, flags, replacement in (
        # A URL with credentials keeps its scheme only, for the password may hold a slash.
        (
            r"\b([a-z][a-z0-9+.\-]{0,31})://[^\s/@:]*+:[^\s@]*+@\S+",
            re.IGNORECASE,
            r"\1://[REDACTED]",
        ),
        # A store's URL names a host even without credentials.
        (
            r"\b(postgres(?:ql)?|mysql|mariadb|rediss?|mongodb(?:\+srv)?|amqps?)"
            r"://(?!\[REDACTED\])\S+",
            re.IGNORECASE,
            r"\1://[REDACTED]",
        ),
        (r"\b(Bearer|Basic)\s+[A-Za-z0-9\-._~+/]{4,}=*", re.IGNORECASE, r"\1 [REDACTED]"),
        # A JSON web token, then the key forms of the large providers.
        (r"\beyJ[\w\-]++\.[\w\-]++\.[\w\-]*", 0, "[REDACTED]"),
        (
            r"\b(?:sk|pk|rk)[-_][\w\-]{8,}|\bAKIA[0-9A-Z]{16}\b"
            r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-[\w\-]{8,}",
            0,
            "[REDACTED]",
        ),
        # Anything called a secret, in the spellings of env files, JSON, headers and logs.
        (
            r"(password|passwd|pwd|passphrase|secret|token|api[-_ ]?key|access[-_ ]?key"
            r"|authorization|cookie)([\w\-]{0,32}[\"']?\s*[=:]\s*)" + _VALUE,
            re.IGNORECASE,
            r"\1\2[REDACTED]",
        ),
        # The words of a libpq connection string.
        (
            r"\b(host|hostaddr|user|dbname)(\s*=\s*)" + _VALUE,
            re.IGNORECASE,
            r"\1\2[REDACTED]",
        ),
        (r"(?<![\w/:])(?:/[\w.\-]+){2,}|\b[A-Za-z]:\\[\w.\\\-]+", 0, "[path]"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}\b", 0, "[ip]"),
        # Empty groups count, so a `file:12:5` loses its position and a clock time its digits.
        (r"(?<!\w)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}", re.IGNORECASE, "[ip]"),
    )
)


def scrub(text: str, limit: int = CLIENT_LIMIT) -> str:
    """Cut a text to what a stranger may read, at most `limit` characters of it."""
    # In the first look line ends still part the words; the later ones find the secrets that a
    # control character had split.
    text = _redact(_head(text))
    text = _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))
    for _ in range(_SETTLING_ROUNDS):
        settled = _cap(_redact(text).replace("<", "&lt;").replace(">", "&gt;"), limit)
        if settled == text:
            break
        text = settled
    return text


def _redact(text: str) -> str:
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _head(text: str) -> str:
    """Keep whole words of the part we read: half a secret would pass for none.

    A text without a space has no word to end on: it loses the half in which a secret may have been
    cut, once what is whole in it has been redacted.
    """
    if len(text) <= _READ_LIMIT:
        return text
    words = _UP_TO_LAST_SPACE.match(text[:_READ_LIMIT])
    return words.group() if words else _redact(text[:_READ_LIMIT])[: _READ_LIMIT // 2]


def _cap(text: str, limit: int) -> str:
    return text if len(text) <= limit else _CUT_ENTITY.sub("", text[:limit])
