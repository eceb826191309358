"""Commands that talk: chat, prompt, trace."""

import contextlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import click

from filemem import index
from filemem.chat import seen, wishes
from filemem.chat.conversation import Conversation
from filemem.cli.chat import Chat, resumed
from filemem.cli.common import a_user, clock, now, settled, the_store, the_user, welcome
from filemem.cli.options import as_of_option, json_option_that, model_option, new_user_option
from filemem.cli.screen import for_script, say, say_aside, say_json, tell
from filemem.cli.telling import after_talk
from filemem.files import config, trace, transcript, trust
from filemem.files.folder import Folder
from filemem.history import History
from filemem.models import Model, prompt
from filemem.models.offline import OfflineModel, chosen_model
from filemem.text import tokens
from filemem.text.plain import one_line

_resume = click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Go on with a session: its path or a part of its name; the last one where none is named.",
)


def the_model(folder: Folder, name: str | None) -> Model:
    """The model of this call: the one named, else the offline responder.

    It answers, too, where the store names an endpoint that the person has not agreed to: no other was meant.
    """
    held = settled(the_store())
    settings = config.of(folder)
    return (chosen_model(settings, name) if "base_url" not in held else None) or OfflineModel()


@click.command("chat")
@click.option(
    "-m",
    "--message",
    metavar="TEXT",
    help="Send one message, print the answer and end; - reads it from standard input.",
)
@model_option
@_resume
@click.option("--off-the-record", "off", is_flag=True, help="Keep nothing of this talk: no turn, no trace, no recall.")
@json_option_that("One JSON event a line: text, call, notice, answer, error.")
@new_user_option
def chat_command(message: str | None, model: str | None, resume: str | None, off: bool) -> int:
    """Talk with an assistant that remembers.

    Without a model it quotes what it finds. Standard input that is no terminal is taken as one message.

    Example: filemem chat -m "What tea does Mara like?"
    """
    user = a_user()
    going_on = resumed(user, resume)
    welcome(user)
    conversation = Conversation(user, the_model(user, model), clock, going_on)
    if off:
        conversation.go_off_the_record()
    _settle_wishes(conversation)
    talk = Chat(conversation, lambda name: the_model(user, name))
    once = message is not None or not sys.stdin.isatty()
    with _recorded(conversation):
        if not once:
            code = talk.run()
        else:
            if message in (None, "-"):
                message = sys.stdin.buffer.read().decode(errors="replace")
            code = talk.once(message or "")
    if code == 0 and not once and conversation.model.name != OfflineModel.name:
        after_talk(conversation)
    return code


def _settle_wishes(talk: Conversation) -> None:
    """Have the person agree, once, to what a folder that was not begun here says on how to talk with them."""
    folder = talk.user
    if talk.model.name == OfflineModel.name or not folder.exists():
        return
    said = wishes.wishes(folder, index.of(folder).corpus(), clock().date())
    where = trust.wishes(folder.root)
    if said and folder.trust.kept(where, trust.WISHES) is None:
        asks = "\n  ".join(f"- {one_line(wish, 100)}" for wish in said)
        question = f"{one_line(where)} was not agreed to on this machine, and says how to talk with you:\n  {asks}"
        if not folder.trust.settle(where, trust.WISHES, question):
            say_aside(f"Not followed: what {one_line(where)} says on how to talk with you; {trust.REMEDY}.")


@contextlib.contextmanager
def _recorded(conversation: Conversation) -> Iterator[None]:
    """Commit the conversation when it ends, where the memories are kept in git."""
    kept = conversation.transcript
    try:
        yield
    finally:
        path, turns = kept.path, kept.turns()
        if path and turns:
            paths = list(dict.fromkeys([path, *conversation.written]))
            subject = f"Talk with {conversation.user.name}: {transcript.first_words(turns[0].text)}"
            job = {"Job": "chat", "Session": path}
            say_aside(History(conversation.user).record(subject, paths, job, clock()).note)


