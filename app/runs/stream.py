"""How do events reach those who listen? They are written first; listeners are only woken, and read what was written."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator

from app.runs.store import LIVE, TERMINAL_EVENTS, Event, RunStore

POLL_SECONDS = 1.0
"""How long a listener sleeps at most: a run of another process writes without waking anybody here."""


class Stream:
    """Delivers a run's events from the store. A slow or silent listener holds nothing up."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._loop: asyncio.AbstractEventLoop | None = None

    def wake(self, run_id: str) -> None:
        """Tell listeners that something was written; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, run_id)

    def _wake(self, run_id: str) -> None:
        for waiting in self._waiting.get(run_id, ()):
            waiting.set()

    async def events(self, run_id: str, after: int) -> AsyncIterator[Event]:
        """Yield the events after `after`, and end after the one that ended the stream and was not followed by more."""
        self._loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        self._waiting[run_id].add(woken)
        try:
            while True:
                woken.clear()
                batch = self._store.events(run_id, after)
                for event in batch:
                    after = event.seq
                    yield event
                    await asyncio.sleep(0)
                if not batch:
                    if self.ended(run_id) is not None:
                        return
                    try:
                        await asyncio.wait_for(woken.wait(), POLL_SECONDS)
                    except TimeoutError:
                        continue
        finally:
            self._waiting[run_id].discard(woken)
            if not self._waiting[run_id]:
                del self._waiting[run_id]

    def ended(self, run_id: str) -> int | None:
        """Return the number of the latest event if it ends a stream: an approved or resumed run opens it again."""
        if self._store.status(run_id) in LIVE:
            return None
        last = self._store.last_event(run_id)
        return last.seq if last is not None and last.type in TERMINAL_EVENTS else None
