"""What the tasks ask about: histories of dated turns, and questions with keys, read as their publishers lay them out.

A reader takes a path and returns a Bench. Nothing is downloaded; README.md says where each file comes from.
"""

import datetime as dt
import gzip
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

UNDATED = dt.datetime(2023, 1, 1)  # the day of a conversation whose data name none
_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
_EVIDENCE = re.compile(
    r"D\s*:?\s*(\d+)\s*:\s*0*(\d+)"
)  # some of LoCoMo's ids are malformed: 'D8:6; D9:17', 'D:11:26'
_TIMES = (
    "%I:%M %p on %d %B, %Y",
    "%d.%m.%Y, %H:%M:%S",
    "%Y/%m/%d (%a) %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d",
    "%B-%d-%Y",
)


class Turn(NamedTuple):
    """Something that was said."""

    id: str
    speaker: str
    text: str
    at: dt.datetime
    role: str = "user"


class Session(NamedTuple):
    """One conversation."""

    id: str
    at: dt.datetime
    turns: list[Turn]


class Question(NamedTuple):
    """A question on a history. `key` is the right answer; of an unanswerable one, why there is none.

    `evidence` are the texts of the turns that answer it.
    """

    id: str
    history: str
    text: str
    key: str
    kind: str
    asked: dt.datetime
    answerable: bool = True
    evidence: tuple[str, ...] = ()


class Bench(NamedTuple):
    """What a reader found: each history, which a memory takes in before it is asked, and `notes` for the log."""

    histories: dict[str, list[Session]]
    questions: list[Question]
    notes: dict[str, Any]


def moment(text: object) -> dt.datetime:
    """A time in any of the data's forms; UNDATED where it has none."""
    for form in _TIMES:
        try:
            return dt.datetime.strptime(str(text).strip(), form)
        except ValueError:
            continue
    return UNDATED


# -- LoCoMo ------------------------------------------------------------------------------------------------------------


def locomo(path: str, corrections: str = "") -> Bench:
    """LoCoMo's JSON: ten conversations. `corrections` is a file, or a folder of files, of the audit's errors."""
    fixes, used = _corrections(corrections), {"answers": 0, "citations": 0}
    histories, questions = {}, []
    for talk in json.loads(Path(path).read_text(encoding="utf-8")):
        name, sessions = talk["sample_id"], _locomo_sessions(talk["conversation"])
        turns = {turn.id: turn for session in sessions for turn in session.turns}
        histories[name] = sessions
        for number, asked in enumerate(talk["qa"]):
            fix = fixes.get(
                (asked["question"].strip(), str(asked.get("answer")).strip())
            )
            if fix:
                used[
                    "citations" if fix["error_type"] == "WRONG_CITATION" else "answers"
                ] += 1
                asked = asked | {"evidence": fix["correct_evidence"]}
                asked |= (
                    {}
                    if fix["error_type"] == "WRONG_CITATION"
                    else {"answer": fix["correct_answer"]}
                )
            questions.append(
                _locomo_question(
                    f"{name}/{number}", name, asked, turns, sessions[-1].at
                )
            )
    return Bench(histories, questions, {"corrected": used} if corrections else {})


def _corrections(path: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The audit's findings (dial481/locomo-audit: errors.json, or audit/errors_conv_*.json) by question and published answer."""
    if not path:
        return {}
    place = Path(path)
    files = sorted(place.glob("errors*.json")) if place.is_dir() else [place]
    found = [
        one for file in files for one in json.loads(file.read_text(encoding="utf-8"))
    ]
    return {
        (one["question"].strip(), str(one["golden_answer"]).strip()): one
        for one in found
    }


def _locomo_sessions(talk: dict[str, Any]) -> list[Session]:
    """The sessions in order; a translated set dates each turn, and LifeBench's copy names the day in the turns' ids."""
    numbers = sorted(
        int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key)
    )
    sessions = []
    for number in numbers:
        raw = talk[f"session_{number}"]
        if not raw:
            continue
        day = re.match(r"\d{4}-\d\d-\d\d", raw[0]["dia_id"])
        at = moment(
            talk.get(f"session_{number}_date_time")
            or raw[0].get("date_time")
            or (day and day[0])
        )
        turns = [Turn(one["dia_id"], one["speaker"], _said(one), at) for one in raw]
        sessions.append(Session(f"session_{number}", at, turns))
    return sessions


