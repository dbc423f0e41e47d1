"""What each line of a Python program allocates, keeps and frees."""

import subprocess
import unittest

from python_run import MIB, Run, total

KNOWN = """
_agent.start_memory_lines()
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

class Thing:
    __slots__ = ()

def kept():
    out = [None] * 1000000  # list
    for i in range(100000):
        out[i] = Thing()  # thing
    return out

def freed():
    for _ in range(100):
        block = bytearray(100000)  # churn

def peak():
    return bytearray(40 << 20)  # peak

def native():
    block = libc.malloc(7 << 20)  # leak
    other = libc.malloc(9 << 20)  # given
    libc.free(other)
    return block

def grown():
    out = []
    for i in range(200000):
        out.append(None)  # grown
    return out

keep = kept()
freed()
peak()
address = native()
more = grown()
"""


class Lines(unittest.TestCase):
    interpreter = None

    def check_known(self, run, exact, preload):
        sites = run.sites("list")
        # A million places, a list's head, and the list of one that is repeated.
        live = total(sites, "allocated_bytes") - total(sites, "freed_bytes")
        self.assertAlmostEqual(live / 8e6, 1, delta=0.00003 if exact else 0.001)
        things = run.sites("thing")
        # A thing without attributes: a head of 16 bytes, and the collector's where it tracks it.
        if exact:
            # Newer interpreters collect garbage between two lines, and need a little for it.
            self.assertAlmostEqual(total(things, "allocations") / 100000, 1, delta=0.01)
            self.assertGreaterEqual(total(things, "allocations"), 100000)
            self.assertIn(round(total(things, "allocated_bytes") / 100000), (16, 32))
        self.assertLess(total(things, "freed_bytes"), total(things, "allocated_bytes") * 0.03)
        churn = run.sites("churn")
        # The block, and the object around it. The last one lives until the function ends.
        if exact:
            # Now and then the interpreter's allocator needs a word for itself.
            self.assertIn(total(churn, "allocations"), range(200, 210))
            self.assertIn(total(churn, "allocated_bytes") - 100 * (100001 + 56), range(0, 500))
        else:
            self.assertAlmostEqual(total(churn, "allocated_bytes") / (100 * 100057), 1, delta=0.02)
        self.assertGreater(total(churn, "freed_bytes"), total(churn, "allocated_bytes") - 1000)
        peak = run.sites("peak")
        if exact:
            self.assertEqual(total(peak, "peak_bytes"), (40 << 20) + 1 + 56)
        else:
            self.assertAlmostEqual(total(peak, "peak_bytes") / (40 << 20), 1, delta=0.001)
        self.assertEqual(total(peak, "freed_bytes"), total(peak, "allocated_bytes"))
        grown = run.sites("grown")
        self.assertGreaterEqual(total(grown, "allocated_bytes") - total(grown, "freed_bytes"), 1600000 * 0.9)
        if preload:
            leak, given = run.sites("leak"), run.sites("given")
            self.assertTrue(all(site["memory"] == 1 for site in leak if site["allocated_bytes"] > MIB))
            native = [[site for site in sites if site["memory"] == 1] for sites in (leak, given)]
            self.assertAlmostEqual(total(native[0], "allocated_bytes") / (7 << 20), 1, delta=0.001)
            self.assertEqual(total(native[0], "freed_bytes"), 0)
            self.assertAlmostEqual(total(native[1], "allocated_bytes") / (9 << 20), 1, delta=0.001)
            self.assertEqual(total(native[1], "freed_bytes"), total(native[1], "allocated_bytes"))
        else:
            self.assertFalse([site for site in run.memory[0]["sites"] if site["memory"] == 1])
        # Bytes that left are never more than those that came.
        for site in run.memory[0]["sites"]:
            self.assertLessEqual(site["freed_bytes"], site["allocated_bytes"])
            self.assertLessEqual(site["peak_bytes"], site["allocated_bytes"])
        self.assertEqual(total(run.memory[0]["sites"], "peak_bytes"), int(run.memory[0]["properties"]["memory.peak_bytes"]))
        self.assertEqual(run.memory[0]["clean"], 1)

    def test_exact(self):
        for preload in (True, False):
            run = Run(self, self.interpreter, KNOWN, preload)
            self.assertEqual(len(run.memory), 1)
            self.check_known(run, True, preload)

    def test_samples(self):
        for preload in (True, False):
            run = Run(self, self.interpreter, KNOWN, preload, 4096)
            self.assertEqual(run.memory[0]["properties"]["memory.gap"], "4096")
            self.check_known(run, False, preload)
        # The usual gap sees what is large.
        run = Run(self, self.interpreter, KNOWN, True, 524288)
        self.assertAlmostEqual(total(run.sites("peak"), "peak_bytes") / (40 << 20), 1, delta=0.001)
        self.assertAlmostEqual(total(run.sites("list"), "allocated_bytes") / 8e6, 1, delta=0.001)

    def test_samples_are_not_biased(self):
        script = """
        _agent.start_memory_lines()
        def work():
            for i in range(400):
                x = [bytes(1000) for _ in range(500)]  # here
        work()
        """
        run = Run(self, self.interpreter, script, False, 65536)
        found = [site for site in run.memory[0]["sites"] if any(f["line"] == run.marks["here"] and f["file"] == run.path for f in site["stack"])]
        # 200000 blocks of 1033 bytes and the lists: 3300 samples, five standard deviations.
        self.assertAlmostEqual(total(found, "allocated_bytes") / (200000 * 1033 + 400 * 8856), 1, delta=0.09)

    def test_stacks(self):
        script = """
        _agent.start_memory_lines()
        def inner(n):
            return bytearray(3 << 20) if n == 0 else inner(n - 1)  # inner
        class Outer:
            def method(self):
                return inner(3)  # method
        def generator():
            yield Outer().method()  # generator
        kept = [x for x in generator()]  # top
        """
        run = Run(self, self.interpreter, script)
        (site,) = [site for site in run.sites("inner") if site["allocated_bytes"] > MIB]
        names = [frame["name"] for frame in site["stack"] if frame["name"] != "<listcomp>"]
        self.assertEqual(names, ["inner"] * 4 + ["method", "generator", "<module>"])
        lines = [frame["line"] for frame in site["stack"] if frame["name"] != "<listcomp>"]
        self.assertEqual(lines, [run.marks[mark] for mark in ["inner"] * 4 + ["method", "generator", "top"]])

    def test_threads(self):
        script = """
        import threading
        _agent.start_memory_lines()
        def work():
            for i in range(200):
                x = bytearray(20000)  # here
        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        """
        run = Run(self, self.interpreter, script)
        here = run.sites("here")
        self.assertEqual(total(here, "allocations"), 3200)
        self.assertEqual(total(here, "allocated_bytes"), 1600 * (20001 + 56))
        self.assertEqual(total(here, "freed_bytes"), total(here, "allocated_bytes"))

    def test_forks(self):
        script = """
        import multiprocessing, os
        _agent.start_memory_lines()
        before = bytearray(5 << 20)  # before
        def child(n):
            global before
            before = None
            keep = bytearray(n << 20)  # child
            return len(keep)
        for i in range(3):
            pid = os.fork()
            if pid == 0:
                child(i + 1)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            assert pool.map(child, [4, 4, 4]) == [4 << 20] * 3
        """
        run = Run(self, self.interpreter, script)
        parent = [table for table in run.memory if run.sites("before", table)]
        self.assertEqual(len(parent), 1)
        self.assertEqual(total(run.sites("before", parent[0]), "freed_bytes"), 0)
        grown = sorted(total(run.sites("child", table), "allocated_bytes") >> 20 for table in run.memory if table is not parent[0])
        self.assertEqual([n for n in grown if n <= 3 and n > 0], [1, 2, 3])
        self.assertEqual(sum(n for n in grown if n > 3), 12)

    def test_pauses(self):
        script = """
        _agent.start_memory_lines()
        a = bytearray(2 << 20)  # first
        _agent.stop_memory_lines()
        b = bytearray(3 << 20)  # unseen
        del a
        _agent.start_memory_lines()
        c = bytearray(4 << 20)  # second
        totals = _agent.memory_totals()
        assert totals["live_bytes"] >= 6 << 20, totals
        _agent.stop()
        _agent.stop()
        _agent.start(os.environ["SONDE_RUN_DIR"])
        _agent.start_memory_lines()
        d = bytearray(5 << 20)  # third
        """
        run = Run(self, self.interpreter, script)
        self.assertEqual(len(run.memory), 2)
        first, second = run.memory
        self.assertEqual(total(run.sites("first", first), "allocated_bytes") >> 20, 2)
        self.assertEqual(total(run.sites("first", first), "freed_bytes"), 0)
        self.assertFalse(run.sites("unseen", first))
        self.assertEqual(total(run.sites("second", first), "allocated_bytes") >> 20, 4)
        self.assertEqual(total(run.sites("third", second), "allocated_bytes") >> 20, 5)

    def test_a_killed_program_loses_nothing(self):
        script = """
        import signal
        _agent.start_memory_lines()
        keep = bytearray(6 << 20)  # keep
        os.kill(os.getpid(), signal.SIGKILL)
        """
        run = Run(self, self.interpreter, script, code=-9)
        self.assertEqual(total(run.sites("keep"), "allocated_bytes") >> 20, 6)
        self.assertEqual(total(run.sites("keep"), "peak_bytes") >> 20, 6)
        self.assertEqual(run.memory[0]["clean"], 0)

    def test_names_that_are_not_ascii(self):
        script = """
        _agent.start_memory_lines()
        def größe_ф():
            return bytearray(2 << 20)  # here
        keep = größe_ф()
        """
        run = Run(self, self.interpreter, script)
        self.assertEqual(run.sites("here")[0]["stack"][0]["name"], "größe_ф")

    def test_numpy(self):
        if subprocess.run([self.interpreter, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no numpy")
        script = """
        import numpy
        _agent.start_memory_lines()
        keep = numpy.empty((1024, 1024))  # array
        view = keep[::2]
        objects = _agent.snapshot_objects("now")
        print(objects["numpy.ndarray"])
        """
        run = Run(self, self.interpreter, script)
        native = [site for site in run.sites("array") if site["memory"] == 1]
        self.assertEqual(total(native, "allocated_bytes") >> 20, 8)
        self.assertGreaterEqual(int(run.output.strip("()\n").split(", ")[1]), 8 << 20)
        self.assertLess(int(run.output.strip("()\n").split(", ")[1]), 12 << 20)
