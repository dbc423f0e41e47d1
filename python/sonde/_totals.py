"""Wall time, CPU time and peak memory of a piece of a program."""

from __future__ import annotations

import os
import time
from typing import Optional


def _status_bytes(key: str) -> Optional[int]:
    """A size from the kernel's status of this process, such as VmRSS or VmHWM."""
    try:
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(key.encode() + b":"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def resident_bytes() -> Optional[int]:
    """What the process holds in memory now."""
    return _status_bytes("VmRSS")


def _reset_peak() -> bool:
    """Lets the kernel measure the peak anew from here."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        return True
    except OSError:
        return False


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def time_text(seconds: float) -> str:
    """1.234 s, 12.30 ms, 45.00 us, 678 ns."""
    if seconds >= 1:
        return "%.3f s" % seconds
    if seconds >= 1e-3:
        return "%.2f ms" % (seconds * 1e3)
    if seconds >= 1e-6:
        return "%.2f us" % (seconds * 1e6)
    return "%.0f ns" % (seconds * 1e9)


def bytes_text(count: float) -> str:
    """123 B, 4.50 KiB, 6.78 MiB, 9.01 GiB."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if abs(size) < 1024:
            return ("%.0f %s" if unit == "B" else "%.2f %s") % (size, unit)
        size /= 1024
    return "%.2f GiB" % size


class Totals:
    """What a piece of a program took. The numbers are there after stop().

    wall: seconds that passed. cpu: CPU seconds of all threads, and of children that ended meanwhile.
    peak: the most bytes that the process held meanwhile, None where the kernel does not tell.
    growth: bytes that it held more at the end than at the start.
    """

    def __init__(self) -> None:
        self.wall = 0.0
        self.cpu = 0.0
        self.peak: Optional[int] = None
        self.growth: Optional[int] = None
        self._before: Optional[int] = None
        self._resets = False
        self._wall_start = 0.0
        self._cpu_start = 0.0

    def start(self) -> None:
        self._before = resident_bytes()
        self._resets = _reset_peak()
        self._cpu_start = time.process_time() + _children_cpu()
        self._wall_start = time.perf_counter()

    def stop(self) -> None:
        self.wall = time.perf_counter() - self._wall_start
        self.cpu = time.process_time() + _children_cpu() - self._cpu_start
        after = resident_bytes()
        # Without a reset the peak would be the one of the whole life of the process.
        self.peak = _status_bytes("VmHWM") if self._resets else None
        if after is not None and self.peak is not None:
            self.peak = max(self.peak, after)
        if after is not None and self._before is not None:
            self.growth = after - self._before

    def text(self) -> str:
        """Wall 1.234 s, CPU 1.200 s, peak memory 123.00 MiB (+4.00 MiB)"""
        out = "Wall %s, CPU %s" % (time_text(self.wall), time_text(max(self.cpu, 0.0)))
        if self.peak is not None:
            out += ", peak memory " + bytes_text(self.peak)
            if self._before is not None:
                out += " (+%s)" % bytes_text(max(0, self.peak - self._before))
        return out

    def __str__(self) -> str:
        return self.text()
