"""Live fixtures. Where a server cannot run, tests skip with the reason; in CI that is a failure.

SPECTRACE_SGLANG names a server that `sglang_server/server.py PORT` keeps running: starting one takes half a minute.
"""

import os

import pytest
from live.sglang_server import server


@pytest.fixture(scope="session")
def can_serve():
    """Skip where SGLang's wheels do not run; in CI, fail."""
    reason = server.unsupported()
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(f"CI must run the SGLang tests: {reason}")
        pytest.skip(reason)


@pytest.fixture(scope="session")
def sglang_url(request):
    """The URL of a real SGLang server on this machine that serves the weak model as `weak`."""
    if running := os.environ.get("SPECTRACE_SGLANG"):
        yield running
        return
    request.getfixturevalue("can_serve")
    with server.running() as url:
        yield url