def _said(turn: dict[str, Any]) -> str:
    """A turn's words, with the caption of the picture that was shared."""
    text = (turn.get("clean_text") or turn.get("text") or "").strip()
    return (
        f"{text} [image: {turn['blip_caption']}]".strip()
        if turn.get("blip_caption")
        else text
    )


def _locomo_question(
    id: str, name: str, asked: dict[str, Any], turns: dict[str, Turn], last: dt.datetime
) -> Question:
    """A question; those of category 5 are about what nobody said, and published figures leave them out."""
    cited = [
        f"D{a}:{int(b)}"
        for text in asked.get("evidence") or []
        for a, b in _EVIDENCE.findall(str(text))
    ]
    cited += [
        str(text)
        for text in asked.get("evidence") or []
        if str(text) in turns and str(text) not in cited
    ]
    category = asked.get("category", "question")
    kind, adversarial = _CATEGORIES.get(category, str(category)), category == 5
    key = "Nothing of the kind was said." if adversarial else str(asked.get("answer"))
    shown = tuple(turns[turn].text for turn in dict.fromkeys(cited) if turn in turns)
    return Question(
        id, name, asked["question"], key, kind, last, not adversarial, shown
    )


# -- LongMemEval, BEAM -------------------------------------------------------------------------------------------------


def longmemeval(path: str) -> Bench:
    """LongMemEval's JSON, S or oracle, perhaps in gzip: a history for each question."""
    histories, questions = {}, []
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        asked_of = json.load(file)
    for one in asked_of:
        id, sessions, told = one["question_id"], [], []
        for number, raw in enumerate(one["haystack_sessions"]):
            at, name = (
                moment(one["haystack_dates"][number]),
                f"{number}-{one['haystack_session_ids'][number]}",
            )
            turns = [
                Turn(
                    f"{name}:{n}",
                    said["role"],
                    said["content"].strip(),
                    at,
                    said["role"],
                )
                for n, said in enumerate(raw)
                if said["content"].strip()
            ]
            sessions += [Session(name, at, turns)] if turns else []
            told += [said["content"] for said in raw if said.get("has_answer")]
        histories[id] = sorted(sessions, key=lambda session: session.at)
        unknown, at = id.endswith("_abs"), moment(one["question_date"])
        kind = "abstention" if unknown else one["question_type"]
        asked = Question(
            id,
            id,
            one["question"],
            str(one["answer"]),
            kind,
            at,
            not unknown,
            evidence=tuple(told),
        )
        questions.append(asked)
    return Bench(histories, questions, {})


def beam(path: str) -> Bench:
    """BEAM, a folder of its conversations such as `chats/100K`: chat.json in batches with an anchor in time, and ten kinds of
    probing questions, whose key is the rubric: all that an answer must do.
    """
    histories, questions = {}, []
    for place in sorted(Path(path).glob("*/chat.json")):
        name, sessions, at = f"beam-{place.parent.name}", [], UNDATED
        for batch in json.loads(place.read_text(encoding="utf-8")):
            at = (
                moment(batch.get("time_anchor"))
                if batch.get("time_anchor")
                else at + dt.timedelta(days=1)
            )
            said = [one for turn in batch["turns"] for one in turn]
            turns = [
                Turn(str(one.get("id")), one["role"], one["content"], at, one["role"])
                for one in said
            ]
            sessions.append(Session(f"{name}-{batch['batch_number']}", at, turns))
        histories[name] = sessions
        text = {turn.id: turn.text for session in sessions for turn in session.turns}
        asked = json.loads(
            (place.parent / "probing_questions/probing_questions.json").read_text(
                encoding="utf-8"
            )
        )
        for kind, several in asked.items():
            for number, one in enumerate(several):
                shown = tuple(
                    text[str(id)]
                    for id in one.get("source_chat_ids") or ()
                    if str(id) in text
                )
                key, id = "; ".join(one["rubric"]), f"{name}/{kind}/{number}"
                known = kind != "abstention"
                questions.append(
                    Question(
                        id, name, one["question"], key, kind, at, known, evidence=shown
                    )
                )
    return Bench(histories, questions, {})


