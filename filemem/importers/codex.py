"""Codex's sessions: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

After some days they are compressed. Entries are `{timestamp, type, payload}`
(openai/codex, codex-rs/protocol: RolloutLine, and its releases); codex-rs/rollout:
policy.rs tells which are written.
"""

import re
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from html import unescape

from filemem.importers.agent_work import SPEAKER, AgentWork, Part
from filemem.importers.base import (
    HIDDEN,
    SUBAGENT,
    UNSPOKEN,
    ImportedConversation,
    ImportedTurn,
    LeftOut,
    as_dict,
    as_list,
    content_text,
    decoded,
    dig,
    first_text,
    joined,
    parse_time,
    spoken_part,
    text_at,
)
from filemem.importers.coding_agents import Entries, sessions, spoken

ASSISTANT = "Codex"
# Tags between which it puts its own text among a person's, or in its place; and what
# of an answer it hides.
_TAGS = (
    # openai/codex, codex-rs/core/src/context: contextual_user_message.rs registers them
    "environment_context user_instructions INSTRUCTIONS turn_aborted skill "
    "user_shell_command subagent_notification goal_context "
    # there: permissions_instructions.rs, recommended_plugins_instructions.rs,
    # world_state/collaboration_mode.rs
    "permissions recommended_plugins collaboration_mode "
    # openai/codex, codex-rs/utils/stream-parser/src/citation.rs
    "oai-mem-citation "
    # filemem/mcp/hooks.py
    "filemem-context"
).split()
_GOAL = "thread_goal_updated"
_MARKED = "user.text"
_MESSAGES = ("user", _MARKED, "assistant")
# Who speaks, by the type of an event, of an item (from 0.147 on) or of a call, by the
# role in a message, or by the kind of its parts (from 0.153 on).
_SPEAKERS = {
    # openai/codex, codex-rs/rollout/src/policy.rs: the events that are written
    "user_message": "",
    "agent_message": ASSISTANT,
    _GOAL: "",
    # codex-rs/protocol/src/items.rs
    "UserMessage": "",
    "AgentMessage": ASSISTANT,
    "Plan": ASSISTANT,
    # codex-rs/protocol/src/models.rs
    "user": "",
    "assistant": ASSISTANT,
    "function_call": ASSISTANT,
    "function_call_output": "",
    # codex-rs/protocol/src/models/item_metadata_tests.rs: the metadata that has it
    _MARKED: "",
}
_HARNESS_ENVELOPE = re.compile(
    r"<([a-z]+(?:[_-][a-z]+)+)\b[^>]{0,200}>.*</\1>", re.DOTALL
)
# An editor sends its context along, under headings that are listed in
# FailproofAI/failproofai, src/hooks/semantic/intent.ts; a person's comments stay.
_EDITOR_CONTEXT = re.compile(
    r"\A(?:# Context from my IDE setup:|# Files mentioned by the user:"
    r"|<in-app-browser-context\b)(?:(?!\n# \w+ (?:comments|annotations):).)*?"
    r"\n## My request(?: for Codex)?:[ \t\r]*(?:\n|\Z)",
    re.DOTALL,
)
# An app's envelopes of a person's words: answers as JSON, and what they spoke, as the
# model that listened passed it on, and word for word (openai/codex,
# codex-rs/core/src/context/realtime_transcript_tail.rs).
_OWN_ENVELOPE = re.compile(
    r"<(send_user_message_question_reply|realtime_delegation)>(.*)</\1>", re.DOTALL
)
_SPOKEN = re.compile(
    r"(?:\A\s*<input>|(?:<transcript_delta>|\n)user: )(.*?)"
    r"(?=</|\n(?:user|assistant): )",
    re.DOTALL,
)
# It asks itself whether it may act: openai/codex, codex-rs/core/src/guardian/prompt.rs.
_REVIEW = "The following is the Codex agent history"
_IMAGE = re.compile(r"<image name=\[([^]\n]{1,200})\][^>\n]{0,300}>[^<]{0,100}</image>")
# What a message has and an event beside it has not, or has in an event of its own.
_ASIDE = re.compile(
    r"(?s)\[(?:image|file): [^]\n]{0,300}\]|<proposed_plan>.*?(?:</proposed_plan>|\Z)"
)

_Told = dict[tuple[str, ...], str]
"""Whose words are told, and which, by the way in which they were told first."""


