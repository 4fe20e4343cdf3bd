"""Ctrl-C at any line that a statement runs through: what comes out, and whether the database can be used afterwards.

Run in a process of its own: a tracer that raises leaves CPython 3.11's count of the stack's depth askew.
"""

import multiprocessing
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.database import Database
from spectrace.store.sql import open_store

LIBRARY, OURS = str(Path(sa.__file__).parent), str(Path(tables.__file__).parent)
ADDED = tables.checkpoints.insert().values(at=1, body=b"x")
ASKED = sa.select(tables.checkpoints.c.id).limit(3)


def write(database: Database) -> None:
    with database.writing(durable=False) as connection:
        connection.execute(ADDED)
        connection.execute(ASKED).all()


def read(database: Database) -> None:
    with database.reading() as connection:
        connection.execute(ASKED).all()


def interrupted_everywhere(url: str, work: Callable[[Database], None], step: int) -> tuple[int, list[str]]:
    """Interrupt some work at every `step`th line; return how many there are, and what went wrong at which."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_everywhere, (url, work, step))


def _everywhere(url: str, work: Callable[[Database], None], step: int) -> tuple[int, list[str]]:
    warnings.simplefilter("ignore")
    store = open_store(url)
    work(store.database)  # what is compiled once is
    _, lines = _interrupted(work, store.database, -1)
    wrong = []
    for number in range(1, lines, step):
        came_out, _ = _interrupted(work, store.database, number)
        if came_out != "KeyboardInterrupt":
            wrong.append(f"{number}: {came_out}")
        write(store.database)
        read(store.database)
    store.close()
    return lines, wrong


def _interrupted(work: Callable[[Database], None], database: Database, number: int) -> tuple[str, int]:
    """Do some work until that line; return the name of what came out, and how many lines there were."""
    lines = 0

    def each(_frame, event, _told):
        nonlocal lines
        if event == "line":
            lines += 1
            if lines == number:
                sys.settrace(None)
                raise KeyboardInterrupt
        return each

    def called(frame, _event, _told):
        return each if frame.f_code.co_filename.startswith((LIBRARY, OURS)) else None

    sys.settrace(called)
    try:
        work(database)
    except BaseException as error:  # noqa: BLE001 - what comes out is what is asked
        return type(error).__name__, lines
    finally:
        sys.settrace(None)
    return "nothing", lines