@click.command("prompt")
@click.argument("message", required=False, default="")
@model_option
@_resume
@json_option_that("Sections and messages as one JSON object.")
@as_of_option
def prompt_command(message: str, model: str | None, resume: str | None) -> None:
    """Print what the model would see now.

    Every word of it, with the tokens of each section; with MESSAGE, what it would see if you said that.

    Example: filemem prompt "Where does Inês work?" --model gpt-4o-mini
    """
    user = the_user(must_exist=False)
    talk = Conversation(user, the_model(user, model), now, resumed(user, resume))
    system, turns = talk.view(message)
    messages = prompt.messages(system, turns)
    if for_script():
        sizes = {part.name: tokens.count(part.text) for part in system}
        say_json({"tokens": sizes, "messages": messages, "tools": talk.offered})
        return
    sections = [*((part.name, part.text) for part in system), *((one["role"], one["content"]) for one in messages[1:])]
    for name, text in sections:
        say(f"== {name} ({tokens.count(text)} tokens)\n{text}\n")
    whole = sum(tokens.count(one["content"]) for one in messages)
    say(f"== in all ({whole} tokens, {len(talk.offered)} tools aside)")


@click.command("trace")
@click.argument("session", required=False)
@click.option(
    "--replay", type=int, metavar="N", help="Rebuild what the model saw of request N, from the files as they are."
)
@click.option("--totals", is_flag=True, help="What all chats that have a trace cost and found, in numbers.")
@json_option_that("The steps as they were written, one JSON object a line.")
def trace_command(session: str | None, totals: bool, replay: int | None) -> None:
    """Show what happened behind the answers of a chat.

    SESSION is the name of its file; the chat that went on last where none is named. What the model saw is kept by reference,
    not copied: --replay says so of each part that is not as it was. What jobs asked of models has traces named jobs-YYYY-MM.

    Example: filemem trace --replay 1
    """
    user = the_user()
    if totals:
        found = trace.totals(user, [session] if session else trace.written(user), config.of(user).costs)
        tell(found._asdict(), *_totals(found))
        return
    known = trace.sessions(user)
    session = session or (known[-1] if known else "any session")
    if replay is not None:
        for part in seen.replay(user, session, replay):
            since = "" if part.same else " (not as it was: the files have changed since)"
            tell(part._asdict(), f"== {part.name or part.role}{since}\n{part.text}\n")
        return
    requests = itertools.count(1)
    for step in trace.read(user, session):
        number = f"{next(requests)} " if step.get("saw") else ""
        tell(step, *([] if step.get("kind") == "saw" else [_step(step, number)]))


def _totals(found: trace.Totals) -> list[str]:
    """The sums of traces, a line each."""
    hits = f" ({found.hits / found.searches:.0%}, mean strength {found.strength:.2f})" if found.searches else ""
    purposes = "".join(f"; {count:,} of them for {what}" for what, count in found.purposes.items())
    spent = f"{found.tokens_in:,} tokens in, {found.tokens_out:,} out, {found.milliseconds / 1000:,.1f} s"
    return [
        f"chats      {found.chats:,}, {found.messages:,} messages",
        f"requests   {found.requests:,}: {spent}{purposes}",
        f"tool calls {found.calls:,}, of {found.searches:,} searches {found.hits:,} found something{hits}",
        f"errors     {found.errors:,}",
        *([f"money      {found.money:,.4f} for {found.priced:,} of them"] if found.priced else []),
    ]


def _step(step: dict[str, Any], number: str) -> str:
    """One step of a trace on one line."""
    at, kind = str(step.get("at", ""))[11:], step.get("kind")
    match kind:
        case "call":
            size = f"{step.get('characters')} characters, {step.get('milliseconds')} ms"
            return f"{at}  {step.get('name')} {step.get('arguments')} -> {step.get('answer')} ({size})"
        case "model":
            spent = f"{step.get('tokens_in')} tokens in, {step.get('tokens_out')} out, {step.get('milliseconds')} ms"
            purpose = f" for {step['purpose']}" if "purpose" in step else ""
            return f"{at}  {number}{step.get('model')}{purpose}: {step.get('finish')}, {_calls(step.get('calls'))} ({spent})"
        case "recall":
            return f"{at}  recall: {', '.join(map(str, step.get('places') or [])) or 'nothing strong'}"
        case _:
            return f"{at}  {kind}: {step.get('text')}"


def _calls(count: Any) -> str:
    return f"{count} call{'s' * (count != 1)}"
