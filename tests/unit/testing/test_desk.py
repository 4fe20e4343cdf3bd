from spectrace.core.types import Effect
from spectrace.testing.desk import TOOLS, setup


def test_the_desk_has_two_reads_one_of_them_external_and_a_write():
    assert [(tool.name, tool.effect, tool.external) for tool in TOOLS] == [
        ("look", Effect.READ, False),
        ("search", Effect.READ, True),
        ("change", Effect.WRITE, False),
    ]


def test_an_episode_starts_with_two_models_and_what_is_said_otherwise():
    plain, other = setup(), setup(calls="native", replies=True, request="Look.", tools=TOOLS[:1])

    assert [(model.role, model.calls) for model in plain.models] == [("weak", "json"), ("strong", "json")]
    assert (plain.task.request, plain.environment.replies, plain.tools) == ("Change A.", False, TOOLS)
    assert (other.model("weak").calls, other.task.request) == ("native", "Look.")
    assert (other.environment.replies, other.tools) == (True, TOOLS[:1])
