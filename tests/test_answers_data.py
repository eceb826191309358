"""The readers of the benchmark of answers find in each format what stands there: turns, dates, questions, keys, evidence.

The samples are small enough to check by eye; the formats are those of the published files. Nothing here needs Inspect.
"""

import datetime as dt
import json
import random
from pathlib import Path

import pytest

from benchmarks.answers import data, needles
from filemem.text import tokens

SAMPLES = Path(data.__file__).parent / "samples"


def read(reader: str, name: str) -> data.Bench:
    return getattr(data, reader)(str(SAMPLES / name))


def test_locomo() -> None:
    """Sessions with their dates and captions, five categories, and the adversarial one outside the published figure."""
    bench = read("locomo", "locomo.json")
    first, second = bench.histories["nell-omar"].load()
    assert (first.at, second.at) == (dt.datetime(2025, 3, 3, 19, 30), dt.datetime(2025, 4, 21, 10, 5))
    assert first.turns[2].text == "Look at her. [image: a photo of a kitten asleep in a flower pot]"
    assert [one.kind for one in bench.questions[:5]] == [
        "single-hop",
        "temporal",
        "multi-hop",
        "open-domain",
        "adversarial",
    ]
    assert [one.answerable and one.counted for one in bench.questions] == [True] * 4 + [False] + [True] * 2
    assert bench.questions[0].evidence == (first.turns[0].text,)
    assert "Braga" not in bench.questions[4].key and bench.questions[4].asked == second.at
    assert bench.questions[5].key == "绿色"


def test_the_audits_corrections_replace_wrong_keys_and_wrong_citations() -> None:
    """A wrong citation leaves the key as it was; both are counted."""
    plain = read("locomo", "locomo.json")
    fixed = data.locomo(str(SAMPLES / "locomo.json"), str(SAMPLES / "locomo-errors.json"))
    assert fixed.notes == {"corrected": {"answers": 1, "citations": 1}}
    changed = [(a.text, a.key, b.key) for a, b in zip(plain.questions, fixed.questions, strict=True) if a.key != b.key]
    assert changed == [
        ("What does Nell bake on Sundays?", "rye bread, lemon cake", "rye bread and lemon cake, at home")
    ]
    assert len(fixed.questions[1].evidence) == 2 and len(plain.questions[1].evidence) == 1


def test_the_evidence_of_locomo_may_be_malformed(tmp_path: Path) -> None:
    """`D8:6; D9:17`, `D:11:26` and `D30:05` stand in the published file."""
    talk = json.loads((SAMPLES / "locomo.json").read_text())[0]
    talk["qa"] = [{"question": "?", "answer": 1, "category": 1, "evidence": ["D1:1; D2:01", "D:1:2"]}]
    (tmp_path / "l.json").write_text(json.dumps([talk]))
    (question,) = data.locomo(str(tmp_path / "l.json")).questions
    assert len(question.evidence) == 3 and question.key == "1"


def test_longmemeval() -> None:
    """A history a question, in order of time; abstention is known by its id, evidence by its mark."""
    bench = read("longmemeval", "longmemeval.json")
    told = bench.histories["lme_2"].load()
    assert [session.at.month for session in told] == [2, 3, 5] and told[0].turns[0].speaker == "user"
    kinds = {one.id: (one.kind, one.answerable, one.counted) for one in bench.questions}
    assert kinds["lme_2"] == ("knowledge-update", True, True) and kinds["lme_7_abs"] == ("abstention", False, True)
    assert bench.questions[0].evidence == ("I keep my sourdough starter in a blue jar.",)
    assert bench.questions[0].asked == dt.datetime(2024, 6, 1, 10, 0)


@pytest.mark.parametrize("step", [1, 7, 4096])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_large_file_is_read_an_element_at_a_time(tmp_path: Path, step: int, indent: int | None) -> None:
    """Each element is found again at its place in bytes, whatever the size of the steps and the letters before it."""
    chance, path = random.Random(step), tmp_path / "large.json"
    want = [{"id": n, "text": '水é\\"]},[{\r\n' * chance.randrange(9), "deep": [[n], {"a": None}]} for n in range(20)]
    path.write_bytes(json.dumps(want, ensure_ascii=False, indent=indent).encode())
    found = list(data.elements(str(path), step))
    assert [value for value, _, _ in found] == want
    assert [json.loads(path.read_bytes()[at : at + size]) for _, at, size in found] == want


