"""Rows for scopes that overlap: each task has one of its own while it has scopes open."""

from __future__ import annotations

import threading
from typing import Dict, List, Optional, Tuple

# More tasks at once than this share the last row.
MAX_LANES = 1000


class _Holder:
    __slots__ = ("lane", "count")

    def __init__(self, lane: int) -> None:
        self.lane = lane
        self.count = 1


class Lanes:
    """Gives the lowest free row of a domain. Rows are used again, so that their number stays that of the
    tasks at work at the same time, however many there are in all."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._holders: Dict[Tuple[str, int], _Holder] = {}
        self._used: Dict[str, List[bool]] = {}

    def take(self, domain: str, key: int) -> str:
        """The domain for a scope of the task with this key; give() gives it back."""
        with self._guard:
            holder = self._holders.get((domain, key))
            if holder is not None:
                holder.count += 1
            else:
                holder = self._holders[domain, key] = _Holder(self._free(domain))
            lane = holder.lane
        return domain if lane == 0 else "%s %d" % (domain, lane + 1)

    def _free(self, domain: str) -> int:
        used = self._used.setdefault(domain, [])
        for lane, taken in enumerate(used):
            if not taken:
                used[lane] = True
                return lane
        if len(used) < MAX_LANES:
            used.append(True)
        return len(used) - 1

    def give(self, domain: str, key: int) -> None:
        with self._guard:
            holder: Optional[_Holder] = self._holders.get((domain, key))
            if holder is None:
                return
            holder.count -= 1
            if holder.count == 0:
                del self._holders[domain, key]
                self._used[domain][holder.lane] = False
