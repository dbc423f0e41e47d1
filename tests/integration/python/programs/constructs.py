"""Every construct of CPython 3.11 that moves the line being executed. Each is a function without arguments."""

import asyncio
import contextlib


def add(*values):
    return sum(values)


class Manager:
    def __init__(self, swallows=False, fails=False):
        self.swallows, self.fails = swallows, fails

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.fails:
            raise KeyError("left")
        return self.swallows

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return self.swallows


def full_stacks():
    total = 0
    for i in range(3):
        total += add(
            i,
            add(1, 2,
                i),
        )
        total = max(total,
                    i,
                    add(i,
                        *[1,
                          2]),
                    key=lambda value: (
                        value))
    return [
        add(i,
            total)
        for i in range(3)
        if add(
            i
        )
    ]


def generator_with_full_stack(n):
    for i in range(n):
        got = add(
            i,
            (yield add(1,
                       i)) or 0,
        )
        if got > 2:
            yield got


def generators():
    out = list(generator_with_full_stack(4))
    g = generator_with_full_stack(5)
    out.append(next(g))
    out.append(g.send(7))
    try:
        g.throw(ValueError)
    except ValueError:
        out.append(0)
    out += list(x for x in range(3) if x)
    return out


def catches():
    for i in range(4):
        try:
            received = yield i
        except ValueError: received = -1
        except (KeyError,
                IndexError):
            received = -2
        finally:
            i += 1
    return received


def delegates():
    first = yield from catches()
    second = (yield
              first)
    return second


def throwing():
    out = []
    for kind in (ValueError, KeyError, IndexError):
        g = delegates()
        out.append(next(g))
        out.append(g.throw(kind))
        out.extend(g)
    g = delegates()
    next(g)
    try:
        g.throw(OSError)
    except OSError as error:
        out.append(str(error))
    g = delegates()
    next(g)
    g.close()
    return out


def nested_with():
    for fails in (False, True):
        try:
            with Manager() as a, Manager(fails=fails) as b: add(1)
            with Manager(), Manager(fails=fails):
                add(1)
                raise ValueError
        except ValueError:
            add(2)
        except KeyError: add(3)
        with Manager(True): raise ValueError
        with (Manager(True),
              Manager()):
            with Manager(): raise ValueError
    with contextlib.suppress(KeyError):
        with Manager(), Manager(fails=True): pass
    return a, b


def finally_copies(n):
    for i in range(n):
        try:
            if i == 0: continue
            if i == 1:
                add(i)
            elif i == 2: break
            try: add(1); raise ValueError
            except ValueError: add(i)
            finally: add(2)
        finally:
            add(3)
            if n == 9: return i
    else:
        add(4)
    try:
        return add(n)
    finally: add(5)


def finallies():
    return [finally_copies(n) for n in (1, 2, 4, 9)]


def loops():
    i = 0
    while i < 3: i += 1
    while True:
        i += 1
        if i > 6 and \
                i > 7: break
    else: add(0)
    while i: i -= 1
    for a in range(2):
        for b in range(2):
            if a == b: continue
            add(a, b)
    for a in (): pass
    else:
        i = [a for a in range(3) if a
             for b in range(a)]
    return 1 < len(i) < 5 and i or \
        None


def handlers():
    out = []
    for i in range(5):
        try:
            try:
                if i == 0: raise KeyError
                if i == 1: raise IndexError
                if i == 2: {}[i]
                if i == 3: raise ValueError("3")
            except KeyError: out.append(1)
            except IndexError as error:
                out.append(error)
                raise TypeError from error
            else: out.append(2)
        except TypeError as error: del error
        except ValueError:
            with Manager(True):
                raise
    try: assert out, add(
        1)
    except AssertionError: pass
    try: assert not out, add(
        1)
    except AssertionError: pass
    return len(out)


def groups():
    caught = []
    for errors in ([ValueError(1)], [KeyError(2), ValueError(3)], [OSError(4)]):
        try:
            try:
                raise ExceptionGroup("group", errors)
            except* ValueError as group:
                caught.append(len(group.exceptions))
            except* KeyError: caught.append(0)
            else:
                caught.append(-1)
        except ExceptionGroup:
            caught.append(9)
    return caught


def matches():
    out = []
    for value in (1, "x", [1, 2], {"a": 3}, Manager(), None, 2.5):
        match value:
            case 1: out.append(1)
            case str() as text if add(1): out.append(text)
            case [first,
                  *rest]:
                out.append(rest)
            case {"a": number}:
                out.append(number)
            case Manager(swallows=False):
                out.append(5)
            case None: pass
            case _:
                out.append(7)
    return out


async def counts(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def awaits(n):
    total = 0
    async for i in counts(n): total += i
    async with Manager() as manager, \
            Manager(True):
        total += len([i async for i in counts(n)])
        if n == 2: raise ValueError
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(n)))
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.001)
    except asyncio.TimeoutError: total += 1
    return total, {
        i: total
        async for i in counts(n)
    }


def coroutines():
    return asyncio.run(awaits(2)), asyncio.run(awaits(3))


class Base:
    def method(self, value):
        return value


def scopes():
    count = 0

    class Derived(Base):
        x = [i for i in range(2)]; y = x

        def method(self, value=1, *, other=(
                2)):
            nonlocal count
            count += 1
            inner = lambda: super(Derived, self).method(
                count)
            return inner() + super().method(value)

    @contextlib.contextmanager
    def managed(): yield Derived()
    with managed() as derived: derived.method()
    del derived
    return count, f"""{add(
        1)} and {
        count:>{add(
            2)}}"""


def jumps_over(size):
    """A function that is long enough for jumps and constants with large numbers."""
    body = ["def long(n):", " for i in range(n):"]
    for i in range(size):
        body += ["  if i == %d: continue" % i, "  x = %d.5" % i, "  try: x += i", "  except KeyError: x = 0"]
    body += ["  while x < 0:"] + ["   x += %d.25" % i for i in range(size)] + [" return x"]
    scope = {}
    exec(compile("\n".join(body), __file__, "exec"), scope)
    return scope["long"](4)


def long_code():
    return jumps_over(150), jumps_over(1)


ALL = [full_stacks, generators, throwing, nested_with, finallies, loops, handlers, groups, matches, coroutines, scopes, long_code]
