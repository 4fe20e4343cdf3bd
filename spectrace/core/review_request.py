"""ReviewRequest: one recorded review as plain data, for a verifier that is a function of yours or people's labels.

It holds what the first reviewer could see and nothing of what it said: neither the recorded verdict nor anything that
happened afterwards, so that whoever judges is blind. Texts are the recorded ones; where a model would be shown a cut
observation, `steps` has the whole one. Counterpart of `reviewing.review_messages`, which renders the same for a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.prompts import history_messages
from spectrace.core.reviews import Review
from spectrace.core.setup import Setup
from spectrace.core.types import Message, Step, Task, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """A segment to be judged: how many of its steps, from the first on, are valid moves toward the task?"""

    episode: str
    """Id of the recorded episode."""
    environment: str
    """Name of its environment, as it was given on the command line: shop, tau2:airline, module:attribute."""
    task: Task
    """Id, the user's request, and the environment's own data of the task (which may hold its expected answer: no model
    is shown that)."""
    instructions: str
    """The policy that the agent works by."""
    segment: int
    """Number of the segment in its episode."""
    verdict_seq: int | None
    """Event number of the recorded verdict; None where the segment is derived: nobody has judged it."""
    derived: bool
    """Whether the segment was cut from a recording without reviews."""
    history: tuple[Message, ...]
    """What came before, as chat messages: the opening, then for each step the assistant's and its result's. Calls are
    in `Message.calls`, each with its tool and the exact JSON text of its arguments."""
    steps: tuple[Step, ...]
    """The drafted steps: `action` (Call, Reply or Finish), `effect`, and `observation`: None on a held one, the last,
    which has not been executed."""
    tools: tuple[ToolSpec, ...]
    """What the agent may call: name, description, JSON Schema of the arguments, declared effect."""
    position: str
    """Where the question stands: s3 for the third segment."""
    prompt: tuple[Message, ...] = ()
    """What a model is asked here, the question last; asked a second time, with what was wrong with the first answer."""

    @property
    def drafted(self) -> int:
        """How many steps there are to judge."""
        return len(self.steps)


def review_requests(episode: str, setup: Setup, reviews: Sequence[Review]) -> tuple[ReviewRequest, ...]:
    """Return an episode's reviews as requests; `setup` is that of the recording, or has the prompts to ask with."""
    return tuple(
        ReviewRequest(
            episode=episode,
            environment=setup.environment.name,
            task=setup.task,
            instructions=setup.instructions,
            segment=item.segment,
            verdict_seq=item.verdict_seq,
            derived=item.derived,
            history=history_messages(setup.prompts, item.history, (), native=True),
            steps=item.steps,
            tools=setup.tools,
            position=f"s{item.segment}",
        )
        for item in reviews
    )