def test_a_file_that_breaks_off_is_told(tmp_path: Path) -> None:
    """Half a download is not half a benchmark."""
    (tmp_path / "half.json").write_text('[{"a": 1}, {"b":')
    with pytest.raises(SystemExit, match="breaks off"):
        list(data.elements(str(tmp_path / "half.json")))


def test_lifebench() -> None:
    """Records by day; a question that lost its choices is not counted."""
    bench = read("lifebench", "lifebench.json")
    days = bench.histories["qiaoyun"].load()
    assert days[0].turns[0] == data.Turn("sms:0", "sms", days[0].turns[0].text, dt.datetime(2025, 3, 1, 8, 10))
    assert days[1].turns[1].at == days[1].at
    assert [(one.kind, one.counted) for one in bench.questions][2:] == [
        ("Multi-hop reasoning", True),
        ("choices lost", False),
    ]
    assert len(bench.questions[2].evidence) == 2 and bench.questions[0].asked == dt.datetime(2025, 3, 3)


def test_lifebench_in_locomos_shape(tmp_path: Path) -> None:
    """Its other file dates a turn by its id, and names its kinds."""
    talk = {
        "speaker_a": "云",
        "speaker_b": "助手",
        "session_1": [{"speaker": "云", "dia_id": "2025-01-01_sms0", "text": "你好"}],
    }
    asked = {"question": "?", "answer": "你好", "category": "Single_hop", "evidence": ["2025-01-01_sms0"]}
    (tmp_path / "l.json").write_text(json.dumps([{"sample_id": "云", "conversation": talk, "qa": [asked]}]))
    bench = data.lifebench(str(tmp_path / "l.json"))
    assert bench.histories["云"].load()[0].at == dt.datetime(2025, 1, 1)
    assert bench.questions[0].kind == "Single_hop" and bench.questions[0].evidence == ("你好",)


def test_dmr() -> None:
    """Earlier talks as long ago as they say, the last one last; the question comes after."""
    bench = read("dmr", "dmr.jsonl")
    talks = bench.histories["msc-0"].load()
    assert [(data.UNDATED - talk.at).days for talk in talks] == [14, 3, 0]
    assert talks[0].turns[1].speaker == "Speaker 2" and bench.questions[0].key == "You drive tram number eleven!"
    assert bench.questions[1].asked > bench.histories["msc-1"].load()[-1].at


def test_life() -> None:
    """Messages within two hours are one session; a key is what the answer must and must not say."""
    bench = read("life", "life.yaml")
    assert [len(session.turns) for session in bench.histories["tamsin"].load()] == [2, 1, 1]
    assert bench.questions[0].want == ("Leeds|Canal Row",) and "and not /" in bench.questions[0].key
    assert [one.kind for one in bench.questions] == ["ask", "ask", "standing"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_needles_lie_where_they_should(language: str) -> None:
    """At each depth stands what answers its question, once; the length is as asked within a sixth; a seed gives the same."""
    depths = (0, 50, 100)
    bench = needles.bench((20_000,), depths, (language,), seed=3)
    told = bench.histories[f"{language}-20000"].load()
    lines = [turn.text for session in told for turn in session.turns]
    assert sum(map(tokens.count, lines)) == pytest.approx(20_000, rel=1 / 6)
    for question, depth in zip(bench.questions, depths, strict=True):
        place = lines.index(question.evidence[0])
        assert question.key in lines[place] and sum(question.key in line for line in lines) == 1
        assert place / len(lines) == pytest.approx(depth / 100, abs=0.01)
        assert question.key not in question.text
    assert bench.histories[f"{language}-20000"].load() == told


def test_needles_have_others_beside_them() -> None:
    """For each needle something of the same kind that somebody else keeps stands near, so that the words alone are no answer."""
    bench = needles.bench((5_000,), (0, 100), ("en",))
    lines = [turn.text for session in bench.histories["en-5000"].load() for turn in session.turns]
    assert sum("By the way, " in line for line in lines) == 4
