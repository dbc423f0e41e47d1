"""Small programs with every way to call and to return. Each is a function without arguments."""

import functools
import itertools
import json
import re
import threading


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def recursion():
    return fibonacci(15), even(40), odd(31)


def count_up(n):
    for i in range(n):
        received = yield i
        if received:
            yield received


def delegate(n):
    result = yield from count_up(n)
    return result


def generators():
    total = sum(count_up(20)) + sum(delegate(15))
    g = count_up(10)
    next(g)
    total += g.send(5)
    try:
        g.throw(ValueError("thrown"))
    except ValueError:
        pass
    g = count_up(10)
    next(g)
    g.close()
    unfinished = count_up(3)
    next(unfinished)
    del unfinished
    return total, list(x * x for x in count_up(7)), any(x > 3 for x in count_up(9))


class Failure(Exception):
    def __init__(self, depth):
        super().__init__("depth %d" % depth)
        self.depth = depth


def fail(depth):
    if depth == 0:
        raise Failure(depth)
    try:
        return fail(depth - 1)
    finally:
        str(depth)


def exceptions():
    caught = 0
    for depth in range(12):
        try:
            fail(depth)
        except Failure as failure:
            caught += failure.depth + 1
        try:
            int("no number")
        except ValueError:
            caught += 1
        try:
            {}["missing"]
        except KeyError:
            caught += 1
        try:
            [].pop()
        except IndexError:
            caught += 1
    return caught


def square(x):
    return x * x


def comprehensions():
    a = [square(x) for x in range(20)]
    b = {x: square(x) for x in range(15)}
    c = {square(x) for x in range(10)}
    d = [[y for y in range(x)] for x in range(6)]
    return a, b, sorted(c), d, [x for x in (square(y) for y in range(5)) if x]


@functools.lru_cache(maxsize=None)
def cached(n):
    return 1 if n == 0 else cached(n - 1) + 1


def callbacks():
    words = ["pear", "fig", "banana", "kiwi", "apple"]
    out = sorted(words, key=lambda word: (len(word), word))
    out += list(map(str.upper, words))
    out += list(map(lambda word: word[::-1], words))
    out += list(filter(lambda word: "a" in word, words))
    words.sort(key=len)
    out.append(functools.reduce(lambda a, b: a + b, words))
    out.append(max(words, key=square_length))
    out.append(re.sub("[aeiou]", lambda match: match.group().upper(), "a long sentence"))
    out.append(json.dumps({"b": [1, 2.5, None], "a": {"c": "text"}}, sort_keys=True, default=str))
    out.append(json.loads('{"x": [1, 2, {"y": null}]}'))
    out.append(cached(10))
    out.append(list(itertools.accumulate([1, 2, 3], lambda a, b: a + b)))
    list.append(out, str.join("-", ["a", "b"]))
    out.append(functools.partial(square, 7)())
    return out


def square_length(word):
    return len(word) ** 2


class Point:
    __slots__ = ("x", "y")
    made = 0

    def __init__(self, x, y):
        self.x, self.y = x, y
        Point.count()

    @classmethod
    def count(cls):
        cls.made += 1

    @property
    def length(self):
        return abs(self.x) + abs(self.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __eq__(self, other):
        return self.length == other.length

    def __hash__(self):
        return hash((self.x, self.y))

    def __getattr__(self, name):
        return name


class Mapping(dict):
    def __missing__(self, key):
        self[key] = value = square(key)
        return value

    def get(self, key, default=None):
        return super().get(key, default)


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def objects():
    points = [Point(i, -i) for i in range(8)]
    total = functools.reduce(Point.__add__, points)
    mapping = Mapping()
    for i in range(5):
        mapping[i % 3]
        mapping.get(i)
    with Manager():
        raise ValueError
    return total.length, points[0] == points[1], points[0].unknown, hash(points[2]), len(set(points))


async def waits(n):
    return n if n == 0 else await waits(n - 1)


def coroutines():
    coroutine = waits(6)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def in_thread(results, n):
    results.append(fibonacci(n))


def threads():
    results = []
    all_threads = [threading.Thread(target=in_thread, args=(results, n)) for n in (8, 9, 10)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    return sorted(results)


def namespaces():
    scope = {}
    exec("def made(x):\n  return x + 1\nvalue = [made(i) for i in range(4)]", scope)
    return scope["value"], eval("sum(value)", scope), (lambda: (lambda: 1)())()


def one_line_loops():
    total = 0
    for i in range(5): total += i
    while total > 3: total -= 1
    for i in range(3): square(i); square(i + 1)
    x = [square(i) for i in range(4)]; y = x[0]
    return total if total else y


def long_expressions():
    values = [
        square(1),
        square(2),
        square(
            3
        ),
    ]
    if (values[0] == 1 and
            values[1] == 4 and
            square(3) == values[2]):
        values.append(0)
    try:
        values.index(
            77)
    except ValueError: pass
    finally:
        values.pop()
    while True:
        values.append(1)
        if len(values) > 6: break
        if len(values) == 5:
            continue
    else:
        values.clear()
    assert values, "never"
    for value in values:
        if value == 4:
            continue
        with Manager():
            square(value)
    else:
        values = [
            value
            for value in values
            if value
        ]
    return {
        "a": square(2),
        "b": (lambda:
              5)(),
    }


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(
            *args
        )
    return wrapper


@decorated
def with_decorator(n):
    class Local:
        attribute = square(n)

        def method(self):
            return self.attribute
    return Local().method()


def definitions():
    return with_decorator(3), with_decorator(4)


SINGLE = [one_line_loops, long_expressions, definitions, recursion, generators, exceptions, comprehensions, callbacks, objects, coroutines, namespaces]
