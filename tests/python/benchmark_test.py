"""sonde.benchmark(): the numbers of sonde::Benchmark on the same inputs."""

import contextlib
import io
import os
import random
import subprocess
import unittest

from support import Case, Events, main

TWIN = os.environ.get("SONDE_TEST_BENCHMARK", "")


def random_words(seed):
    """Something that a program might do, and some things that it should not."""
    chance = random.Random(seed)
    words, now = [], 0.0
    by_samples = chance.random() < 0.6

    def passes(longest):
        nonlocal now
        now += chance.choice([0.0, chance.random() * longest, chance.random() * longest])
        words.extend(["clock", repr(now)])

    if chance.random() < 0.8:
        words.append("begin")
    for _ in range(chance.choice([3, 10, 11, 12, 30, 60])):
        if chance.random() < 0.9:
            words.append("read")
            passes(0.01)
            words.append("read_end")
        passes(0.5)
        if chance.random() < 0.1:
            words.append("pause")
            passes(3.0)
            words.extend(chance.choice([["resume"], ["step", "resume"], ["read", "read_end", "resume"], ["resume", "resume"]]))
        words.extend(["samples", str(chance.randrange(64))] if by_samples and chance.random() < 0.98 else ["step"])
        if chance.random() < 0.2:
            words.append("info")
    words.append("end")
    return words


def in_python(words, rule):
    """What benchmark_twin.cpp does."""
    import sonde

    now = [0.0]
    out = io.StringIO()
    speed = sonde.benchmark(rule, lambda: now[0])
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "clock":
            now[0] = float(words[at])
            at += 1
        elif word == "samples":
            speed.step(float(words[at]))
            at += 1
        elif word == "read":
            speed.begin_read()
        elif word == "read_end":
            speed.end_read()
        elif word == "info":
            out.write("info%s\n" % speed.step_info("images"))
        elif word == "end":
            speed.end(out)
        else:
            getattr(speed, word)()
        out.write("%.17g %.17g %.17g\n" % speed.last)
    return out.getvalue()


class Twin(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(TWIN), "SONDE_TEST_BENCHMARK does not name the program in C++")
    def test_same_text_as_the_program_in_cpp(self):
        summaries = 0
        for rule in ("exact", "paddle"):
            for seed in range(25):
                words = random_words(seed)
                done = subprocess.run(
                    [TWIN, rule], input=" ".join(words).encode(), stdout=subprocess.PIPE, check=True
                )
                expected = done.stdout.decode()
                self.assertEqual(in_python(words, rule), expected, "%s %d" % (rule, seed))
                summaries += expected.count("Perf Summary")
        self.assertGreater(summaries, 20)


class Benchmark(Case):
    def test_summary_is_paddles(self):
        # Ten steps that do not count, then three: the layout of PaddlePaddle's summary, byte for byte.
        words = ["begin"]
        times = [0.0]
        for cost in [9.0] * 10 + [0.25, 0.5, 0.75]:
            start = times[-1]
            words += ["read", "clock", repr(start + 0.125), "read_end", "clock", repr(start + cost), "step"]
            times.append(start + cost)
        text = in_python(words + ["end"], "exact")
        summary = "".join(line for line in text.splitlines(True) if line[0] in "=RT|")
        self.assertEqual(
            summary,
            "============================================Perf Summary============================================\n"
            "Reader Ratio: 25.000%\n"
            "Time Unit: s, IPS Unit: steps/s\n"
            "|                 |       avg       |       max       |       min       |\n"
            "|   reader_cost   |     0.12500     |     0.12500     |     0.12500     |\n"
            "|    batch_cost   |     0.50000     |     0.75000     |     0.25000     |\n"
            "|       ips       |     2.00000     |     4.00000     |     1.33333     |\n",
        )

    def test_prints_and_begins_anew(self):
        import sonde

        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            with sonde.benchmark() as speed:
                for _ in range(12):
                    with speed.read():
                        pass
                    speed.step(4)
                self.assertEqual(speed.steps, 12)
        self.assertEqual(out.getvalue().count("Perf Summary"), 1)
        self.assertEqual((speed.steps, speed.summary()), (0, ""))
        with self.assertRaises(ValueError):
            sonde.benchmark("nonsense")

    def test_counters_in_a_recording(self):
        self.good(
            "import sonde\n"
            "with sonde.profile(functions=False, folder='run'):\n"
            "    speed = sonde.benchmark()\n"
            "    speed.begin()\n"
            "    for _ in range(5):\n"
            "        with speed.read():\n"
            "            pass\n"
            "        speed.step()\n"
        )
        events = Events(self.path("run"))
        for name in ("reader_cost", "batch_cost", "ips"):
            values = events.counters(name)
            self.assertEqual(len(values), 5, name)
            self.assertTrue(all(value > 0 for value in values), name)


if __name__ == "__main__":
    main()
