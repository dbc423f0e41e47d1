"""Scopes, steps, counters and markers."""

import inspect

from support import Case, Events, main

HEADER = "import asyncio, sys, threading, contextlib\nimport sonde\np = sonde.profile(functions=False, folder='run')\n"


class Scopes(Case):
    def events(self, text):
        self.good(HEADER + text)
        return Events(self.path("run"))

    def test_nested_with_kinds_and_arguments(self):
        events = self.events(
            "with p:\n"
            "    with sonde.scope('outer', kind='forward', domain='net', size=3, ratio=0.5, text='x', thing=[1]) as outer:\n"
            "        outer.add(late=7)\n"
            "        with sonde.scope('inner'):\n"
            "            pass\n"
        )
        (outer,) = events.slices("outer")
        (inner,) = events.slices("inner")
        self.assertEqual(outer["cat"], "sonde.forward")
        expected = {"size": 3, "ratio": 0.5, "text": "x", "thing": "[1]", "late": 7}
        self.assertEqual({key: outer["args"].get(key) for key in expected}, expected)
        self.assertLessEqual(outer["ts"], inner["ts"])
        self.assertGreaterEqual(outer["ts"] + outer["dur"], inner["ts"] + inner["dur"])
        self.assertEqual(events.apart(), [])

    def test_hostile_names(self):
        events = self.events(
            "with p:\n"
            "    for name in ('', 'nul\\0byte', '\\ud800 surrogate', '\U0001f600', 'x' * 10000, 42):\n"
            "        with sonde.scope(name, note='\\udfff'):\n"
            "            sonde.marker(name)\n"
            "            sonde.counter(name, '\\ud800').set(1)\n"
            "            sonde.name_thread(name)\n"
        )
        names = [event["name"] for event in events.slices()]
        self.assertEqual(len(names), 6)
        self.assertIn("\U0001f600", names)
        self.assertIn("? surrogate", names)
        self.assertIn("42", names)

    def test_exception_ends_scopes(self):
        events = self.events(
            "with p:\n"
            "    try:\n"
            "        with sonde.scope('a'), sonde.scope('b'):\n"
            "            1 / 0\n"
            "    except ZeroDivisionError:\n"
            "        pass\n"
            "    assert sys.modules['sonde._scopes'].open_scopes() == []\n"
        )
        self.assertEqual([event["name"] for event in events.slices()], ["a", "b"])

    def test_tasks_do_not_mix(self):
        events = self.events(
            "async def work(i):\n"
            "    async with sonde.scope('outer', number=i):\n"
            "        await asyncio.sleep(0.01 * (3 - i))\n"
            "        with sonde.scope('inner', number=i):\n"
            "            await asyncio.sleep(0.01)\n"
            "            with sonde.scope('deep', number=i):\n"
            "                assert sys.modules['sonde._scopes'].open_scopes() == ['outer', 'inner', 'deep']\n"
            "                await asyncio.sleep(0)\n"
            "async def all():\n"
            "    await asyncio.gather(*(asyncio.create_task(work(i), name='worker %d' % i) for i in range(3)))\n"
            "with p:\n"
            "    asyncio.run(all())\n"
        )
        self.assertEqual(events.slices(), [])
        slices = events.apart()
        self.assertEqual(len(slices), 9)
        for number in range(3):
            mine = [slice for slice in slices if slice[4]["number"] == number]
            self.assertEqual([slice[1] for slice in mine], ["outer", "inner", "deep"])
            self.assertEqual([slice[4].get("inside") for slice in mine], [None, "outer", "inner"])
            self.assertEqual(len({slice[0] for slice in mine}), 1, "one row for a task")
            self.assertEqual({slice[4]["task_name"] for slice in mine}, {"worker %d" % number})
            for outer, inner in zip(mine, mine[1:]):
                self.assertTrue(outer[2] <= inner[2] <= inner[3] <= outer[3], mine)
        self.assertEqual(len({slice[0] for slice in slices}), 3, "a row for each task")
        self.assertEqual(len({slice[4]["task"] for slice in slices}), 3)

    def test_rows_are_used_again(self):
        events = self.events(
            "async def work():\n"
            "    async with sonde.scope('work'):\n"
            "        await asyncio.sleep(0)\n"
            "async def all():\n"
            "    for i in range(50):\n"
            "        await asyncio.create_task(work())\n"
            "with p:\n"
            "    asyncio.run(all())\n"
        )
        slices = events.apart()
        self.assertEqual(len(slices), 50)
        self.assertEqual({slice[0] for slice in slices}, {"asyncio"})
        self.assertEqual(len({slice[4]["task"] for slice in slices}), 50)

    def test_cancelled_and_abandoned_tasks(self):
        events = self.events(
            "async def work():\n"
            "    with sonde.scope('work'):\n"
            "        await asyncio.sleep(60)\n"
            "async def all():\n"
            "    task = asyncio.create_task(work())\n"
            "    await asyncio.sleep(0.01)\n"
            "    task.cancel()\n"
            "    await asyncio.gather(task, return_exceptions=True)\n"
            "    lost = work()\n"
            "    lost.send(None)\n"
            "    lost.close()\n"
            "with p:\n"
            "    asyncio.run(all())\n"
        )
        self.assertEqual(len(events.apart("work")), 2)

    def test_generators(self):
        events = self.events(
            "def numbers():\n"
            "    with sonde.scope('held'):\n"
            "        yield 1\n"
            "        yield 2\n"
            "@sonde.scope('step')\n"
            "def steps():\n"
            "    got = yield 1\n"
            "    try:\n"
            "        yield got\n"
            "    except KeyError:\n"
            "        yield 'caught'\n"
            "    return 'end'\n"
            "with p:\n"
            "    a, b = numbers(), numbers()\n"
            "    next(a), next(b)\n"
            "    a.close()\n"
            "    with sonde.scope('user'):\n"
            "        list(b)\n"
            "    s = steps()\n"
            "    assert next(s) == 1 and s.send('sent') == 'sent' and s.throw(KeyError()) == 'caught'\n"
            "    try:\n"
            "        next(s)\n"
            "    except StopIteration as stop:\n"
            "        assert stop.value == 'end'\n"
        )
        self.assertEqual(len(events.apart("held")), 2)
        self.assertEqual(len(events.slices("user")), 1)
        self.assertEqual(len(events.slices("step")), 4)

    def test_async_generators(self):
        self.good(
            HEADER + "@sonde.scope('chunk')\n"
            "async def chunks():\n"
            "    got = yield 1\n"
            "    await asyncio.sleep(0)\n"
            "    try:\n"
            "        yield got\n"
            "    except KeyError:\n"
            "        yield 'caught'\n"
            "    finally:\n"
            "        sonde.marker('closed')\n"
            "async def all():\n"
            "    g = chunks()\n"
            "    assert await g.asend(None) == 1\n"
            "    assert await g.asend('sent') == 'sent'\n"
            "    assert await g.athrow(KeyError()) == 'caught'\n"
            "    await g.aclose()\n"
            "    assert [x async for x in chunks()] == [1, None]\n"
            "with p:\n"
            "    asyncio.run(all())\n"
        )
        events = Events(self.path("run"))
        self.assertEqual(len(events.apart("chunk")), 6)
        self.assertEqual(events.markers().count(("closed", "t")), 2)

    def test_exit_stacks(self):
        events = self.events(
            "def plain():\n"
            "    with contextlib.ExitStack() as stack:\n"
            "        stack.enter_context(sonde.scope('plain'))\n"
            "async def suspended():\n"
            "    with contextlib.ExitStack() as stack:\n"
            "        stack.enter_context(sonde.scope('suspended'))\n"
            "        await asyncio.sleep(0)\n"
            "with p:\n"
            "    plain()\n"
            "    asyncio.run(suspended())\n"
        )
        self.assertEqual([event["name"] for event in events.slices()], ["plain"])
        self.assertEqual([slice[1] for slice in events.apart()], ["suspended"])

    def test_one_object_many_times(self):
        events = self.events(
            "shared = sonde.scope('shared')\n"
            "def recurse(n):\n"
            "    with shared:\n"
            "        if n:\n"
            "            recurse(n - 1)\n"
            "with p:\n"
            "    threads = [threading.Thread(target=recurse, args=(20,)) for _ in range(4)]\n"
            "    for thread in threads: thread.start()\n"
            "    for thread in threads: thread.join()\n"
        )
        slices = events.slices("shared")
        self.assertEqual(len(slices), 84)
        for thread in {event["tid"] for event in slices}:
            mine = [event for event in slices if event["tid"] == thread]
            self.assertEqual(len(mine), 21)
            for outer, inner in zip(mine, mine[1:]):
                self.assertGreaterEqual(outer["ts"] + outer["dur"], inner["ts"] + inner["dur"])

    def test_steps_counters_markers(self):
        events = self.events(
            "with p:\n"
            "    loss = sonde.counter('loss')\n"
            "    assert sonde.counter('loss') is loss\n"
            "    for i in range(3):\n"
            "        sonde.step()\n"
            "        loss.set(1 / (i + 1))\n"
            "    sonde.last_step()\n"
            "    sonde.counter('items').add(2)\n"
            "    many = sonde.counter('items')\n"
            "    many += 3\n"
            "    many -= 1\n"
            "    assert many.value == 4\n"
            "    sonde.counter('large').set(2 ** 80)\n"
            "    sonde.marker('here')\n"
            "    sonde.marker('there', scope='process')\n"
            "    sonde.marker('all', domain='d', scope='global')\n"
            "    sonde.flush()\n"
        )
        self.assertEqual(events.counters("loss"), [1, 0.5, 1 / 3])
        self.assertEqual(events.counters("items"), [2, 5, 4])
        self.assertEqual(events.counters("large"), [2.0**80])
        self.assertEqual(events.markers(), [("here", "t"), ("there", "p"), ("all", "g")])
        steps = [event for event in events.slices() if "step" in event["name"]]
        self.assertEqual(len(steps), 3)

    def test_counter_from_threads(self):
        self.good(
            HEADER + "def add():\n    for _ in range(1000):\n        sonde.counter('n').add()\n"
            "with p:\n"
            "    threads = [threading.Thread(target=add) for _ in range(4)]\n"
            "    for thread in threads: thread.start()\n"
            "    for thread in threads: thread.join()\n"
            "assert sonde.counter('n').value == 4000\n"
        )
        values = Events(self.path("run")).counters("n")
        self.assertEqual(sorted(values), list(range(1, 4001)))

    def test_outside_of_a_recording(self):
        self.good(
            "import sonde\n"
            "with sonde.scope('x') as s:\n    s.add(a=1)\n"
            "sonde.step(); sonde.last_step(); sonde.marker('m'); sonde.flush()\n"
            "sonde.counter('c').add(2)\n"
            "assert sonde.counter('c').value == 2\n"
        )
        self.assertFalse([name for name in __import__("os").listdir(self.folder) if name != "program.py"])

    def test_scope_around_the_whole_recording(self):
        # Begun before there is a recording, ended in it; and the other way round.
        events = self.events(
            "with sonde.scope('before'):\n"
            "    p.start()\n"
            "inside = sonde.scope('inside').__enter__()\n"
            "p.stop()\n"
            "inside.__exit__(None, None, None)\n"
            "with sonde.profile(functions=False, folder='second'):\n"
            "    with sonde.scope('again'):\n"
            "        pass\n"
        )
        self.assertEqual([event["name"] for event in events.slices()], [])
        self.assertEqual([event["name"] for event in Events(self.path("second")).slices()], ["again"])


class Mistakes(Case):
    def test_wrong_words(self):
        import sonde

        with self.assertRaises(ValueError):
            sonde.scope("x", kind="nonsense")
        with self.assertRaises(ValueError):
            sonde.marker("x", scope="nonsense")
        with self.assertRaises(TypeError):
            sonde.scope("x")(42)
        with self.assertRaises(AttributeError):
            sonde.no_such_name

    def test_everything_has_a_docstring(self):
        import sonde

        for name in sonde.__all__:
            thing = getattr(sonde, name)
            self.assertTrue(inspect.getdoc(thing), name)
        self.assertLessEqual(set(sonde.__all__), set(dir(sonde)))


if __name__ == "__main__":
    main()
