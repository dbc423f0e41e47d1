"""The programs that the cost of a profiler is measured on. timed() tells the CPU time of one."""

import json
import re
import time


def one_line(x):
    return x + 1


def recursive(n):
    return 1 if n < 2 else recursive(n - 1) + recursive(n - 2)


def build(n):
    table = {}
    for i in range(n):
        table[str(i)] = {"value": i}
    return len(table)


def call_heavy():
    """A million calls of a one-line function, 258 thousand recursive ones, 100 thousand small objects."""
    total = 0
    for i in range(1000000):
        total = one_line(total)
    recursive(24)
    recursive(22)
    recursive(21)
    return total + build(100000)


def call_heavy_piece():
    """A thirtieth of it."""
    total = 0
    for i in range(33000):
        total = one_line(total)
    recursive(18)
    return total + build(3300)


TEXT = "the quick brown fox jumps over 13 lazy dogs, 27 times on 2024-05-17; mail fox@example.org " * 8
WORD = re.compile(r"\b[a-z]+\b")
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def tokens(text):
    return [word.upper() for word in WORD.findall(text)]


def dates(text):
    return [tuple(int(part) for part in match.groups()) for match in DATE.finditer(text)]


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def variance(values):
    center = mean(values)
    return mean([(value - center) ** 2 for value in values])


def document(i):
    return {"id": i, "name": "item %d" % i, "values": [i * 0.5, i * 0.25, float(i)], "tags": ["a", "b", str(i)]}


def typical_piece():
    """A thirtieth of typical()."""
    return typical(50)


def typical(count=1500):
    """JSON both ways, regular expressions, small loops over numbers."""
    found = 0
    for i in range(count):
        text = json.dumps([document(i), document(i + 1)])
        back = json.loads(text)
        found += len(back[0]["values"])
        found += len(tokens(TEXT)) + len(dates(TEXT))
        found += int(variance([float(x % 17) for x in range(60)]))
    return found


FUNCTIONS = [one_line, recursive, build, call_heavy, tokens, dates, mean, variance, document, typical]


def timed(program):
    begin = time.process_time()
    program()
    return time.process_time() - begin
