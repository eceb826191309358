"""The command that talks: chat."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from filemem import index
from filemem.chat import core_memory
from filemem.chat.conversation import Conversation
from filemem.cli.chat import Chat, resumed, unanswered
from filemem.cli.context import Context, json_option_that, model_option, new_option, pass_call
from filemem.cli.screen import say, say_aside, say_json
from filemem.errors import FilememError
from filemem.files import config, transcript, trust
from filemem.files.folder import Folder
from filemem.jobs.running import ASKED, job
from filemem.models import Model
from filemem.models.offline import OfflineModel, chosen_model
from filemem.text import tokens
from filemem.text.plain import one_line


def the_model(call: Context, folder: Folder, name: str | None) -> Model:
    """The model of this call: the one named, else none.

    None, too, where the store names an endpoint that the person has not agreed to: no other was meant.
    """
    held = call.unsettled()
    settings = config.of(folder)
    return (chosen_model(settings, name) if "base_url" not in held else None) or OfflineModel()


@click.command("chat")
@click.argument("text", metavar="[MESSAGE]", required=False)
@click.option(
    "-m",
    "--message",
    metavar="TEXT",
    help="Send one message, print the answer and end; - reads it from standard input.",
)
@model_option
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Go on with a session: its path or a part of its name; the last one where none is named.",
)
@click.option("--off-the-record", "off", is_flag=True, help="Keep nothing of this talk: no turn, no recall.")
@click.option(
    "--prompt", is_flag=True, help="Print what the model would see, with the tokens of each section, and end."
)
@click.option(
    "--log", metavar="FILE", help="Add every request to the model and its reply to FILE, one JSON object a line."
)
@click.option("-v", "--verbose", is_flag=True, help="Show each tool call.")
@json_option_that("One JSON event a line: text, call, notice, answer, error.")
@new_option
@pass_call
def chat_command(
    call: Context,
    text: str | None,
    message: str | None,
    model: str | None,
    resume: str | None,
    off: bool,
    prompt: bool,
    log: str | None,
    verbose: bool,
) -> int:
    """Talk with an assistant that remembers.

    Without a model it quotes what it finds. Standard input that is no terminal is taken as one message.

    Example: filemem chat -m "What tea does Mara like?"
    """
    message = text if message is None else message
    if off and log:
        raise FilememError("--log keeps what is said, --off-the-record does not; take one of them.")
    if prompt:
        user = call.the_user(must_exist=False)
        shown = Conversation(user, the_model(call, user, model), lambda: call.now, resumed(user, resume))
        _print_prompt(call, shown, message or "")
        return 0
    user = call.writer() if resume is None else call.the_user()
    going_on = resumed(user, resume) or (None if off else unanswered(user, call.clock().date()))
    conversation = Conversation(user, the_model(call, user, model), call.clock, going_on, ASKED)
    if off:
        conversation.go_off_the_record()
    _settle_wishes(conversation)
    talk = Chat(conversation, lambda name: the_model(call, user, name), verbose=verbose)
    with _logged(conversation, log), _recorded(conversation):
        if message is None and sys.stdin.isatty():
            return talk.run()
        if message in (None, "-"):
            message = sys.stdin.buffer.read().decode(errors="replace")
        return talk.once(message or "")


def _print_prompt(call: Context, talk: Conversation, message: str) -> None:
    """Print every word that the model would see, or if the person said `message`."""
    seen = talk.view(message)
    messages = seen.messages()
    sections = [*seen.system, *seen.beside]
    if call.json:
        sizes = {part.name: tokens.count(part.text) for part in sections}
        say_json({"tokens": sizes, "messages": messages, "tools": talk.offered})
        return
    turns = [("assistant" if turn.speaker == transcript.ASSISTANT else "user", turn.text) for turn in seen.turns]
    named = [*((part.name, part.text) for part in seen.system), *turns[:-1]]
    named += [*((part.name, part.text) for part in seen.beside), *turns[-1:]]
    for name, text in named:
        say(f"== {name} ({tokens.count(text)} tokens)\n{text}\n")
    whole = sum(tokens.count(text) for _, text in named)
    say(f"== in all ({whole} tokens, {len(talk.offered)} tools aside)")


@contextlib.contextmanager
def _logged(talk: Conversation, path: str | None) -> Iterator[None]:
    """Add the requests of a conversation and their replies to a file that only its owner can read."""
    if path is None:
        yield
        return
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise FilememError(f"{one_line(path)} cannot be written: {error.strerror}; name another file.") from None
    with open(opened, "a", encoding="utf-8", errors="replace") as file:

        def log(step: dict[str, Any]) -> None:
            file.write(json.dumps(step, ensure_ascii=False, default=str) + "\n")
            file.flush()

        talk.log = log
        yield


def _settle_wishes(talk: Conversation) -> None:
    """Have the person agree, once, to what a folder that was not begun here says on how to talk with them."""
    folder = talk.user
    if talk.model.name == OfflineModel.name or not folder.exists():
        return
    said = core_memory.wishes(folder, index.of(folder).corpus(), talk.now().date())
    where = trust.wishes(folder.root)
    if said and folder.trust.kept(where, trust.WISHES) is None:
        asks = "\n  ".join(f"- {one_line(wish, 100)}" for wish in said)
        question = f"{one_line(where)} was not agreed to on this machine, and says how to talk with you:\n  {asks}"
        if not folder.trust.settle(where, trust.WISHES, question):
            say_aside(f"Not followed: what {one_line(where)} says on how to talk with you; {trust.REMEDY}.")


@contextlib.contextmanager
def _recorded(talk: Conversation) -> Iterator[None]:
    """Commit the conversation when it ends, where the memories are kept in git."""
    kept = talk.transcript
    with job(talk.user, "chat", talk.now(), alone=False) as run:
        try:
            yield
        finally:
            path, turns = kept.path, kept.turns()
            if path and turns:
                subject = f"Talk with {talk.user.name}: {transcript.first_words(turns[0].text)}"
                say_aside(run.commit(subject, [path, *talk.written], Session=path))
