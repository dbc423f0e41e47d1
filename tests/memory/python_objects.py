"""Objects by type."""

import unittest

from python_run import Run, total


class Objects(unittest.TestCase):
    interpreter = None

    def test_against_the_rule_in_python(self):
        script = """
        import gc
        class Thing:
            def __init__(self): self.word = "w" + str(id(self))
        class Odd:
            def __sizeof__(self): raise ValueError("no")
        things = [Thing() for _ in range(1234)]
        tuples = [("a" + str(i), float(i)) for i in range(500)]
        odd = Odd()
        gc.collect()
        found = _agent.snapshot_objects("now")
        assert found["__main__.Thing"] == (1234, 1234 * sys.getsizeof(things[0])), found["__main__.Thing"]
        assert found["__main__.Odd"][0] == 1
        def rule():
            seen, pending = {}, [o for o in gc.get_objects() if not type(o).__name__ == "frame"]
            while pending:
                o = pending.pop()
                if id(o) in seen: continue
                seen[id(o)] = o
                pending += [r for r in gc.get_referents(o) if not gc.is_tracked(r)] if type(o).__flags__ & (1 << 14) else []
            sums = {}
            for o in seen.values():
                name = type(o).__module__ + "." + type(o).__qualname__
                if name == "__main__.Odd": continue
                count, size = sums.get(name, (0, 0))
                sums[name] = count + 1, size + sys.getsizeof(o)
            return sums
        mine = rule()
        # The rule's own objects, and what the interpreter makes by the way, differ.
        for name in ("builtins.str", "builtins.float", "builtins.type", "builtins.function", "builtins.code", "builtins.module",
                     "builtins.builtin_function_or_method", "__main__.Thing"):
            count, size = found[name]
            assert abs(count - mine[name][0]) <= 20 + count // 200, (name, found[name], mine[name])
            assert abs(size - mine[name][1]) <= 4000 + size // 100, (name, found[name], mine[name])
        """
        run = Run(self, self.interpreter, script)
        (shot,) = run.tables[0]["snapshots"]
        self.assertEqual(shot["label"], "now")
        self.assertEqual(shot["types"]["__main__.Thing"][0], 1234)

    def test_start_peak_and_end(self):
        script = """
        import time
        class Passing: pass
        class Staying: pass
        _agent.start_objects()
        keep = [Staying() for _ in range(1000)]
        many = [Passing() for _ in range(300000)]
        for _ in range(100):
            time.sleep(0.05)
            words = [str(i) for i in range(100)]
        del many
        """
        run = Run(self, self.interpreter, script)
        shots = {shot["label"]: shot["types"] for shot in run.tables[0]["snapshots"]}
        self.assertEqual(sorted(shots), ["end", "peak", "start"])
        self.assertNotIn("__main__.Passing", shots["start"])
        # Within a twentieth of the process's memory, and of what the snapshots themselves needed.
        self.assertGreater(shots["peak"]["__main__.Passing"][0], 200000)
        self.assertEqual(shots["end"]["__main__.Staying"][0], 1000)
        self.assertEqual(shots["end"].get("__main__.Passing", (0, 0))[0], 0)
        self.assertEqual(len(run.tables[0]["snapshots"]), 3)

    def test_what_a_snapshot_needs_is_not_the_programs(self):
        script = """
        things = [{} for _ in range(100000)]
        _agent.start_memory_lines()
        _agent.snapshot_objects("now")  # here
        """
        run = Run(self, self.interpreter, script)
        self.assertLess(total(run.sites("here"), "allocated_bytes"), 200000)

    def test_tensors_count_their_storage_once(self):
        script = """
        import types
        torch = types.ModuleType("torch")
        class Storage:
            def __init__(self, address, size): self.a, self.s = address, size
            def data_ptr(self): return self.a
            def nbytes(self): return self.s
        class Tensor:
            is_cpu = True
            def __init__(self, storage): self.storage = storage
            def untyped_storage(self): return self.storage
        class DeviceTensor(Tensor):
            is_cpu = False
        Tensor.__module__ = DeviceTensor.__module__ = "torch"
        torch.Tensor = Tensor
        sys.modules["torch"] = torch
        shared = Storage(4096, 1000000)
        keep = [Tensor(shared), Tensor(shared), Tensor(Storage(8192, 500)), DeviceTensor(Storage(1, 70000))]
        found = _agent.snapshot_objects("now")
        size = sys.getsizeof(keep[0])
        assert found["torch.Tensor"] == (3, 1000500 + 3 * size), found["torch.Tensor"]
        assert found["torch.DeviceTensor (on a device)"] == (1, 70000 + size), found
        """
        Run(self, self.interpreter, script)

    def test_forked_children_have_their_own(self):
        script = """
        class Thing: pass
        _agent.start_objects()
        pid = os.fork()
        if pid == 0:
            keep = [Thing() for _ in range(77)]
            sys.exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        """
        run = Run(self, self.interpreter, script)
        ends = sorted(shot["types"].get("__main__.Thing", (0, 0))[0]
                      for table in run.tables for shot in table["snapshots"] if shot["label"] == "end")
        self.assertEqual(ends, [0, 77])
