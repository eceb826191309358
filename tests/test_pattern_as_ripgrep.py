"""A pattern of both dialects finds the lines that `rg -S` finds, and a whole word those of `rg -S -w`."""

import shutil
import subprocess
from pathlib import Path

import pytest

from filemem.grep.pattern import compile_pattern

CORPUS = """\
- **Caroline** 13:56: Hey Mel! Long time no see, what's up?
- **Melanie** 13:58: I went to the LGBTQ support group on 7 May 2023.
She said "we'll have green tea at 5pm", but Oolong tea came first.
OOLONG TEA, oolong tea; Oolong-tea / oolong_tea
teapot steam tea. TEA! tea? (tea) [tea] {tea} <tea> tea's

   leading spaces and trailing spaces  \x20
\ttab\tseparated\tvalues
price: $12.50 (about €11,99 or 1.500 ¥) - 100% sure
2023-05-07 2023/05/07 7.5.2023 13:56:07 12:5
+44 20 7946 0018, 555-1234, (555) 123-4567
mel.b@example.com, https://example.org/a?b=c&d=e#f
path/to/file.md:12 C:\\Users\\mel\\notes.txt
foo foobar barfoo foo_bar foo-bar FooBar fooBar FOO
aaa aaaa aaaaa ab abab ababab abc ABC aBc
color colour colouur gray grey analyse analyze
the the quick brown fox jumps over the lazy dog
I I'm I've we'd don't CAN'T o'clock
café résumé naïve Ångström ÉCOLE école Straße STRASSE
cafe\u0301 re\u0301sume\u0301 decomposed
我喜欢喝乌龙茶，特别是春天的。
今天下午3点在京都见面（星期五）
京都 2023年5月7日 一月中旬 上周五
东京と大阪へ行きました。カタカナ ひらがな 漢字
한국어 문장도 있습니다
Привет, мир! ПРИВЕТ МИР привет
Ελληνικά ΣΊΣΥΦΟΣ σίσυφος
हिन्दी में लिखा हुआ
مرحبا بالعالم
E = mc² and H₂O, ½ cup, x³
🍵 tea emoji 👩\u200d🔬 ❤️ done
**bold** _italic_ `code` ~~gone~~ # heading
| a | b | c |
key: value
a.b a+b a*b a?b a^b a$b a|b a\\b (a)(b) [a-b] {1,2}
"quoted" 'single' “curly” ‘thin’ — dash – en … dots
[[New York City]] [[Kyoto|the old capital]]
x=1; y = 22; z  =  333
0x1F 0b101 1e10 3.14159 -42 +7
line with carriage\u00a0nbsp and \u3000 ideographic space
END
end of file"""