def _read(
    entries: Entries, zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation | None:
    """Read one rollout; None where it is a subagent's."""
    own_id = ""
    first_id = ""
    started: datetime | None = None
    turns = list[ImportedTurn]()
    told = _Told()
    work = AgentWork()
    for line, row in entries:
        payload = as_dict(row.get("payload")) or row
        moment = parse_time(row.get("timestamp"), zone)
        kind = text_at(row, "type")
        if kind == "session_meta" or (line == 1 and not kind):
            sources = [payload.get("thread_source"), *as_dict(payload.get("source"))]
            if "subagent" in sources:
                left_out[SUBAGENT] += 1
                return None
            started = started or moment
            # Behind its own head a fork has those of the sessions that it goes back to.
            id = text_at(payload, "id")
            own_id = own_id or id
            first_id = text_at(payload, "forked_from_id") or id
        item = as_dict(payload.get("item")) or payload
        typed = _typed(item)
        way = _MARKED if typed else first_text(item, "role", "type")
        speaker = _SPEAKERS.get(way)
        if way == _GOAL:
            way = str(line)  # it is told again at each change of its state
        asked = work.dialogue(item, item.get("output"))
        text = _text(item, typed, left_out) or joined(asked)
        if text_at(payload, "type") in UNSPOKEN:
            spoken_part(payload, left_out)
        turns += work.told(item, moment)
        # Neither mail between agents nor a goal that an agent set is a person's.
        is_mail = "recipient" in item
        if speaker is None or is_mail or item.get("turnId") or not text:
            left_out[HIDDEN] += text != "" and (is_mail or "role" in item)
            continue
        turn = ImportedTurn(speaker, moment, text, str(line), way)
        if kind != "event_msg" or told.setdefault(_key(turn), way) == way:
            turns.append(turn)
        if way == "Plan":
            told[(ASSISTANT,)] = way  # a message with nothing else
    turns = _in_thread(turns, told, first_id, left_out)
    return ImportedConversation(own_id, "", started, turns, is_fork=first_id != own_id)


def _in_thread(
    turns: list[ImportedTurn], told: _Told, first: str, left_out: LeftOut
) -> list[ImportedTurn]:
    """Return each turn once, known in a fork, which begins with copies of them.

    What was typed and answered stands in events, or items; in older files only in
    messages, which the harness writes too. The copies have the moment of the fork, so
    that a turn is known by the first of the sessions, its place and its words.

    Args:
        turns: each with the way in which it was told in `shared`.
        told: what events tell.
        first: the id of the session in which the thread began.
        left_out: counts what is the harness's; it is changed.
    """
    is_typed = any(not speaker for speaker, *_ in told)
    kept = list[ImportedTurn]()
    for turn in turns:
        is_harness = is_typed and turn.shared == "user"
        is_told = _key(turn) in told
        if turn.shared in _MESSAGES and (is_harness or is_told):
            left_out[HIDDEN] += not is_told
            continue
        if turn.speaker != SPEAKER:
            turn = replace(turn, shared=first and f"{first} {len(kept)}")
        kept.append(turn)
    return kept


def _key(turn: ImportedTurn) -> tuple[str, ...]:
    return turn.speaker, *_ASIDE.sub("", turn.text).split()


def _typed(message: Part) -> list[object]:
    """Return those parts of a message that are marked as a person's."""
    kinds = dig(
        message, "internal_chat_message_metadata_passthrough", "content_item_kinds"
    )
    pairs = zip(as_list(message.get("content")), as_list(kinds), strict=False)
    return [part for part, kind in pairs if kind == _MARKED]


def _text(item: Part, typed: list[object], left_out: LeftOut) -> str:
    """Return what was said in an event, an item or a message."""
    content = typed or item.get("content") or item.get("message") or item.get("text")
    content = content or dig(item, "goal", "objective")
    if content_text(content).startswith(_REVIEW):
        left_out[HIDDEN] += 1
        return ""
    text = _EDITOR_CONTEXT.sub("", spoken(content, _TAGS, left_out))
    envelope = _OWN_ENVELOPE.fullmatch(text)
    if envelope:
        said = [text_at(answer, "answer") for answer in as_list(decoded(envelope[2]))]
        heard = unescape(joined(dict.fromkeys(_SPOKEN.findall(envelope[2]))))
        text = joined(said) or heard or text
    if text_at(item, "role") == "user" and _HARNESS_ENVELOPE.fullmatch(text):
        left_out[HIDDEN] += 1
        return ""
    return _IMAGE.sub(r"[image: \1]", text)


codex = partial(sessions, ASSISTANT, r"rollout-.*\.jsonl", _read)
