import subprocess
import sys
from dataclasses import replace

from spectrace.store.process import Process, _start_mark, is_dead, this_process

HERE = this_process()


def test_this_process_is_alive():
    assert not is_dead(HERE, HERE)


def test_a_finished_process_is_dead():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = replace(HERE, pid=child.pid, started=_start_mark(child.pid))
        alive = is_dead(process, HERE)
        child.communicate(b"\n")

    assert (alive, is_dead(process, HERE)) == (False, True)


def test_a_reused_pid_is_another_process():
    boot = HERE.started.partition("/")[0]

    assert is_dead(replace(HERE, started=f"{boot}/1"), HERE)


def test_another_host_or_boot_or_an_unknown_start_is_left_to_the_lease():
    assert not is_dead(replace(HERE, host="elsewhere", started="x/1"), HERE)
    assert not is_dead(replace(HERE, started="another-boot/1"), HERE)
    assert not is_dead(Process(HERE.host, 1, ""), HERE)
