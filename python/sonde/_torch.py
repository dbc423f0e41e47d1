"""Torch's operators, modules and steps in a recording, from the moment that torch is imported.

The native part (libsonde_torch.so) takes operators from torch's own callbacks. It finds what it needs in torch's objects by
watching a few operators of known inputs, so that it serves many versions; where that fails, operators are recorded without
what could not be found, or not at all, and `state()` says why.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.abc
import os
import sys
import weakref

_DEFAULT = "operators,shapes,lines,modules,steps"
_state = {"operators": "torch was not imported"}
_library = None


def state():
    """What is recorded of torch, and why something is not: {"operators": "on", "shapes": "on", ...}."""
    return dict(_state)


class _Loader(importlib.abc.Loader):
    """Torch's own loader, with a word when it is done."""

    def __init__(self, loader, done):
        self._loader = loader
        self._done = done

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._done()

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, done):
        self._done = done
        self._busy = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self._busy:
            return None
        self._busy = True
        try:
            from importlib.util import find_spec

            spec = find_spec(name)
        finally:
            self._busy = False
        if spec is None or spec.loader is None:
            return None
        sys.meta_path.remove(self)
        spec.loader = _Loader(spec.loader, self._done)
        return spec


def watch(library, wanted=None, agent=None):
    """Starts recording when torch is imported, or now if it is. `library` is the path of libsonde_torch.so; `agent` the native
    module, which lines and modules need. Returns what waits for the import, or None."""
    words = set((wanted or os.environ.get("SONDE_TORCH") or _DEFAULT).split(","))

    def begin():
        try:
            _begin(library, words, agent)
        except Exception as error:  # the program goes on, whatever torch is like
            _state["operators"] = "off: %s: %s" % (type(error).__name__, error)

    if "none" in words:
        _state["operators"] = "off: it was asked for"
        return None
    if "torch" in sys.modules:
        begin()
        return None
    finder = _Finder(begin)
    sys.meta_path.insert(0, finder)
    return finder


def name_own_steps():
    """The program names its steps itself: an optimizer's step ends none any more."""
    if _library is not None:
        _library.sonde_torch_steps(0)
        _state["steps"] = "off: the program names them"


def _begin(library, words, agent):
    global _library
    import torch

    _library = ctypes.CDLL(library)
    native = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    loaded = _loaded_library("libtorch_cpu.so") or native
    error = _library.sonde_torch_open(loaded.encode())
    if error:
        _state["operators"] = "off: torch %s has no callbacks that Sonde knows (%s)" % (torch.__version__, os.strerror(error))
        return
    if "operators" in words:
        _state["lines"] = _start_lines(agent) if "lines" in words else "off"
        _start_operators(torch, words)
    _share_gpu(torch)
    if "modules" in words and agent is not None:
        _state["modules"] = _Modules(torch, agent).start()
        _library.sonde_torch_modules(ctypes.c_void_p(agent.network_start()))


def _loaded_library(name):
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")
            if path[1] and name in os.path.basename(path[2]):
                return "/" + path[2]
    return None


def _start_lines(agent):
    """Each outermost operator is recorded with its place in the program."""
    if agent is None:
        return "off: there is no agent for this Python"
    try:
        address = agent.start_places()
    except (AttributeError, OSError) as error:
        return "off: %s" % error
    _library.sonde_torch_places(ctypes.c_void_p(address))
    return "on"


def _start_operators(torch, words):
    known = _probe(torch)
    shapes = "shapes" in words and bool(known & 2)
    steps = "steps" in words
    _library.sonde_torch_steps(int(steps))
    error = _library.sonde_torch_start(int(shapes))
    if error:
        _state["operators"] = "off: the names of operators were not found in torch " + torch.__version__
        return
    _state["operators"] = "on"
    _state["sequence numbers"] = "on" if known & 1 else "off: not found in torch " + torch.__version__
    _state["shapes"] = "on" if shapes else "off" if known & 2 else "off: not found in torch " + torch.__version__
    _state["steps"] = "on: an optimizer's step ends one" if steps else "off"


