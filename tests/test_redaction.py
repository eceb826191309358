"""Secrets leave the text, each replaced by its kind; everything else stays as it was; nothing that only looks alike goes.

No secret stands in this file: look-alikes are put together at run time, so that no scanner stumbles over them.
"""

import json
import random
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from programs import filemem

from filemem.text.redaction import KINDS, redact


def mixed(size: int) -> str:
    """Letters and digits that look thrown, `size` of them."""
    return ("a1B2c3D4e5F6g7H8i9J0kLmN" * 12)[:size]


def hexed(size: int) -> str:
    return ("0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 12)[:size]


def pem(edge: str, of: str = "RSA ") -> str:
    return "-----" + edge + " " + of + "PRIVATE" + " KEY-----"


LINES = f"MII{mixed(61)}\n{mixed(64)}\n{mixed(20)}=="
JWT = ".".join("eyJ" + mixed(size) for size in (20, 40)) + "." + mixed(43)
KEY, TOKEN, PRIVATE, PASSWORD, CODE, CARD, ACCOUNT, ID = KINDS

# Text with the secret between ‹ and ›, and its kind.
SECRETS = [
    (KEY, "use ‹" + "sk-" + mixed(48) + "› for it"),
    (KEY, "‹" + "sk-" + "proj-" + mixed(40) + "_" + mixed(40) + "›"),
    (KEY, "ANTHROPIC_API_KEY=‹" + "sk-" + "ant-api03-" + mixed(80) + "-AA›"),
    (KEY, "deepseek的key是‹" + "sk-" + hexed(32) + "›，别外传"),
    (KEY, "id ‹" + "AKIA" + "Q7" * 8 + "›."),
    (KEY, "temporary: ‹" + "ASIA" + "Q7" * 8 + "›"),
    (KEY, "aws_secret_access_key = ‹" + mixed(20) + "/" + mixed(19) + "›"),
    (KEY, "‹" + "sk" + "_live_" + mixed(24) + "› and on"),
    (KEY, "‹" + "rk" + "_live_" + mixed(24) + "›"),
    (KEY, "maps ‹" + "AIza" + mixed(35) + "›"),
    (KEY, "‹" + "SG." + mixed(22) + "." + mixed(43) + "›"),
    (KEY, "twilio ‹" + "SK" + hexed(32) + "›"),
    (KEY, "‹" + "gsk_" + mixed(52) + "›"),
    (KEY, 'api_key="‹' + mixed(24) + '›"'),
    (KEY, '{"apiKey": "‹' + mixed(24) + '›"}'),
    (KEY, "https://api.example.com/v1?city=Rome&api_key=‹" + mixed(24) + "›&units=m"),
    (KEY, "client_secret: ‹" + mixed(30) + "›"),
    (KEY, "My API key is ‹" + hexed(32) + "›, keep it"),
    (KEY, "heroku token: ‹" + "-".join([hexed(8), hexed(4), hexed(4), hexed(4), hexed(12)]) + "›"),
    (KEY, "密钥：‹" + mixed(32) + "›"),
    (KEY, "SESSION_TOKEN=‹" + mixed(40) + "›"),
    (TOKEN, "‹" + "ghp_" + mixed(36) + "›"),
    (TOKEN, "git clone https://‹" + "gho_" + mixed(36) + "›@github.com/a/b"),
    (TOKEN, "‹" + "ghs_" + mixed(36) + "›"),
    (TOKEN, "‹" + "github" + "_pat_" + mixed(22) + "_" + mixed(59) + "›"),
    (TOKEN, "‹" + "glpat-" + mixed(20) + "›"),
    (TOKEN, "slack: ‹" + "xoxb-" + "123456789012-" + mixed(24) + "›"),
    (TOKEN, "‹" + "xoxp-" + "123456789012-" + mixed(24) + "›"),
    (TOKEN, "‹" + "hf_" + mixed(34) + "›"),
    (TOKEN, "‹" + "npm_" + mixed(36) + "›"),
    (TOKEN, "‹" + "pypi-" + "AgEIcHlwaS5vcmc" + mixed(50) + "›"),
    (TOKEN, "bot ‹123456789:" + "AA" + mixed(33) + "›"),
    (TOKEN, "the cookie was ‹" + JWT + "›;"),
    (TOKEN, "Authorization: Bearer ‹" + mixed(40) + "›"),
    (TOKEN, "curl -H 'Authorization: Basic ‹" + "dXNlcjpwYXNz" + "›'"),
    (TOKEN, "https://hooks.slack.com/services/‹" + "T0AB12CD3/B0AB12CD3/" + mixed(24) + "›"),
    (PRIVATE, "here:\n‹" + pem("BEGIN") + "\n" + LINES + "\n" + pem("END") + "›\nthat was it"),
    (PRIVATE, "‹" + pem("BEGIN", "OPENSSH ") + "\n" + LINES + "\n" + pem("END", "OPENSSH ") + "›"),
    (PRIVATE, "‹" + pem("BEGIN", "") + "\\n" + mixed(64) + "\\n" + mixed(8) + "=\\n" + pem("END", "") + "›"),
    (PRIVATE, "cut short: ‹" + pem("BEGIN") + "\n" + f"MII{mixed(61)}\n{mixed(40)}" + "›\n\nAnd then we had tea."),
    (PRIVATE, "The end of it:\n‹" + f"{mixed(64)}\n{mixed(40)}\n" + pem("END") + "›"),
    (
        PRIVATE,
        "- **Bob** 09:30: ‹" + pem("BEGIN") + "\n  " + mixed(64) + "\n  " + mixed(64) + "›\n- **Amy** 09:31: Oh no",
    ),
    (PASSWORD, "postgres://bob:‹" + "s3cr" + "3t›@db.example.com/x"),
    (PASSWORD, "redis://:‹p@ss#w›@cache:6379/0"),
    (PASSWORD, "my password is ‹hunter2›"),
    (PASSWORD, "My password is ‹Swordfish›."),
    (PASSWORD, "my password is ‹swordfish› and my name is Bob"),
    (PASSWORD, "the wifi password: ‹sunflower›"),
    (PASSWORD, "The password for the office wifi is ‹blue-kettle›, by the way"),
    (PASSWORD, "pwd=‹abc12›"),
    (PASSWORD, "login bob, password ‹hunter2›, and then click"),
    (PASSWORD, 'the password is "‹correct horse battery staple›", in quotes'),
    (PASSWORD, "The passphrase is ‹correct horse battery staple›."),
    (PASSWORD, '{"user": "bob", "password": "‹qwerty›"}'),
    (PASSWORD, "**Password:** ‹Tr0ub4dor&3›"),
    (PASSWORD, "dbPassword=‹xy!zzy›"),
    (PASSWORD, "my netflix password's ‹fluffy99!›"),
    (PASSWORD, "I changed my password to ‹hunter3› yesterday"),
    (PASSWORD, "reset the password for the bank to ‹Marigold›."),
    (PASSWORD, "‹hunter2› is my Netflix password"),
    (PASSWORD, "the password was ‹123456› until today"),
    (PASSWORD, "我的密码是‹hunter2›"),
    (PASSWORD, "我的密码：‹qwe123!!›，别告诉别人"),
    (PASSWORD, "wifi密码 ‹88888888›"),
    (PASSWORD, "WiFi密码是‹ilovetea›"),
    (PASSWORD, "家里的口令是“‹芝麻开门›”"),
    (PASSWORD, "密码我设的是 ‹abc2024xyz›哦"),
    (PASSWORD, "登录密码改成了‹Qwe!2345›。"),
    (PASSWORD, "支付密码：‹８２７３６４›"),
    (PASSWORD, "银行卡密码为‹482913›，记一下"),
    (PASSWORD, "密码是‹abc›，帐号是bob"),
    (PASSWORD, "the password is '‹please›'"),
    (CODE, "Use ‹482913› as your verification code"),
    (CODE, "验证码：‹A8K2›"),
    (CODE, "my PIN is ‹4921›"),
    (CODE, "PIN: ‹0000›, if you need it"),
    (CODE, "the gate code is ‹4590#›".replace("#›", "›#")),
    (CODE, "Your verification code is ‹123456›."),
    (CODE, "‹G-482913› is your Google verification code"),
    (CODE, "cvv ‹123›"),
    (CODE, "验证码是 ‹123456›"),
    (CODE, "【淘宝】您的验证码为‹4829›，5分钟内有效"),
    (CODE, "‹482913›是你的验证码"),
    (CARD, "visa ‹4111 1111 1111 1111›, exp 12/27"),
    (CARD, "‹4111-1111-1111-1111›"),
    (CARD, "card:‹5500000000000004›"),
    (CARD, "amex ‹3782 822463 10005›"),
    (CARD, "卡号‹6250941006528599›，建设银行"),
    (CARD, "卡号是 ‹６２５０ ９４１０ ０６５２ ８５９９›"),
    (CARD, "old visa card ‹4222222222222›"),
    (CARD, "pay with ‹4000 0566 5566 5556 ›".replace(" ›", "›") + " 12 27 123"),
    (ACCOUNT, "IBAN ‹DE89 3704 0044 0532 0130 00› BIC COBADEFF"),
    (ACCOUNT, "to ‹GB82WEST12345698765432›, please"),
    (ACCOUNT, "‹nl91abna0417164300›"),
    (ID, "ssn ‹219-09-9999›"),
    (ID, "My social security number is ‹219099999›"),
    (ID, "身份证号‹11010519491231002X›"),
    (ID, "我的身份证是 ‹110105 19491231 002x›。"),
    (ID, "passport number ‹X1234567›"),
    (ID, "护照号：‹E12345678›"),
    (ID, "护照号 ‹E12345678›"),
    (ID, "passport no. ‹X1234567›"),
    (ID, "Passport: ‹EB1234567›, issued in Porto"),
    (ID, "my passport is ‹K1234567A›, valid till 2031"),
    (ID, "我的護照是‹G98765432›"),
    (TOKEN, "‹" + "hf_" + "aBcDEfgHijKLmnOPqrsTuvWXyzAbCDeFgH" + "› is from the hub"),
    (TOKEN, "log: loading with token=‹" + "hf_" + "QwErTyuIopAsdFghJklZxcVbnmQwErTyui" + "› ok"),
    (PASSWORD, "docker login -u mara -p ‹kettle99› registry.example.org"),
    (PASSWORD, "docker login registry.example.org -u mara -p '‹two kettles›'"),
    (PASSWORD, "podman login --username mara --password=‹kettle99› quay.io"),
    (PASSWORD, "DB_PASS=‹hunter2›"),
    (PASSWORD, "export MYSQL_PASS='‹hunter2›' && ./run"),
    (PASSWORD, "2026-11-20 09:30:01 INFO env DB_PASS=‹hunter2› DB_HOST=db"),
    (PASSWORD, "SMTP_PASS: ‹rosebud›"),
]

NEAR_MISSES = [
    "the van's plate is KX-4471, i can never remember it",
    "the password is stored in the vault",
    "I forgot my password",
    "I forgot my password again, third time this week",
    "Which password manager do you use?",
    "my password is wrong",
    "The password is required.",
    "the password is too short",
    "the password is 12 characters long",
    "password is 8-character minimum",
    "passwords are hashed with bcrypt",
    "the password was changed",
    "Password: required",
    "password: ********",
    "password = os.environ['DB_PASSWORD']",
    "password=$DB_PASSWORD",
    "password: ${DB_PASSWORD}",
    "password: <your password>",
    "def login(user: str, password: str = None)",
    "ask Tom for the wifi password",
    "a password of at least 12 characters",
    "the password screen, the password field, the password policy",
    "The password is the same as before",
    "password reset email",
    "The book has a password-protected chapter",
    "密码忘了",
    "密码本丢了",
    "密码是6位数",
    "密码是什么？",
    "我忘记密码了，怎么办",
    "密码学很有意思",
    "密码需要8个字符以上",
    "密码是2019年改的",
    "密码管理器推荐哪个",
    "这部谍战片叫《风语》，讲密码破译",
    "口令错了",
    "验证码收不到",
    "密码：忘记了",
    "Password:\nUsername: bob\nEmail: bob@example.com",
    "密码是MD5加密的",
    "password is probably something like a pet",
    "Her password is still the old one",
    "secret key is kept in 1Password",
    "max_tokens=4096 and token_type=bearer",
    "enter the password 3 times",
    "the word password appears 12345 times",
    "验证码60秒后过期",
    "PIN the note on the board",
    "my pin is on the map",
    "I bowled a ten pin strike in 2024",
    "my pin code is 560001, near MG Road",
    "key lime pie",
    "a token of appreciation",
    "The secret is out: we are moving to Porto",
    "the secret: butter and patience",
    "token: gpt-4o-mini",
    "Bearer of bad news, Christopherson-Williamson",
    "sk-learn and sk-learn-compatible-estimators",
    "a task-force, a desk-organiser-with-twelve-drawers-2024",
    "AKIA is the first part of it",
    "the eyJ prefix marks a JSON web token",
    "call me on +44 20 7946 0958",
    "my number is 415-555-2671 or (415) 555-2672",
    "手机号 13812345678",
    "bank hotline 95588, or 400-820-8820 for cards",
    "call 1-800-555-0199 with order 4111111111111112",
    "order number 4111 1111 1111 1112",
    "ISBN 978-3-16-148410-0",
    "EAN 4006381333931 on the pack",
    "2026-11-20 09:30 to 2026-11-21 10:45",
    "timestamp 1700000000000 and 1700000000000000",
    "550e8400-e29b-41d4-a716-446655440000",
    "commit " + hexed(40),
    "sha256 " + hexed(64),
    "the colour #ff8800 or #c0ffee",
    "version 10.15.7, build 19H2026",
    "48.858370, 2.294481",
    "pi is 3.14159265358979323846264338327950288",
    "the population is 1,411,750,000",
    "tracking 1Z999AA10123456784",
    "USPS 9400 1000 0000 0000 0000 00",
    "顺丰单号 SF1234567890123",
    "统一社会信用代码 91110000600037341L",
    "身份证号 110105194912310021",
    "IBAN DE89 3704 0044 0532 0130 01",
    "000-12-3456 and 666-12-3456",
    "12345678A",
    "529.982.247-24",
    "four 4968 5824 5152 of nothing",
    "https://example.com:8080/path?user=bob",
    "https://bob@example.com/",
    "mail bob@example.com at 12:30",
    "/home/bob/passwords/notes.txt",
    "C:\\Users\\bob\\token.txt",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "a public key: -----BEGIN PUBLIC KEY-----",
    "room 4921, floor 12, gate B42",
    "我今年买了3张卡，花了4921元",
    "会议室在 A123456 楼",
    "The passport office is at 12345678 Main Street",
    "He got a visa 2 weeks ago; flight CA1234567",
    # beside tokens of the hub
    "from huggingface_hub import hf_hub_download, hf_api",
    "hf_transfer_enabled_by_default",
    "hf_hub_download_TransformersTokenizerConfiguration",
    "set HF_HOME and HF_HUB_OFFLINE=1",
    "HF_TOKEN=$HF_TOKEN python train.py",
    "HF_TOKEN=<your token>",
    "the hf_ prefix marks a token of the hub",
    "hf_token: str | None = None",
    "the model is meta-llama/Llama-3.1-8B-Instruct",
    "hf download sentence-transformers/all-MiniLM-L6-v2",
    # beside logins and settings
    "docker login",
    "docker login -u mara --password-stdin",
    "docker login -u mara -p $REGISTRY_PASS",
    "docker login -u mara -p ${{ secrets.REGISTRY }}",
    "cat token.txt | docker login ghcr.io -u mara --password-stdin",
    "docker run -p 127.0.0.1:8080:80 nginx",
    "docker run -d -p 5432:5432 -e POSTGRES_USER=mara postgres:16",
    "docker compose -p shop up",
    "mysql -u root -p shop",
    "mkdir -p notes/2026 && cp -p a b",
    "npm login",
    "DB_PASS=$DB_PASS",
    "DB_PASS=${DB_PASS}",
    "DB_PASS=<secret>",
    "DB_PASS=********",
    "DB_PASS=os.environ['DB_PASS']",
    "DB_PASS=",
    "DB_HOST=db1.example.org",
    "PASS: 14 tests, FAIL: 0",
    "test_login PASS",
    "status=PASS",
    "LOW_PASS_FILTER=440",
    "pass: optional",
    "a boarding pass, a ski pass and a bus pass for 2026",
    "the mountain pass is closed until May",
    "bypass=true and passage=2",
    "compass: 270 degrees",
    "he passed 12 exams",
    # beside passports
    "my passport expires on 2031-05-12",
    "my passport expires in 03/2031",
    "the passport office opens at 9",
    "passport control is at gate B42",
    "renew my passport before flight TP1523",
    "passport photos 35x45 mm, 12 euros",
    "a passport costs 70 euros",
    "form DS-11 for the passport",
    "I lost my passport in 2019",
    "passport.js 0.7.0 is a library",
    "two passports, one Swiss",
    "the passport is in drawer A12",
    "ePassport gates take 20 seconds",
    "passport queue: 45 minutes",
    "Passport number: see the safe",
    "护照快过期了，2027年5月",
    "护照照片要35x45毫米",
    "办护照花了120元",
    "护照在A12抽屉里",
    "护照和签证都好了，航班CA1234567",
    "护照号我忘了",
    # beside numbers of other kinds
    "the museum ticket E12345678 is for Friday",
    "part X1234567 fits the pump",
    "membership E98765432",
    "model no. X1234567",
    "快递柜E12345678",
]

PIECES = st.sampled_from(
    [
        *" \n.,:：=，。'\"“”()-@/0[]!\0",
        "password",
        "my password is ",
        "密码是",
        "口令：",
        "PIN ",
        "is my password",
        "验证码",
        "token=",
        "api_key: ",
        "hunter2",
        "swordfish",
        "4921",
        "4111 1111",
        "11111111",
        "4111111111111111",
        "sk-" + mixed(30),
        "ghp_" + mixed(36),
        "AKIA" + "Q7" * 8,
        "eyJ" + mixed(12),
        "https://a:b@c",
        "[redacted: password]",
        "[redacted: ",
        "DE89 3704 0044 0532 0130 00",
        "219-09-9999",
        "11010519491231002X",
        pem("BEGIN"),
        pem("END"),
        mixed(64) + "\n",
        " to ",
        "changed my password",
        "ssn",
        "card ",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=14).map("".join))


@pytest.mark.parametrize(("kind", "marked"), SECRETS)
def test_a_secret_leaves_and_what_is_beside_it_stays(kind: str, marked: str) -> None:
    before, _, rest = marked.partition("‹")
    secret, _, after = rest.partition("›")
    clean, found = redact(before + secret + after)
    assert clean == f"{before}[redacted: {kind}]{after}"
    assert found == [(kind, len(before), len(before) + len(secret))]


def test_a_token_of_letters_alone_is_one() -> None:
    """As most of the hub's are: 34 letters thrown by chance."""
    chance = random.Random(28)
    tokens = ["hf_" + "".join(chance.choices(string.ascii_letters + string.digits, k=34)) for _ in range(500)]
    tokens += ["hf_" + "".join(chance.choices(string.ascii_letters, k=34)) for _ in range(500)]
    missed = [
        token for token in tokens if redact(f"mine is {token}, keep it")[0] != "mine is [redacted: token], keep it"
    ]
    assert len(missed) <= 10


def test_a_wallet_is_told_by_twelve_words() -> None:
    words = "apple brave candy delta eagle fancy grape house igloo joker kites lemon"
    assert redact(f"My seed phrase is: {words}.")[0] == "My seed phrase is: [redacted: password]."


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redact(text) == (text, [])


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(SECRETS) >= 100
    assert len(NEAR_MISSES) >= 150


def test_several_secrets_in_one_text_are_told_apart() -> None:
    text = "I changed my password from hunter2 to Tr0ub4dor yesterday; PIN 4921, card 4111 1111 1111 1111 5500 0000 0000 0004."
    clean, found = redact(text)
    assert clean == (
        "I changed my password from [redacted: password] to [redacted: password] yesterday; PIN [redacted: code], "
        "card [redacted: card number] [redacted: card number]."
    )
    assert [text[at.start : at.end] for at in found][:3] == ["hunter2", "Tr0ub4dor", "4921"]


@given(TEXTS)
@example("password is password is pin is 4921")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    clean, _ = redact(text)
    assert redact(clean) == (clean, [])


@given(TEXTS)
def test_everything_else_stays_character_by_character(text: str) -> None:
    clean, found = redact(text)
    rebuilt, done = "", 0
    for kind, start, end in found:
        assert kind in KINDS
        assert done <= start < end <= len(text)
        rebuilt += text[done:start] + f"[redacted: {kind}]"
        done = end
    assert clean == rebuilt + text[done:]


def check_digit(digits: str) -> str:
    """The digit that makes the number pass: the one of ten for which the sum of ISO/IEC 7812-1 is a multiple of ten."""
    odd = [int(digit) for digit in digits[::-1][1::2]]
    even = [2 * int(digit) for digit in digits[::-1][0::2]]
    return str(-sum(odd + [value - 9 * (value > 9) for value in even]) % 10)


@st.composite
def grouped_cards(draw: st.DrawFn) -> str:
    prefix, size = draw(
        st.sampled_from([("4", 16), ("51", 16), ("2221", 16), ("37", 15), ("62", 16), ("62", 19), ("6011", 16)])
    )
    body = prefix + draw(st.text("0123456789", min_size=size - 1 - len(prefix), max_size=size - 1 - len(prefix)))
    number = body + check_digit(body)
    cuts = sorted(draw(st.sets(st.integers(1, size - 1), max_size=6)))
    separator = draw(st.sampled_from([" ", "-", "\u00a0", " - ", "–"]))
    return separator.join(number[a:b] for a, b in zip([0, *cuts], [*cuts, size], strict=True))


@given(
    grouped_cards(),
    st.sampled_from(["", "card ", "My card: ", "卡号", "("]),
    st.sampled_from(["", ".", ", thanks", "，谢谢", ")"]),
)
def test_a_card_with_its_check_digit_is_caught_however_it_is_grouped(card: str, before: str, after: str) -> None:
    clean, found = redact(before + card + after)
    assert [at.kind for at in found] == [CARD]
    assert clean == f"{before}[redacted: card number]{after}"


@given(st.text("0123456789", min_size=16, max_size=16))
def test_a_number_without_the_check_digit_of_a_card_stays(digits: str) -> None:
    wrong = digits[:-1] + str((int(check_digit(digits[:-1])) + 1) % 10)
    assert all(at.kind != CARD for at in redact(f"order {wrong}")[1])


HOSTILE = [
    *(
        "a",
        "1",
        " ",
        "\n",
        '"',
        "“",
        "1 ",
        "4 ",
        "4111 ",
        "1-",
        "a ",
        "a@",
        "eyJaaaaaaaaaa.",
        "sk-",
        "SG.aaaaaaaaaaaaaaaa",
    ),
    *(
        "password ",
        "password is ",
        "password for a ",
        'password: "',
        "change a ",
        "is my ",
        "密码",
        "密码是",
        "验证码",
        "PIN ",
    ),
    *(
        "api_",
        "bearer ",
        "://a:",
        pem("BEGIN") + "\n",
        pem("END"),
        mixed(64) + "\n",
        "ssn ",
        "DE89 ",
        "mnemonic: word ",
        "river stone paper ",
        "recovery codes a1b2 ",
        "别存：12345",
        "don't keep that ",
        "login ",
        "the code for the ",
        "mysql -p ",
        "eyJaaaaaaaaaa.a",
    ),
]


def test_no_long_text_holds_it_up() -> None:
    """Worse than linear, and the search would take minutes: a process of its own can be stopped."""
    searched([(piece * 12_000)[:12_000] + "x" for piece in HOSTILE])


@pytest.mark.parametrize("piece", ["a", "a1B2", " ", "7", "密", "密码"])
def test_nor_does_one_long_word(piece: str) -> None:
    searched([(piece * 100_000)[:100_000]])


def searched(texts: list[str]) -> None:
    """Look for secrets in each text, all within two minutes."""
    program = (
        "import json, sys; from filemem.text.redaction import redact\nfor text in json.load(sys.stdin): redact(text)"
    )
    assert filemem("-c", program, given=json.dumps(texts)).returncode == 0
