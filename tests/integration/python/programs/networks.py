"""Calls the modules of networks that are built like torch's, recorded as torch's are; says how often each was called.

    networks.py PACKAGE_FOLDER
"""

import collections
import gc
import json
import sys
import threading
import types

sys.path.insert(0, sys.argv[1])
from sonde import _agent, _torch  # noqa: E402


class Module:
    def __init__(self, *children):
        self.children = children

    def named_modules(self, prefix=""):
        yield prefix, self
        for number, child in enumerate(self.children):
            yield from child.named_modules(prefix + "." * bool(prefix) + str(number))

    def _call_impl(self, value):
        def inner():  # torch's has one, too: `self` lies in a cell
            return self.forward(value)

        return inner()

    def __call__(self, value):
        return self._call_impl(value)

    def forward(self, value):
        for child in self.children:
            value = child(value)
        return value


class Raises(Module):
    def forward(self, value):
        raise ValueError("on purpose")


def fails(network):
    try:
        network(1)
    except ValueError:
        return


compiling = [False]
torch = types.SimpleNamespace(nn=types.SimpleNamespace(Module=Module), __version__="2.9",
                              compiler=types.SimpleNamespace(is_compiling=lambda: compiling[0]))
early = Module(Module())
_agent.start()
print(_torch._Modules(torch, _agent).start())
expected = collections.Counter()
for _ in range(3):
    early(1)
expected.update({"Module": 3, "Module.0": 3})

broken = Module(Module(), Raises(), Module())
for _ in range(2):
    fails(broken)
    early(1)  # still an outermost one
expected.update({"Module": 4, "Module.0": 4, "Module.1": 2})

threads = [threading.Thread(target=early, args=(1,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expected.update({"Module": 4, "Module.0": 4})


class Short(Module):
    pass


class Brief(Module):
    pass


# Modules that die, and others at their addresses.
for i in range(50):
    (Short if i % 2 else Brief)(Module())(1)
    gc.collect()
expected.update({"Short": 25, "Short.0": 25, "Brief": 25, "Brief.0": 25})

deep = Module()
for _ in range(300):
    deep = Module(deep)
sys.setrecursionlimit(10000)
deep(1)
# Deeper ones than 256 are not recorded.
expected.update({"Module" + ".0" * depth: 1 for depth in range(256)})
_agent.stop()
with open("said.json", "w") as file:
    json.dump({"nn.Module: " + name: count for name, count in expected.items()}, file)
