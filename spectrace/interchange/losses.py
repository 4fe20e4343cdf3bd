"""What foreign files do not say: each loss by name, in one sentence, as `episode.started` keeps it."""

NO_SYSTEM_PROMPT = (
    "The system prompt that the agent was sent is not in the file: model calls hold the conversation alone."
)
NO_USER_PROMPT = "The prompts of the simulated user are not in the file: its model calls hold no messages."
NO_LATENCY = "Latencies, retries and first-token times of the model calls are not in the file."
NO_FINGERPRINTS = "Fingerprints of the environment's state are not in the file."
NO_AUTHORITY = "The file does not say on whose authority a write ran: every act has the authority `unknown`."
NO_TOOLS = (
    "The tools' definitions are not in the file: effects are those known of the domain's tools by name, "
    "and a tool that is not known counts as a write."
)
NO_POLICY = "The policy that the agent was given is not in the file."
NO_USAGE = "Token counts of some or all model calls are not in the file."
NO_TIMES = "The file has no times at all: the events carry the time of the import."
NO_MESSAGE_TIMES = "No message has a time: all events carry one that the file gives for the whole."
SOME_TIMES = "Some messages have no time: their events carry that of the message before."
NAIVE_TIMES = "Times in the file name no time zone: taken as UTC."
TIMES_BACKWARDS = (
    "Times in the file go backwards: such an event carries the time of the one before; both are kept in `extra`."
)
NO_TASK_ID = "The entry does not name its task: the task at its place in the file's list is taken."
NO_TASK = "The task is not in the file: only its id is recorded."
NO_TERMINATION = "The entry does not say why it ended: its last message decides."
NO_REWARD = "The entry has no reward."
NO_SEED = "The entry names no seed."
NO_TRIAL = "The entry names no trial: taken as trial 0."
NO_ERROR_FLAGS = "Some tool results have no error flag: one that begins with `Error` is taken as an error."
RESULTS_OUT_OF_ORDER = (
    "Results of parallel calls lie in another order than the calls: paired by id, recorded in the calls' order."
)
RESULT_WITHOUT_CALL = (
    "A tool result answers no call of the message before it: kept in `extra` and in the later prompts."
)
CALL_WITHOUT_RESULT = "A tool call has no result: whether it ran is not known."
REPLY_WITHOUT_ANSWER = "A reply has no answer: whether the user read it is not known."
STRAY_MESSAGE = "A message answers nothing that came before it: kept in `extra` and in the later prompts."
SYNTHETIC_IDS = "Some tool calls have no id: theirs is made from their place in the file, `synthetic-MESSAGE.CALL`."
INFERRED_PAIRS = "Some tool results name no call: paired with the calls before them by position, which is inferred."
FUNCTION_CALLS = "The older `function_call` form is kept in `extra` and in no event: what was called is not read."
NO_MODEL = "The file does not say which model wrote the messages, nor with which parameters."
CONTENT_NOT_TEXT = "A message's content is not text: its JSON text is recorded instead."
