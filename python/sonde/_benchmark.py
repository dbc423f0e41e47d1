"""How fast a training loop goes: reader cost, batch cost and throughput; the twin of sonde/benchmark.hpp."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Callable, NamedTuple, Optional, TextIO, Type

from ._marks import Counter

SKIPPED_STEPS = 10


class StepCost(NamedTuple):
    """One step, in seconds; ips: samples, or steps, per second."""

    reader_cost: float = 0.0
    batch_cost: float = 0.0
    ips: float = 0.0


class _Record:
    __slots__ = ("total", "most", "least", "count")

    def __init__(self) -> None:
        self.total = 0.0
        self.most = 0.0
        self.least = float("inf")
        self.count = 0

    def add(self, value: float, as_paddle: bool) -> None:
        self.total += value
        self.count += 1
        longest = value > self.most
        if longest:
            self.most = value
        if value < self.least and not (longest and as_paddle):
            self.least = value

    def average(self) -> float:
        return self.total / self.count if self.count else 0.0


class _SinceInfo:
    __slots__ = ("reader", "batch", "samples", "reads", "steps")

    def __init__(self) -> None:
        self.reader = 0.0
        self.batch = 0.0
        self.samples = 0.0
        self.reads = 0
        self.steps = 0


class _Reading:
    __slots__ = ("_benchmark",)

    def __init__(self, owner: "benchmark") -> None:
        self._benchmark = owner

    def __enter__(self) -> "_Reading":
        self._benchmark.begin_read()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._benchmark.end_read()


class benchmark:
    """Times the steps of a loop, with or without a recording.

        speed = sonde.benchmark()
        speed.begin()
        for batch in ...:
            with speed.read():
                batch = next(loader)
            train(batch)
            speed.step(len(batch))
        speed.end()                      # prints the summary

    rule: "exact" counts all steps behind the first ten, each once; "paddle" counts as PaddlePaddle's
    timer does. clock: seconds that only go forward. With a recording, the three numbers of each step are
    counters of the domain "benchmark". An object belongs to one thread at a time; as a context manager it
    calls begin() and end().
    """

    def __init__(self, rule: str = "exact", clock: Callable[[], float] = time.perf_counter) -> None:
        if rule not in ("exact", "paddle"):
            raise ValueError("rule must be 'exact' or 'paddle', not %r" % (rule,))
        self._paddle = rule == "paddle"
        self._clock = clock
        self._sample_unit = "samples"
        self._reader_counter = Counter("reader_cost", "benchmark")
        self._batch_counter = Counter("batch_cost", "benchmark")
        self._ips_counter = Counter("ips", "benchmark")
        self._batch_start = 0.0
        self._read_start = 0.0
        self._pause_start = 0.0
        self._reset()

    def _reset(self) -> None:
        self._running = self._paused = self._reading = self._by_samples = False
        self._steps = 0
        self._samples = 0.0
        self._read_in_step = 0.0
        self._reader = _Record()
        self._batch = _Record()
        self._speed = _Record()
        self._since_info = _SinceInfo()
        self._last = StepCost()

    def begin(self) -> None:
        """Begins the first step. Without it the first step begins with the first read or ends unseen."""
        self._running = True
        self._batch_start = self._clock()

    def read(self) -> _Reading:
        """Reading, for the length of a `with` block."""
        return _Reading(self)

    def begin_read(self) -> None:
        """The same by hand."""
        if not self._running:
            self.begin()
        self._read_start = self._clock()
        self._reading = True

    def end_read(self) -> None:
        if not self._reading:
            return
        self._reading = False
        if self._paused:
            return
        cost = self._clock() - self._read_start
        self._read_in_step += cost
        self._since_info.reader += cost
        self._since_info.reads += 1
        if self._steps >= SKIPPED_STEPS:
            self._reader.add(cost, self._paddle)

    def step(self, samples: Optional[float] = None) -> None:
        """Ends a step and begins the next one. samples: how many the batch had."""
        if self._paused:
            return
        now = self._clock()
        if not self._running:
            self._running = True
            self._batch_start = now
            return
        given = -1.0 if samples is None else float(samples)
        cost = now - self._batch_start
        self._batch_start = now
        if self._steps == 0:
            self._by_samples = given >= 0
        if given < 0:
            self._by_samples = False  # one step without a number, and only steps are counted
        done = given if self._by_samples else 1.0
        self._last = StepCost(self._read_in_step, cost, done / cost if cost > 0 else 0.0)
        self._read_in_step = 0.0
        self._since_info.batch += cost
        self._since_info.samples += given if given > 0 else 0.0
        self._since_info.steps += 1
        self._steps += 1
        if self._steps >= SKIPPED_STEPS if self._paddle else self._steps > SKIPPED_STEPS:
            self._batch.add(cost, self._paddle)
            self._speed.add(self._last.ips, self._paddle)
            self._samples += given if given > 0 else 0.0
        self._reader_counter.set(self._last.reader_cost)
        self._batch_counter.set(self._last.batch_cost)
        self._ips_counter.set(self._last.ips)

    def pause(self) -> None:
        """What does not count, such as an evaluation, lies between pause() and resume()."""
        if self._paused:
            return
        self._paused = True
        self._pause_start = self._clock()

    def resume(self) -> None:
        if not self._paused:
            return
        self._paused = False
        self._batch_start += self._clock() - self._pause_start

    @property
    def steps(self) -> int:
        return self._steps

    @property
    def last(self) -> StepCost:
        return self._last

    def _ips_unit(self) -> str:
        return self._sample_unit + "/s" if self._by_samples else "steps/s"

    def step_info(self, unit: str = "samples") -> str:
        """" reader_cost: 0.00074 s batch_cost: 0.69986 s ips: 1.429 samples/s": averages since the last call."""
        self._sample_unit = unit
        since = self._since_info
        reader = since.reader / since.reads if since.reads else 0.0
        batch = since.batch / since.steps if since.steps else 0.0
        ips = 0.0 if since.batch <= 0 else (since.samples if self._by_samples else since.steps) / since.batch
        out = ""
        if reader != 0:
            out += " reader_cost: %.5f s" % reader
        if batch != 0:
            out += " batch_cost: %.5f s" % batch
        if ips != 0:
            out += " ips: %.3f %s" % (ips, self._ips_unit())
        self._since_info = _SinceInfo()
        return out

    def summary(self) -> str:
        """The table of all steps so far but the first ten; empty where there are no more."""
        if self._steps <= SKIPPED_STEPS:
            return ""
        counted = float(self._steps - SKIPPED_STEPS)
        batch = self._batch.total / counted
        reader = self._reader.total / counted if self._paddle else self._reader.average()
        ips = 0.0 if self._batch.total <= 0 else (self._samples if self._by_samples else counted) / self._batch.total
        out = "Perf Summary".center(100, "=") + "\n"
        if reader != 0 and batch != 0:
            out += "Reader Ratio: %.3f%%\n" % (reader / batch * 100)
        out += "Time Unit: s, IPS Unit: %s\n" % self._ips_unit()
        out += _row("", "avg", "max", "min")
        if reader != 0:
            out += _number_row("reader_cost", reader, self._reader)
        out += _number_row("batch_cost", batch, self._batch)
        return out + _number_row("ips", ips, self._speed)

    def end(self, file: Optional[TextIO] = None) -> None:
        """Prints the summary, where there is one, and begins anew."""
        text = self.summary()
        if text:
            (file if file is not None else sys.stdout).write(text)
        self._reset()

    def __enter__(self) -> "benchmark":
        self.begin()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.end()


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.center(15) for cell in cells) + " |\n"


def _number_row(name: str, average: float, record: _Record) -> str:
    return _row(name, "%.5f" % average, "%.5f" % record.most, "%.5f" % record.least)
