from contextlib import suppress

import pytest

from spectrace.core.types import Message, ModelRequest
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.health import Health
from tests.aio import in_loop

ASKED = ModelRequest((Message("user", "hi"),))
DOWN = ModelFailed("server", "the server said 500")


async def calls(client, n):
    for _ in range(n):
        with suppress(ModelFailed):
            await client.generate(ASKED)


@in_loop
async def test_a_model_that_fails_so_often_in_a_row_is_given_up_by_name():
    health = Health(most=3)
    clients = health.watched(
        {"weak": ScriptedModel(["fine"], repeat=True), "strong": ScriptedModel([DOWN], repeat=True)}
    )
    await calls(clients["strong"], 2)
    early = health.gave_up
    await calls(clients["weak"], 5)  # somebody else's answers say nothing of it
    await calls(clients["strong"], 1)

    assert (early, health.gave_up) == (None, "the strong model failed 3 times in a row: the server said 500")


@in_loop
async def test_an_answer_sets_the_count_back():
    health = Health(most=3)
    client = health.watched({"weak": ScriptedModel([DOWN, DOWN, "fine"], repeat=True)})["weak"]
    await calls(client, 8)

    assert health.gave_up is None


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        ("unreachable", True),
        ("busy", True),
        ("timeout", True),
        ("refused", True),
        ("context", False),
        ("invalid", False),
        ("budget", False),
    ],
)
@in_loop
async def test_only_what_would_come_to_any_call_counts(kind, counts):
    health = Health(most=1)
    await calls(health.watched({"weak": ScriptedModel([ModelFailed(kind, "x")])})["weak"], 1)

    assert (health.gave_up is not None) is counts


@pytest.mark.parametrize("kind", ["unreachable", "refused"])
@in_loop
async def test_a_server_that_says_nothing_of_itself_counts_too(kind):
    class Absent(ScriptedModel):
        async def facts(self):
            raise ModelFailed(kind, "nothing answers")

    health = Health(most=1)
    with pytest.raises(ModelFailed):
        await health.watched({"user": Absent([])})["user"].facts()

    assert health.gave_up == "the user model failed 1 times in a row: nothing answers"


@in_loop
async def test_a_watched_model_is_otherwise_itself():
    client = Health().watched({"weak": ScriptedModel(["fine"], name="w")})["weak"]

    assert ((await client.facts()).name, (await client.generate(ASKED)).message.content) == ("w", "fine")
    await client.close()
