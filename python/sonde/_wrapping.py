"""Something around each call of a function, whatever kind of function it is."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Tuple


def wrap(function: Any, before: Callable[[bool], Any], after: Callable[[Any], None]) -> Any:
    """The function with something around each of its calls; with its name and signature.

    before(apart) is called first and gives what after() is called with at the end. A coroutine is
    wrapped from its first step to its last one, a generator at each of its steps.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrap(function.__func__, before, after))
    if not callable(function) or isinstance(function, type):
        raise TypeError("only functions and methods can be decorated, not %r" % (function,))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def in_coroutine(*arguments: Any, **keywords: Any) -> Any:
            state = before(True)
            try:
                return await function(*arguments, **keywords)
            finally:
                after(state)

        return in_coroutine

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def in_async_generator(*arguments: Any, **keywords: Any) -> Any:
            inner = function(*arguments, **keywords)
            resume = inner.__anext__
            given: Tuple[Any, ...] = ()
            try:
                while True:
                    state = before(True)
                    try:
                        value = await resume(*given)
                    except StopAsyncIteration:
                        return
                    finally:
                        after(state)
                    try:
                        sent = yield value
                        resume, given = inner.asend, (sent,)
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        resume, given = inner.athrow, (error,)
            finally:
                await inner.aclose()

        return in_async_generator

    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def in_generator(*arguments: Any, **keywords: Any) -> Any:
            inner = function(*arguments, **keywords)
            resume = inner.send
            given: Any = None
            try:
                while True:
                    state = before(False)
                    try:
                        value = resume(given)
                    except StopIteration as stop:
                        return stop.value
                    finally:
                        after(state)
                    try:
                        given = yield value
                        resume = inner.send
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        resume, given = inner.throw, error
            finally:
                inner.close()

        return in_generator

    @functools.wraps(function)
    def in_function(*arguments: Any, **keywords: Any) -> Any:
        state = before(False)
        try:
            return function(*arguments, **keywords)
        finally:
            after(state)

    return in_function
