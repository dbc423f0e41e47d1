"""@sonde.time, @sonde.lines and @sonde.memory."""

from support import Case, Events, main, needs_memory, tables

HEADER = "import asyncio, functools, inspect, time\nimport sonde\n"


class Time(Case):
    def test_functions_methods_coroutines_generators(self):
        self.good(
            HEADER + '''
@sonde.time
def plain(a, b=2, *rest, key: int = 3, **more) -> float:
    """Says what it does."""
    return a + b + key

class Thing:
    @sonde.time()
    def method(self, x):
        return x
    @sonde.time
    @staticmethod
    def static(x):
        return x
    @classmethod
    @sonde.time(name="renamed", kind="operator")
    def of_class(cls, x):
        return cls, x

@sonde.time
async def coroutine(x):
    await asyncio.sleep(0.02)
    return x

@sonde.time
def generator(n):
    for i in range(n):
        yield i

@sonde.time
async def async_generator(n):
    for i in range(n):
        yield i

@sonde.time
def failing():
    raise KeyError("x")

async def collect():
    assert await coroutine(5) == 5
    return [x async for x in async_generator(2)]

assert str(inspect.signature(plain)) == "(a, b=2, *rest, key: int = 3, **more) -> float"
assert plain.__name__ == "plain" and plain.__doc__ == "Says what it does."
assert inspect.iscoroutinefunction(coroutine)
assert inspect.isgeneratorfunction(generator)
assert inspect.isasyncgenfunction(async_generator)
plain(1)  # outside of a recording: counted all the same
with sonde.profile(functions=False, folder="run"):
    assert plain(1, key=4) == 7
    thing = Thing()
    assert thing.method(1) == 1 and Thing.static(2) == 2 and thing.static(3) == 3
    assert Thing.of_class(4) == (Thing, 4)
    assert asyncio.run(collect()) == [0, 1]
    assert list(generator(3)) == [0, 1, 2]
    try:
        failing()
    except KeyError:
        pass
assert plain.timing.calls == 2
assert 0 < plain.timing.shortest <= plain.timing.mean <= plain.timing.longest <= plain.timing.total
assert coroutine.timing.calls == 1 and coroutine.timing.total >= 0.02
assert generator.timing.calls == 4  # its steps
assert failing.timing.calls == 1
assert "plain: 2 calls" in str(plain.timing)
assert set(sonde.timings()) >= {"plain", "Thing.method", "Thing.static", "renamed", "coroutine", "generator"}
'''
        )
        events = Events(self.path("run"))
        counts = {}
        for event in events.slices():
            counts[event["name"]] = counts.get(event["name"], 0) + 1
        self.assertEqual(
            counts, {"plain": 1, "Thing.method": 1, "Thing.static": 2, "renamed": 1, "generator": 4, "failing": 1}
        )
        self.assertEqual(len(events.apart("coroutine")), 1)
        self.assertEqual(len(events.apart("async_generator")), 3)


class Lines(Case):
    PROGRAM = (
        HEADER + "@sonde.lines\n"
        "def chosen(n):\n"
        "    total = 0\n"
        "    for i in range(n):\n"
        "        total += i\n"
        "    return total\n"
        "def other():\n"
        "    return 1\n"
        "class Thing:\n"
        "    @sonde.lines()\n"
        "    @staticmethod\n"
        "    def method():\n"
        "        return 2\n"
        "@sonde.lines\n"
        "async def coroutine():\n"
        "    await asyncio.sleep(0)\n"
        "    return 3\n"
        "chosen(2)\n"
        "for folder in ('one', 'two'):\n"
        "    with sonde.profile(functions=False, folder=folder):\n"
        "        chosen(10), other(), Thing.method(), asyncio.run(coroutine())\n"
    )

    def test_only_decorated_functions_and_every_recording(self):
        self.good(self.PROGRAM)
        for folder in ("one", "two"):
            (table,) = tables(self.path(folder))
            lines = {line: hits for (file, line), hits in table.lines.items()}
            self.assertEqual(lines, {5: 1, 6: 11, 7: 10, 8: 1, 15: 1, 18: 1, 19: 1}, folder)

    def test_not_a_python_function(self):
        import sonde

        for thing in (len, 42):
            with self.assertRaises(TypeError):
                sonde.lines(thing)

    def test_the_function_is_left_as_it_is(self):
        import sonde

        def function():
            pass

        self.assertIs(sonde.lines(function), function)
        self.assertIs(sonde.lines()(function), function)
        self.assertIs(sonde.memory(function), function)


@needs_memory
class Memory(Case):
    def test_lines_of_the_function(self):
        self.good(
            HEADER + "@sonde.memory\n"
            "def chosen():\n"
            "    data = bytearray(30 * 1024 * 1024)\n"
            "    return len(data)\n"
            "with sonde.profile(functions=False, folder='run'):\n"
            "    chosen()\n"
        )
        (table,) = tables(self.path("run"))
        lines = {line: hits for (file, line), hits in table.memory_lines.items()}
        self.assertEqual(lines.get(5), 1, lines)
        self.assertEqual(lines.get(6), 1, lines)
        self.assertEqual(set(lines) & {7, 8}, set(), lines)


if __name__ == "__main__":
    main()
