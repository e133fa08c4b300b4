"""Reading ahead: another thread reads the next batches while these are worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

DEPTH = 2  # batches that wait
GLANCE = 0.1  # seconds between looks at whether anyone still waits


def read_ahead(items: Iterable[T], depth: int = DEPTH) -> Iterator[T]:
    """The same items; errors of reading are raised here. The thread ends with the iterator."""
    waiting: Queue[tuple[bool, T | BaseException | None]] = Queue(depth)
    ended = threading.Event()

    def put(is_item: bool, value: T | BaseException | None) -> bool:
        while not ended.is_set():
            try:
                waiting.put((is_item, value), timeout=GLANCE)
                return True
            except Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not put(True, item):
                    return
            put(False, None)
        except BaseException as error:
            put(False, error)

    reader = threading.Thread(target=read, name="sapwood-reader", daemon=True)
    reader.start()
    try:
        yield from _taken(waiting)
    finally:
        ended.set()
        reader.join()


def _taken(waiting: Queue[tuple[bool, T | BaseException | None]]) -> Iterator[T]:
    while True:
        try:
            is_item, value = waiting.get(timeout=GLANCE)  # an endless wait would ignore Ctrl-C on some systems
        except Empty:
            continue
        if is_item:
            yield value  # type: ignore[misc]
        elif isinstance(value, BaseException):
            raise value
        else:
            return
