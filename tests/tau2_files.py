"""τ²-bench result files, made small or taken from the real ones beside the tests."""

import json
import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "unit" / "interchange" / "data"
AIRLINE = DATA / "e2e_airline_baseline.json"
RETAIL = DATA / "e2e_retail_baseline.json"
GREETING = {"role": "assistant", "content": "Hi!", "timestamp": "2025-06-01T10:00:00.000001"}
HELLO = {"role": "user", "content": "Cancel O1"}
BYE = {"role": "user", "content": "Thanks ###STOP###"}


def says(text, **more):
    return {"role": "assistant", "content": text, "tool_calls": None} | more


def calls(*named, role="assistant", **more):
    made = [{"id": id_, "name": name, "arguments": arguments, "requestor": role} for id_, name, arguments in named]
    return {"role": role, "content": None, "tool_calls": made} | more


def result(id_, content, *, error=False, **more):
    return {"role": "tool", "id": id_, "content": content, "error": error, "requestor": "assistant"} | more


def action(action_id, name="get_user_details", **arguments):
    return {"action_id": action_id, "requestor": "assistant", "name": name, "arguments": arguments}


def task(id_, *actions):
    scenario = {"instructions": {"reason_for_call": f"wish {id_}"}}
    return {"id": id_, "user_scenario": scenario, "evaluation_criteria": {"actions": list(actions)}}


def graded(*actions, reward=1.0):
    """A filed grade; without actions it says so, as the benchmark does."""
    if not actions:
        return {"reward": reward, "action_checks": None, "info": {"action": {"note": "No actions to evaluate"}}}
    return {"reward": reward, "action_checks": [{"action": one, "action_match": True} for one in actions]}


def simulation(*messages, id_="sim-1", task_id="0", reason="user_stop", reward_info=None, **more):
    filed = {
        "id": id_,
        "task_id": task_id,
        "start_time": "2025-06-01T10:00:00.000000",
        "termination_reason": reason,
        "reward_info": reward_info or {"reward": 1.0},
        "trial": 0,
        "seed": 7,
        "messages": list(messages),
    }
    return {name: value for name, value in (filed | more).items() if value is not ...}


def result_file(*simulations, tasks=None, domain="airline", environment=None, **more):
    info = {
        "git_commit": "abc123",
        "agent_info": {"llm": "openai/gpt-4.1", "llm_args": {"temperature": 0.0}},
        "user_info": {"llm": "gpt-4.1", "llm_args": None},
        "environment_info": {"domain_name": domain, "policy": "Be kind.", "tool_defs": None} | (environment or {}),
    }
    whole = {"timestamp": "2025-06-01T11:00:00", "info": info, "tasks": tasks if tasks is not None else [task("0")]}
    return whole | {"simulations": list(simulations)} | more


def written(folder, value, name="results.json"):
    """Write a file and return its path."""
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def corpus(*domains):
    """Return the real result files of the domains; skip where there are none, fail where CI should have them."""
    shared = Path(os.environ.get("SPECTRACE_SHARED") or Path(__file__).parents[2] / "shared")
    files = sorted(path for domain in domains for path in (shared / "corpus" / "tau2").glob(f"{domain}__*.json"))
    if not files and os.environ.get("CI") == "true":
        pytest.fail(f"no τ² corpus under {shared}: set SPECTRACE_SHARED")
    if not files:
        pytest.skip(f"no τ² corpus under {shared}: set SPECTRACE_SHARED")
    return files