PATTERNS = r"""
tea
Tea
TEA
oolong tea
Oolong
oOlong
mel
Mel
lgbtq
LGBTQ
hey mel!
^- \*\*
^\*\*
^-
-$
^$
^
$
^\s*$
^ +
 +$
\s+$
\t
^\t
\ttab\t
tea\b
\btea
\btea\b
\Btea
tea\B
\Btea\B
\boolong\b
\b
\B
\w
\W
\d
\D
\s
\S
^\w+$
^\W
\w+\s\w+$
\d+
\d{4}
\d{4}-\d{2}-\d{2}
\d{1,2}[./]\d{1,2}[./]\d{4}
\d\d:\d\d(:\d\d)?
^.*\d{2}:\d{2}.*$
[0-9]{3}-[0-9]{4}
\(\d{3}\) \d{3}-\d{4}
\+\d+
\$\d+\.\d\d
[$€¥]
€\d+,\d+
\d+%
[^\x00-\x7F]
[^ -~]
[a-z]+@[a-z]+\.com
https?://\S+
[?&]\w=\w
\.md:\d+
C:\\
\\
\\\w+\\
/
foo
foo\b
\bfoo\b
foo|bar
^foo|dog$
foo(bar)?
foo(?:bar|_bar)
(foo)(bar)
foo.bar
foo[-_]bar
Foo
fooBar
FOO|quick
(?i)FOO
(?i)foobar
(?i:F)oo
(?-i)foobar
(?-i:foo)bar
foo(?i)BAR
(?s)foo.bar
(?m)^key
a{3}
a{4,}
a{2,3}
a{5}\b
\ba{3}\b
(ab)+
(ab){2,}
(ab){3}
\b(ab){2}\b
(?:ab)*c
a+?b
a*?b
a??b
ab?c
a(b|c)+
abc|ABC
[aA][bB][cC]
[a-c]{3}
[^a-z]{3}
colou?r
colou+r
colou{2}r
gr[ae]y
analy[sz]e
the the
(the|a) (quick|lazy)
\b\w{5}\b
\b[a-z]\b
\bI\b
i'm
\w+'\w+
[’'‘]
o.clock
don't|can't
café
cafe
CAFÉ
École
école
éCole
[éè]
[à-ÿ]
caf[^e]
caf.
caf.\b
\bna.ve\b
straße
STRASSE
ångström
Å
乌龙茶
[一-鿿]+
[\u4e00-\u9fff]{5}
\x{4e2d}|\x{4e00}
京都
京.
^.{2}
下午\d点
[，。（）]
\d+年\d+月\d+日
[一二三]月
\b京都\b
上周五|星期五
茶|コ
[ぁ-ん]+
[ァ-ヶー]{4}
カタカナ
한국어
[가-힣]{3}
привет
Привет
[А-Я]{3}
[а-я]+
мир\b
σίσυφος
Σ
हिन्दी
\bहिन्दी\b
مرحبا
\p{L}+
\p{Lu}{2}
\p{Ll}\p{Lu}
\pN
\p{Nd}{4}
\P{L}{4}
\p{Han}
\p{Han}{4}
\p{Hiragana}
\p{Katakana}+
^\p{Lu}
[\p{L}\d]{9}
[^\p{L}\s]{3}
\p{P}
\p{S}
[[:upper:]]{3}
[[:digit:]]{4}
[[:alpha:]_]{9}
[[:punct:]]{2}
[[:space:]]{2}
[[:^ascii:]]{3}
[^[:alnum:][:space:]]{2}
²
\w²
[²³]
₂o
½
🍵
\x{1F375}
👩.
tea emoji \S+ \S+
\*\*bold\*\*
_\w+_
`[^`]+`
~~
#
^\|
\| [a-c] \|
^key: (?P<value>\w+)$
^\w+: \w+$
a\.b
a\+b
a\*b
a\?b
a\^b
a\$b
a\|b
a\\b
\(a\)\(b\)
\[a-b\]
\{1,2\}
[.+*?^$|]b
[]a]
[^]a]
[a\]b]
[-a]b
[a-]b
[\-+]\d
[\^$]
[\w.]+@
[\d,]+ or
[^\w\s]{3}
[^\d\s]\d
["“]
“[^”]*”
—|–|…
\.{2}
\[\[[^\]]+\]\]
\[\[.*\|.*\]\]
\[\[new york
New York
=\s*\d+
\b\d{2};
0x[0-9a-f]+
0x[0-9A-F]+
\de\d
-?\d+\.\d+
[+-]\d+
\x41
\x{e9}
\u00e9
\U0001F375
carriage.nbsp
\x{3000}
e\s+i
END
end
end$
^END$
\Aend
file\z
.
.*
.+
.{60}
.{80,}
^.{1,12}$
()
(|x)y
x|
(a|b|)c
(?:)
(((tea)))
t(e(a))
(?P<w>t)ea
^(?:\w+\s+){3}\w+
(\w+) (\w+) (\w+)$
(?:[a-z]+[ ,;]+){5}
^(.*)tea(.*)tea
tea.*tea.*tea
green.*oolong
o{2}
e{2}n
[eo]{2}
s{1}t
zzz
qwertyuiop
^^e
d$$
""".strip("\n").split("\n")

WORDS = [
    "tea",
    "foo",
    "Foo",
    "a",
    "京都",
    "café",
    "mel|b",
    r"\d+",
    "-42",
    "ab",
    "हिन्दी",
    "x",
    "I",
    "o",
    "the the",
    r"\w{3}",
]

rg = pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.md"
    path.write_text(CORPUS + "\n", encoding="utf-8")
    return path


def lines_of_ripgrep(corpus: Path, pattern: str, *options: str) -> list[int]:
    command = ["rg", "--no-config", "-S", "-n", "--no-filename", "--color=never", *options, "-e", pattern, str(corpus)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode < 2, done.stderr.decode()
    return [int(line.split(b":", 1)[0]) for line in done.stdout.splitlines()]


def lines_of_filemem(pattern: str, word: bool = False) -> list[int]:
    return list(compile_pattern(pattern, word=word).search(enumerate(CORPUS.split("\n"), 1)))


@rg
def test_the_same_lines_as_ripgrep(corpus: Path) -> None:
    assert len(PATTERNS) == len(set(PATTERNS)) >= 200
    differing = {
        pattern: (ours, theirs)
        for pattern in PATTERNS
        if (ours := lines_of_filemem(pattern)) != (theirs := lines_of_ripgrep(corpus, pattern))
    }
    assert differing == {}


@rg
def test_the_same_whole_words_as_ripgrep(corpus: Path) -> None:
    for pattern in WORDS:
        assert lines_of_filemem(pattern, word=True) == lines_of_ripgrep(corpus, pattern, "-w"), pattern