def _probe(torch):
    """Runs an operator four times, so that the library sees where torch keeps what."""
    with torch.enable_grad():
        tensor = torch.ones((3, 5, 7), dtype=torch.float32, device="cpu", requires_grad=True)
        _library.sonde_torch_probe(0)
        torch.neg(tensor)
        _library.sonde_torch_probe(1)
        torch.neg(tensor)
    with torch.no_grad():
        _library.sonde_torch_probe(2)
        torch.neg(tensor)
        _library.sonde_torch_probe(3)
        torch.neg(tensor)
    return _library.sonde_torch_probed(ctypes.c_void_p(tensor._cdata), b"aten::neg")


def _share_gpu(torch):
    """Only one tool at a time can watch the GPU. While the program's own torch.profiler does, Sonde's GPU recording rests."""
    profiler = torch.autograd.profiler
    path = os.environ.get("CUDA_INJECTION64_PATH")
    names = ("_prepare_profiler", "_enable_profiler", "_disable_profiler")
    if not path or not all(hasattr(profiler, name) for name in names):
        return

    def gpu_library():
        try:
            return ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:  # the program has not used the GPU yet
            return None

    def before(call):
        def wrapped(config, activities, *rest, **named):
            library = gpu_library()
            if library is not None and any("CUDA" in str(activity) for activity in activities):
                library.sonde_cuda_yield(b"torch.profiler")
            return call(config, activities, *rest, **named)

        return wrapped

    def after(call):
        def wrapped(*arguments, **named):
            try:
                return call(*arguments, **named)
            finally:
                library = gpu_library()
                if library is not None:
                    library.sonde_cuda_resume()

        return wrapped

    profiler._prepare_profiler = before(profiler._prepare_profiler)
    profiler._enable_profiler = before(profiler._enable_profiler)
    profiler._disable_profiler = after(profiler._disable_profiler)


class _Modules:
    """The modules of networks as slices, named by their place in the outermost one."""

    def __init__(self, torch, agent):
        self._torch = torch
        self._agent = agent
        self._alive = {}

    def start(self):
        """Returns what is to be said of it."""
        module = self._torch.nn.Module
        if sys.version_info >= (3, 12):
            self._agent.watch_networks(module._call_impl.__code__, self._name)
        elif hasattr(self._torch, "_dynamo") and not hasattr(self._torch, "compiler"):
            return "off: torch %s could not compile what Sonde adds to modules" % self._torch.__version__
        else:
            self._agent.watch_networks(None, self._name)
            self._wrap(module)
        return "on"

    def _wrap(self, module):
        enter, leave = self._agent.enter_network, self._agent.leave_network
        original = module._call_impl
        # What torch compiles is torch's own code alone.
        compiling = getattr(getattr(self._torch, "compiler", None), "is_compiling", None) or (lambda: False)

        @functools.wraps(original)
        def _call_impl(self, *arguments, **named):
            if compiling():
                return original(self, *arguments, **named)
            enter(self)
            try:
                return original(self, *arguments, **named)
            finally:
                leave()

        if module.__call__ is original:
            module.__call__ = _call_impl
        module._call_impl = _call_impl

    def _name(self, module, inside):
        """Also names everything below an outermost module."""
        root = type(module).__name__
        if inside:
            self._keep(module, "nn.Module: " + root)
        else:
            for path, child in module.named_modules():
                self._keep(child, "nn.Module: " + (root + "." + path if path else root))

    def _keep(self, module, name):
        key = id(module)
        if key not in self._alive:
            self._alive[key] = weakref.ref(module, lambda _: self._forget(key))
            self._agent.name_network(module, name)

    def _forget(self, key):
        self._alive.pop(key, None)
        self._agent.forget_network(key)
