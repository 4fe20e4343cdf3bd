"""An SGLang server on this machine that scores: it tokenizes, gives log-probabilities and explains rejections."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.model_server import Answer, ModelServer, model_server
from tests.verifying import reason

NAME = "tiny"
YES, NO, NEWLINE = 3, 4, 5
_NUMBERS = 10


@dataclass
class ScoringServer(ModelServer):
    """Every step of the nth review that is scored has these log-odds of yes."""

    log_odds: Callable[[int], float] = lambda _: 2.0
    decoded: int = 0
    """Tokens written, over all answers."""
    scored: list[int] = field(default_factory=list)
    """How many steps each scored review has."""

    def next(self, path: str) -> Answer:
        asked = self.received[-1]
        match path:
            case "/model_info":
                return Answer({"model_path": "models/tiny", "served_model_name": NAME})
            case "/server_info":
                return Answer({"version": "0.5.23", "dtype": "bfloat16"})
            case "/v1/models":
                return Answer({"data": [{"id": NAME}]})
            case "/tokenize":
                return Answer({"tokens": self._tokens(asked.json)})
            case "/generate":
                return Answer(self._generated(asked.json))
            case _:
                return super().next(path)

    def _tokens(self, body: dict) -> list:
        if "messages" in body:
            return [7] * (sum(len(message["content"]) for message in body["messages"]) // 4)
        known = {"yes": YES, "no": NO, "\n": NEWLINE}
        return [[known[text] if text in known else _NUMBERS + int(text[:-1])] for text in body["prompt"]]

    def _generated(self, body: dict) -> dict:
        ids, written = body["input_ids"], 0 if body.get("return_logprob") else 25
        meta = {"id": "r", "finish_reason": {"type": "stop"}, "prompt_tokens": len(ids), "cached_tokens": 0}
        meta |= {"completion_tokens": written, "weight_version": "1"}
        self.decoded += written
        if written:
            return {"text": reason(), "meta_info": meta}
        answered = ids[body["logprob_start_len"] :]
        self.scored.append(answered.count(YES))
        odds = self.log_odds(len(self.scored))
        entry = [[min(odds, 0.0), YES, None], [min(-odds, 0.0), NO, None]]
        meta["input_token_ids_logprobs"] = [None, *[entry] * (len(answered) - 1)]
        return {"text": "", "meta_info": meta}

    @property
    def bodies(self) -> list[dict]:
        """What /generate was sent."""
        return [one.json for one in self.received if one.path == "/generate"]


@contextmanager
def scoring_server(log_odds: Callable[[int], float]) -> Iterator[ScoringServer]:
    """Serve on a free port until the block ends."""
    with model_server(ScoringServer(url="", log_odds=log_odds)) as server:
        yield server