# -- LifeBench, lives ---------------------------------------------------------------------------------------------


def lifebench(path: str) -> Bench:
    """LifeBench: its LoCoMo-shaped file, or one person flattened to {name, sessions: [{date, turns}], questions}, as
    `benchmarks/assistant` has them too.

    A flattened question whose answer is a letter has lost the choices that it was asked with, and is left out; one
    of kind `none` has no answer.
    """
    life = json.loads(Path(path).read_text(encoding="utf-8"))
    if isinstance(life, list):
        return locomo(path)
    sessions = []
    for one in life["sessions"]:
        day = dt.datetime.fromisoformat(one["date"])
        turns = [
            Turn(
                id,
                kind,
                text,
                _at(day, time),
                "assistant" if kind == "assistant" else "user",
            )
            for id, kind, time, text in one["turns"]
        ]
        sessions.append(Session(one["date"], day, turns))
    text = {turn.id: turn.text for session in sessions for turn in session.turns}
    name, last = life["name"], sessions[-1].at + dt.timedelta(days=1)
    questions = []
    for number, one in enumerate(life["questions"]):
        if re.fullmatch("[A-H]+", one["answer"]) and not re.search(
            r"\bA[.、:．]", one["text"]
        ):
            continue
        gold = tuple(
            text[id] for id in one.get("gold", one.get("evidence", ())) if id in text
        )
        id = f"{name}/{number}"
        kind = one["kind"]
        questions.append(
            Question(
                id, name, one["text"], one["answer"], kind, last, kind != "none", gold
            )
        )
    return Bench({name: sessions}, questions, {})


def _at(day: dt.datetime, clock: str) -> dt.datetime:
    """A time of a day, such as 06:25; its beginning where the clock says nothing."""
    found = re.match(r"(\d\d?):(\d\d)", clock or "")
    return day.replace(hour=int(found[1]), minute=int(found[2])) if found else day


def life(path: str) -> Bench:
    """Replayed lives, YAML: what one person said to an assistant, and what the answers must and must not say; or a folder."""
    place = Path(path)
    histories, questions = {}, []
    for file in sorted(place.glob("*.yaml")) if place.is_dir() else [place]:
        one = yaml.safe_load(file.read_text(encoding="utf-8"))
        name, sessions = one["name"], _said_in_one_go(one["name"], one["messages"])
        histories[name] = sessions
        for kind in ("ask", "standing"):
            for number, asked in enumerate(one.get(kind, [])):
                want, not_ = tuple(asked["want"]), tuple(asked.get("not", ()))
                key = " and ".join(f"/{regex}/" for regex in want) + "".join(
                    f", and not /{regex}/" for regex in not_
                )
                at, id = (
                    dt.datetime.fromisoformat(asked["day"]),
                    f"{name}/{kind}/{number}",
                )
                questions.append(Question(id, name, asked["question"], key, kind, at))
    return Bench(histories, questions, {})


def _said_in_one_go(name: str, messages: list[dict[str, str]]) -> list[Session]:
    """Messages less than two hours apart are one session."""
    sessions: list[Session] = []
    for number, message in enumerate(messages):
        at = dt.datetime.fromisoformat(message["day"])
        turn = Turn(str(number), name, message["text"], at)
        if sessions and at - sessions[-1].turns[-1].at < dt.timedelta(hours=2):
            sessions[-1].turns.append(turn)
        else:
            sessions.append(Session(f"session-{len(sessions) + 1}", at, [turn]))
    return sessions
