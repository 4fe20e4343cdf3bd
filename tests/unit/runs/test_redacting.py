"""A source whose answers are redacted, and the episodes that come of it."""

import asyncio
import json
from dataclasses import replace

import pytest

from spectrace.core.commands import Act, Generate
from spectrace.core.events import ActCompleted, ActFailed, ActRequested, GenerateFailed
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Completion, Effect, Finish, Message, ModelRequest, Observation, Role
from spectrace.errors import EnvironmentFailed, ModelFailed, Untestable
from spectrace.models.scripted import ScriptedModel
from spectrace.redaction.findings import PLACEHOLDER
from spectrace.redaction.rules import Rules
from spectrace.runs.fork import fork_episode
from spectrace.runs.live import record
from spectrace.runs.redacting import RedactingSource, redacting
from spectrace.runs.replay import replay_episode
from spectrace.runs.sources import Generated, Observed
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept
from tests.redaction import DSN_PASSWORD, PASSWORD, TOKEN, Vault, redactor

READ = Call("read_settings", "{}")
ASK = Generate(Role.DRAFTER, "weak", "s1.1", ModelRequest((Message("user", "go"),)))


class Answers:
    """A source that gives one answer, and keeps what it was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[object] = []

    async def _give(self, *asked: object) -> object:
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def generate(self, *asked: object) -> object:
        return await self._give(*asked)

    act = reset = evaluate = check = generate


def act(arguments: str) -> Act:
    return Act(Call("log_in", arguments), Effect.WRITE, "verdict:1", "s1.1")


def test_a_models_answer_is_redacted_and_its_call_restored():
    one = redactor()
    inner = Answers(Generated(Completion(Message("assistant", f"password={PASSWORD}")), "live"))
    told = asyncio.run(RedactingSource(inner, one).generate("", 1, ASK)).completion.message.content

    answers = Answers(Observed(Observation(f"welcome {PASSWORD}"), None, None, 1, "live"))
    observed = asyncio.run(RedactingSource(answers, one).act("", 1, act(json.dumps({"with": told}))))

    assert json.loads(answers.asked[0][2].action.arguments) == {"with": f"password={PASSWORD}"}
    assert (PASSWORD in told, PASSWORD in observed.observation.content) == (False, False)


def test_an_action_with_a_placeholder_that_nobody_knows_is_not_sent_and_said_to_be_an_error():
    inner = Answers(None)

    observed = asyncio.run(
        RedactingSource(inner, redactor()).act("", 1, act('{"password": "REDACTED-secret-0123456789ab"}'))
    )

    assert (inner.asked, observed.observation.error, observed.observation.content[:40]) == (
        [],
        True,
        "NOT SENT: REDACTED-secret-0123456789ab s",
    )


@pytest.mark.parametrize("mangle", [str.upper, lambda text: text[:-1], lambda text: text.replace("-s", " -s")])
def test_a_write_with_a_mangled_placeholder_is_not_sent_and_a_read_is(mangle):
    one, inner = redactor(), Answers(Observed(Observation("found"), None, None, 1, "live"))
    one.text(f"password={PASSWORD}")
    source = RedactingSource(inner, one)
    write = act(json.dumps({"password": mangle(one.placeholder("secret", PASSWORD))}))

    written = asyncio.run(source.act("", 1, write))
    assert (inner.asked, written.observation.error) == ([], True)
    assert "Nothing happened" in written.observation.content

    asyncio.run(source.act("", 2, replace(write, effect=Effect.READ)))
    assert len(inner.asked) == 1


def test_a_write_that_speaks_of_redaction_is_sent():
    inner = Answers(Observed(Observation("done"), None, None, 1, "live"))
    text = json.dumps({"file": "redacted-card-20261201.pdf", "note": "the redacted secret is gone"})

    assert asyncio.run(RedactingSource(inner, redactor()).act("", 1, act(text))).observation.content == "done"
    assert inner.asked[0][2].action.arguments == text


def test_a_check_of_such_an_action_objects():
    objection = asyncio.run(
        RedactingSource(Answers(None), redactor()).check("", act("REDACTED-secret-0123456789ab").action)
    )

    assert objection is not None
    assert "Nothing happened" in objection


@pytest.mark.parametrize(
    "failure", [ModelFailed("server", f"password={PASSWORD}", partial_text=f"api_key: {PASSWORD}")]
)
def test_a_failed_call_keeps_its_kind_and_no_secret(failure):
    with pytest.raises(ModelFailed) as caught:
        asyncio.run(RedactingSource(Answers(failure), redactor()).generate("", 1, ASK))

    assert (caught.value.kind, PASSWORD in str(caught.value), PASSWORD in caught.value.partial_text) == (
        "server",
        False,
        False,
    )
    assert caught.value.__suppress_context__


def test_a_failed_action_keeps_its_kind_and_no_secret():
    failure = EnvironmentFailed("crashed", f"postgresql://a:{DSN_PASSWORD}@h")

    with pytest.raises(EnvironmentFailed) as caught:
        asyncio.run(RedactingSource(Answers(failure), redactor()).act("", 1, act("{}")))

    assert (caught.value.kind, DSN_PASSWORD in str(caught.value)) == ("crashed", False)


def test_without_a_redactor_a_source_is_itself():
    inner = Answers(None)

    assert redacting(inner, None) is inner


# -- whole episodes ----------------------------------------------------------------------------------------------------


def recorded(vault, store, weak, *, using=None, strong=None):
    environment = vault.open()
    clients = {"weak": ScriptedModel(weak), "strong": ScriptedModel(strong or [accept(), accept(), accept()])}
    done = asyncio.run(
        record(environment.tasks()[0], environment, clients, SpecAgent(), store, redactor=using or redactor())
    )
    return list(store.read(done.episode))


def placeholder_of(secret: str) -> str:
    return redactor().placeholder("secret", secret)


LOG_IN = Call("log_in", json.dumps({"password": placeholder_of(PASSWORD)}))
WEAK = [READ, LOG_IN, Finish("done")]


def test_the_environment_gets_the_real_value_and_the_log_never_does():
    vault, store = Vault(), MemoryEventStore()
    events = recorded(vault, store, WEAK)

    assert vault.logins == [PASSWORD]
    assert not any(secret in repr(events) for secret in (PASSWORD, TOKEN, DSN_PASSWORD))
    assert events[0].body.versions.redactor == redactor().version
    assert "tokens: 128" in repr(events)


def test_a_redacted_episode_replays_without_the_key():
    events = recorded(Vault(), MemoryEventStore(), WEAK)

    result = asyncio.run(replay_episode(events))

    assert (result.result, result.compared) == ("same", len(events) - 1)


def test_executed_again_with_the_key_it_comes_out_the_same():
    vault = Vault()
    events = recorded(vault, MemoryEventStore(), WEAK)

    result = asyncio.run(replay_episode(events, environment=Vault().open(), redactor=redactor()))

    assert result.result == "same"


def test_with_other_rules_or_without_a_key_nothing_is_executed_again():
    events = recorded(Vault(), MemoryEventStore(), WEAK)
    fresh = Vault()

    for other in (None, redactor(Rules(personal=("email",)))):
        result = asyncio.run(replay_episode(events, environment=fresh.open(), redactor=other))
        assert (result.result, "spectrace.toml" in result.detail, fresh.logins) == ("untestable", True, [])


def at(events, kind) -> int:
    return next(event.seq for event in events if isinstance(event.body, kind) and event.body.tool == "log_in")


def forked(events, vault, store, weak, using):
    clients = {"weak": ScriptedModel(weak), "strong": ScriptedModel([accept(), accept()])}
    where = at(events, ActRequested) - 1
    child = asyncio.run(fork_episode(events, where, vault.open(), clients, store, redactor=using))
    return list(store.read(child.episode))


def test_a_fork_meets_the_recorded_placeholders_again_and_acts_with_the_real_values():
    store, again = MemoryEventStore(), Vault()
    events = recorded(Vault(), store, WEAK)

    child = forked(events, again, store, [Finish("done")], redactor())

    assert (again.logins, PASSWORD in repr(child), child[-1].body.outcome) == ([PASSWORD], False, "completed")


def test_a_fork_with_another_key_is_refused_before_anything_runs():
    store, again = MemoryEventStore(), Vault()
    events = recorded(Vault(), store, WEAK)

    with pytest.raises(Untestable, match="placeholders"):
        forked(events, again, store, [Finish("done")], None)
    assert again.logins == []


def test_a_fork_of_an_episode_that_was_not_redacted_is():
    store, vault = MemoryEventStore(), Vault()
    environment = vault.open()
    clients = {
        "weak": ScriptedModel([READ, Call("log_in", json.dumps({"password": PASSWORD})), Finish("done")]),
        "strong": ScriptedModel([accept(), accept(), accept()]),
    }
    done = asyncio.run(record(environment.tasks()[0], environment, clients, SpecAgent(), store))
    events, again = list(store.read(done.episode)), Vault()

    child = forked(events, again, store, [Finish("done")], redactor())

    assert (PASSWORD in repr(events), PASSWORD in repr(child), TOKEN in repr(child)) == (True, False, False)
    assert (again.logins, asyncio.run(replay_episode(child)).result) == ([PASSWORD], "same")


def test_what_an_exception_says_is_redacted():
    events = recorded(Vault(), MemoryEventStore(), [replace(LOG_IN, tool="fail"), Finish("done")])

    said = [event.body for event in events if isinstance(event.body, ActCompleted | ActFailed)]
    assert (PASSWORD in repr(said), "login failed" in repr(said), PLACEHOLDER.search(repr(said)) is None) == (
        False,
        True,
        False,
    )


def test_a_secret_that_the_model_makes_up_is_redacted_in_its_draft_and_still_used():
    vault = Vault()
    events = recorded(vault, MemoryEventStore(), [Call("log_in", '{"password": "made-up-9"}'), Finish("done")])

    assert (vault.logins, "made-up-9" in repr(events)) == (["made-up-9"], False)


def test_a_model_that_fails_leaves_no_secret_in_the_log():
    failure = ModelFailed("server", f"bad gateway, api_key={TOKEN}", partial_text=f"password: {PASSWORD}")
    events = recorded(Vault(), MemoryEventStore(), [failure])

    (failed,) = [event.body for event in events if isinstance(event.body, GenerateFailed)][:1]
    assert (TOKEN in repr(events), PASSWORD in repr(events), "bad gateway" in failed.error) == (False, False, True)
