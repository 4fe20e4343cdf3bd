import os
import subprocess
import sys
import time

import pytest

from spectrace.store.lock import TurnLock


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.db.lock"


def test_the_lock_is_held_by_one_at_a_time(path):
    with TurnLock(path, 1), pytest.raises(OSError, match="could not be acquired"), TurnLock(path, 0.01):
        pass


def test_the_lock_can_be_taken_again_and_nested(path):
    lock = TurnLock(path, 1)
    with lock, lock:
        pass
    with lock:
        pass
    with TurnLock(path, 0):
        pass


def test_a_waiter_gets_its_turn(path):
    holder = "import sys, time; from pathlib import Path; from spectrace.store.lock import TurnLock\n"
    holder += "with TurnLock(Path(sys.argv[1]), 1):\n    print('held', flush=True); time.sleep(0.3)"
    with subprocess.Popen([sys.executable, "-c", holder, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert next(child.stdout) == "held\n"
        began = time.monotonic()
        with TurnLock(path, 10):
            waited = time.monotonic() - began

    assert waited > 0.1


def test_a_dead_holder_lets_go(path):
    holder = "import os, sys; from pathlib import Path; from spectrace.store.lock import TurnLock\n"
    holder += "TurnLock(Path(sys.argv[1]), 1).__enter__(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", holder, str(path)], check=False)

    with TurnLock(path, 0):
        pass


def test_a_removed_lock_file_does_not_split_the_lock(path):
    lock = TurnLock(path, 0)
    with lock:
        pass
    path.unlink()

    with lock, pytest.raises(OSError, match="could not be acquired"), TurnLock(path, 0):
        pass


def test_a_fork_takes_its_own_turn(path):
    lock = TurnLock(path, 0.01)
    with lock:
        child = os.fork()
        if child == 0:
            lock._depth = 0
            try:
                lock.__enter__()
            except OSError:
                os._exit(7)
            os._exit(0)
        status = os.waitpid(child, 0)[1]

    assert os.waitstatus_to_exitcode(status) == 7
