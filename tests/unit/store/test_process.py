import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from spectrace.store.process import Process, _start_mark, is_alive, is_dead, operator, this_process

HERE = this_process()


def test_this_process_is_alive():
    assert (is_dead(HERE, HERE), is_alive(HERE, HERE)) == (False, True)


def test_a_finished_process_is_dead():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = replace(HERE, pid=child.pid, started=_start_mark(child.pid))
        before = is_dead(process, HERE), is_alive(process, HERE)
        child.communicate(b"\n")

    assert before == (False, True)
    assert (is_dead(process, HERE), is_alive(process, HERE)) == (True, False)


def test_a_reused_pid_is_another_process():
    boot = HERE.started.partition("/")[0]

    assert is_dead(replace(HERE, started=f"{boot}/1"), HERE)


def test_another_host_or_boot_or_an_unknown_start_is_left_to_the_lease():
    assert not is_dead(replace(HERE, host="elsewhere", started="x/1"), HERE)
    assert not is_dead(replace(HERE, started="another-boot/1"), HERE)
    assert not is_dead(Process(HERE.host, 1, ""), HERE)


def test_a_container_that_shares_the_name_and_the_boot_is_left_to_the_lease():
    boot, _, start = HERE.started.partition("/")
    kernel, _, _ = boot.partition(".")
    elsewhere = replace(HERE, pid=1, started=f"{kernel}.1/{start}")

    assert (is_dead(elsewhere, HERE), is_alive(elsewhere, HERE)) == (False, False)


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"),
    reason="only root can mount a /proc that hides other users' processes",
)
def test_a_process_that_proc_hides_is_left_to_the_lease(tmp_path):
    """Another user's process, as a viewer sees it under hidepid=2: no /proc entry, and a signal is refused."""
    code = (
        "import sys; from dataclasses import replace; from spectrace.store.process import *\n"
        "here = this_process(); other = replace(here, pid=int(sys.argv[1]))\n"
        "import os; print(os.path.exists(f'/proc/{other.pid}'), is_dead(other, here), is_alive(other, here))"
    )
    mounted = 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mounted, "sh", sys.executable, "-B", "-c", code, str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip(f"this machine does not allow it: {done.stderr.strip()}")

    assert done.stdout.split() == ["False", "False", "False"], done.stderr


def test_whoever_has_no_name_is_told_by_number(monkeypatch):
    def nobody() -> str:
        raise KeyError("uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", nobody)

    assert operator().user.startswith("uid ")
