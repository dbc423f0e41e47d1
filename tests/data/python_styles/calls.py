import json
import re
from functools import reduce


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def numbers(count):
    yield from range(count)


def main():
    fib(19)
    even(400)
    sum(numbers(20000))
    reduce(lambda a, b: a + b, [[1]] * 5)
    for _ in range(50):
        json.loads(json.dumps({"a": [1, 2, {"b": "ü"}]}, indent=1))
    re.sub("a+", lambda match: "b", "caaandaab")


if __name__ == "__main__":
    main()
