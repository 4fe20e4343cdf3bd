import asyncio

import pytest
from model_server import Answer

from spectrace.models.connection import Connection
from spectrace.models.failures import Failure
from spectrace.models.keys import endpoint


def connection(server, **options):
    defaults = {"headers": {}, "keep_headers": False, "timeout_s": 60.0, "idle_s": 60.0}
    return Connection("little", endpoint(f"{server.url}/v1"), **{**defaults, **options})


def run(made, conversation):
    async def go():
        try:
            return await conversation(made)
        finally:
            await made.close()

    return asyncio.run(go())


def streamed(made, progress=lambda _: "begun"):
    taken = []

    def take(piece):
        taken.append(piece.decode())
        return progress(piece)

    return run(made, lambda it: it.stream("/x", {}, take)), "".join(taken)


def test_only_the_given_headers_leave_beside_those_of_http(server, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    server.on("/v1/x", "{}")

    run(connection(server, headers={"x-api-key": "k"}), lambda it: it.post("/x", {}))

    of_http = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
    assert set(server.received[0].headers) == of_http | {"x-api-key"}


def test_the_packages_own_headers_go_where_they_belong_but_never_its_key(server, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    server.on("/v1/x", "{}")

    run(connection(server, keep_headers=True), lambda it: it.post("/x", {}))

    assert server.received[0].headers["openai-organization"] == "org"
    assert "authorization" not in server.received[0].headers


def test_pieces_are_handed_on_as_they_arrive(server):
    server.on("/v1/x", Answer(pieces=["data: a\n\n", "data: b\n\n"], pause_s=0.01))

    assert streamed(connection(server)) == (("data: a\n\ndata: b\n\n", True), "data: a\n\ndata: b\n\n")


def test_an_answer_that_is_no_stream_comes_back_whole(server):
    server.on("/v1/x", "{}")

    assert streamed(connection(server)) == (("{}", False), "")


def test_a_connection_that_breaks_inside_a_stream_may_be_tried_again(server):
    server.on("/v1/x", Answer(pieces=["data: a\n\n"], cut=True))

    with pytest.raises(Failure) as raised:
        streamed(connection(server))

    assert (raised.value.kind, raised.value.again) == ("server", True)
    assert "broke off" in raised.value.message


@pytest.mark.parametrize(
    "limits", [{"idle_s": 0.1}, {"timeout_s": 0.5, "idle_s": 60.0}], ids=["silence", "the whole time"]
)
def test_a_stream_that_stops_or_goes_on_too_long_is_a_timeout(server, limits):
    server.on("/v1/x", Answer(pieces=["data: a\n\n"] * 50, pause_s=0.2))

    with pytest.raises(Failure) as raised:
        streamed(connection(server, **limits))

    assert raised.value.kind == "timeout"
    assert "did not finish its answer in time" in raised.value.message


def test_silence_before_the_first_token_is_bounded_by_the_whole_time_alone(server):
    server.on("/v1/x", Answer(pieces=[": reading\n\n", "data: a\n\n"], pause_s=0.3))

    assert streamed(connection(server, idle_s=0.05), lambda piece: "begun" if b"data" in piece else "waiting")[0][1]


def test_an_error_status_of_a_stream_is_read_in_words(server):
    server.on("/v1/x", Answer({"error": {"message": "No."}}, 500))

    with pytest.raises(Failure, match=r"answered 500 to a call of the model 'little': No\."):
        streamed(connection(server))


@pytest.mark.parametrize(
    "after",
    [Answer(pieces=["data: a\n\n"], cut=True), Answer(pieces=["data: a\n\n", ": more\n\n"], pause_s=30)],
    ids=["it breaks", "it stays open"],
)
def test_what_a_connection_does_after_a_whole_answer_does_not_matter(server, after):
    server.on("/v1/x", after)

    text, _ = streamed(connection(server), lambda _: "done")[0]

    assert text == "data: a\n\n"
