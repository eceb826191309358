"""After ten conversations, `search_files` alone answers what holds now and what held then, in English and in Chinese.

The reader is a simple one. Of the hits that hold the answer or a rival, what is marked as superseded is set aside; of the
rest it believes the newest. For what held then any hit will do.
"""

from pathlib import Path

import pytest
from ten_sessions import CHINESE, ENGLISH, Question, Script

from filemem import Store, User
from filemem.chat.conversation import Conversation
from filemem.files import transcript
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.models.offline import OfflineModel
from filemem.overview.check import problems
from filemem.remembering import consolidation

LIMIT = 20


def lived(root: Path, script: Script) -> Folder:
    """The user after all ten conversations, each consolidated when it ended."""
    user = Store(root).user(script.user).folder
    for at, said in script.sessions:
        talk = Conversation(user, OfflineModel(), lambda at=at: at)  # type: ignore[misc]
        for place, text in enumerate(said):
            talk.keep(script.user if place % 2 == 0 else transcript.ASSISTANT, text)
        for _ in consolidation.run(user, at):
            pass
    return user


@pytest.fixture(scope="module", params=[ENGLISH, CHINESE], ids=["English", "Chinese"])
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Folder, Script]:
    script: Script = request.param
    return lived(tmp_path_factory.mktemp("store"), script), script


def believed(user: Folder, question: Question, script: Script) -> str:
    """What the reader believes."""
    hits = User(user).search_files(question.text, limit=LIMIT, today=script.sessions[-1][0].date())
    rivals = (question.answer, *question.outdated)
    held = [hit for hit in hits if any(rival in hit.text for rival in rivals) and not hit.note]
    newest = max(held, key=lambda hit: (hit.date is not None, hit.date), default=None)
    return newest.text if newest else ""


def test_twelve_questions_about_now(life: tuple[Folder, Script]) -> None:
    user, script = life
    wrong = {q.text: believed(user, q, script) for q in script.now if q.answer not in believed(user, q, script)}
    assert wrong == {}
    assert len(script.now) == 12


def test_six_questions_about_then(life: tuple[Folder, Script]) -> None:
    user, script = life
    today = script.sessions[-1][0].date()
    missed = []
    for question in script.then:
        hits = User(user).search_files(question.text, limit=LIMIT, today=today)
        if not any(question.answer in hit.text for hit in hits):
            missed.append((question.text, [hit.text for hit in hits]))
    assert missed == []
    assert len(script.then) == 6


def test_jokes_secrets_and_orders_are_no_facts(life: tuple[Folder, Script]) -> None:
    """Neither in a fact, nor in the profile; and the secret is in no file at all."""
    user, script = life
    for path in user.paths():
        memory = user.memory(path)
        assert "Marigold" not in memory.text
        if not path.startswith("sessions/"):
            told = " ".join(passage.text for passage in memory.passages)
            assert not [word for word in script.never if word in told], path


def test_every_fact_has_a_source_that_says_it_and_nothing_is_wrong(life: tuple[Folder, Script]) -> None:
    user, _ = life
    assert problems(user) == []
    facts = [path for path in user.paths() if "facts/" in path or "lessons/" in path]
    assert len(facts) >= 16
    for path in facts:
        source, _, line = str(user.memory(path).front["source"]).rpartition(":")
        turns = {passage.line: passage for passage in user.memory(user.locate(source)).passages}
        assert turns[int(line)].speaker == user.name, path


def test_what_changed_is_linked_both_ways_and_lies_in_the_archive(life: tuple[Folder, Script]) -> None:
    """Tea twice, home, job, birthday: each older fact names the newer one, keeps its text and has ended."""
    user, _ = life
    old = [user.memory(path) for path in user.paths() if path.startswith("archive/facts/")]
    assert len(old) == 5
    for memory in old:
        newer = user.memory(user.locate(memory.front["superseded_by"]))
        assert newer.front["supersedes"] == memory.path.removeprefix("archive/")
        assert memory.front["valid_until"] <= newer.date  # type: ignore[operator]


def test_the_profile_says_what_holds(life: tuple[Folder, Script]) -> None:
    user, script = life
    profile = Memory("profile.md", user.read("profile.md")).text
    for answer in (script.now[0], script.now[1], script.now[2], script.now[3], script.now[5], script.now[8]):
        assert answer.answer in profile
        assert not [word for word in answer.outdated if word in profile and word not in "sencha龙井"]
