# Starts Sonde's agent in each Python interpreter below `sonde run`. The folder of this file is put first on PYTHONPATH; the
# program finds sys.path and the sitecustomize module as they would be without it. It must work, or step aside, in every Python.

import os
import sys


def _leave_path(folder):
    """sys.path without the folder of this file."""
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path_importer_cache.pop(folder, None)


def _import_other():
    """The sitecustomize module that this one stands before, if there is one."""
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        # The interpreter takes this as: there is none.
        sys.modules["sitecustomize"] = own
        return error
    return None


def _note(text):
    """One line for the summary of the run."""
    folder = os.path.join(os.environ.get("SONDE_RUN_DIR", ""), "notes")
    try:
        if not os.path.isdir(folder):
            os.makedirs(folder)
        with open(os.path.join(folder, "%d.txt" % os.getpid()), "w") as file:
            file.write(text + "\n")
    except OSError:
        pass


def _load(package):
    """The agent that fits this interpreter; None and a note where there is none."""
    import _imp

    for suffix in _imp.extension_suffixes():
        path = os.path.join(package, "sonde", "_agent" + suffix)
        if not os.path.exists(path):
            continue
        from _frozen_importlib import ModuleSpec
        from _frozen_importlib_external import ExtensionFileLoader

        name = "sonde._agent"
        loader = ExtensionFileLoader(name, path)
        spec = ModuleSpec(name, loader, origin=path)
        agent = loader.create_module(spec)
        loader.exec_module(agent)
        # The package finds this one when the program imports it.
        sys.modules[name] = agent
        return agent
    return None


def _paths(variable):
    return [path for path in os.environ.get(variable, "").split(os.pathsep) if path]


def _line_paths(package):
    """Whose lines are recorded: the program's own, neither the standard library's nor installed packages'."""
    include = _paths("SONDE_PYTHON_INCLUDE") or ["/"]
    foreign = [package, os.path.dirname(os.__file__)]
    foreign += [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    # What is asked for by its own name is recorded.
    asked = [path.rstrip("/") for path in include]
    return include, _paths("SONDE_PYTHON_EXCLUDE") + [path for path in foreign if path.rstrip("/") not in asked]


def _start(agent, words, package):
    agent.start(None)
    if "line" in words:
        agent.start_lines(*_line_paths(package))
    if "line-memory" in words:
        agent.start_line_memory(*_line_paths(package))
    if "objects" in words:
        agent.start_objects()
    if "memory-lines" in words:
        agent.start_memory_lines()
    # Last: what comes before it is none of the program's.
    if "function" in words:
        agent.start_functions("timeline" in words)


class _PackageFinder:
    """Lets a recorded program import Sonde's package where none is installed; sys.path stays as it is."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name != "sonde" or sys.version_info < (3, 9):
            return None
        from _frozen_importlib_external import PathFinder

        return PathFinder.find_spec(name, [self.package])


class _TorchWatch:
    """Loads what records torch when a program imports it, and not before: most programs never do."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        try:
            from importlib.util import module_from_spec, spec_from_file_location

            source = os.path.join(self.package, "sonde", "_torch.py")
            spec = spec_from_file_location("sonde._torch", source)
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules["sonde._torch"] = module
            agent = sys.modules.get("sonde._agent") or _load(self.package)
            finder = module.watch(os.environ["SONDE_TORCH_LIBRARY"], agent=agent)
            return finder.find_spec(name, path, target) if finder else None
        except Exception as error:
            _note("torch's operators were not recorded in %s: %s" % (sys.executable, error))
            return None


class _GpuWatch:
    """Has CUDA's calls recorded with the lines that make them, when a program imports something that makes such calls."""

    NAMES = frozenset(("cuda", "cupy", "numba", "pycuda", "triton"))

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name not in self.NAMES:
            return None
        sys.meta_path.remove(self)
        try:
            agent = sys.modules.get("sonde._agent") or _load(self.package)
            if agent is not None:
                agent.start_places()
        except Exception as error:
            _note("the lines that launch GPU work were not recorded in %s: %s" % (sys.executable, error))
        return None


def _watch_gpu(package):
    wanted = os.environ.get("CUDA_INJECTION64_PATH") and os.environ.get("SONDE_CUDA_LINES") != "off"
    if wanted and sys.implementation.name == "cpython" and sys.version_info >= (3, 9):
        sys.meta_path.insert(0, _GpuWatch(package))


def _watch_torch(package):
    if sys.implementation.name == "cpython" and sys.version_info >= (3, 8):
        sys.meta_path.insert(0, _TorchWatch(package))


def _begin():
    here = os.path.dirname(os.path.abspath(__file__))
    package = os.path.dirname(here)
    _leave_path(here)
    missing = _import_other()
    words = [word for word in os.environ.get("SONDE_PYTHON", "").split(",") if word]
    if words and os.environ.get("SONDE_RUN_DIR"):
        try:
            name = sys.implementation.name
            version = "%d.%d" % sys.version_info[:2]
            agent = _load(package) if name == "cpython" and sys.version_info >= (3, 9) else None
            if agent:
                _start(agent, words, package)
            elif name != "cpython" or sys.version_info < (3, 9):
                _note("%s is %s %s: Sonde records CPython 3.9 and newer from inside; use --python sample" %
                      (sys.executable, name, version))
            else:
                _note("no agent for CPython %s (%s): install its headers (python3-dev, or that version's own) and build "
                      "Sonde again, or run: pip install sonde" % (version, sys.executable))
        except Exception as error:
            _note("%s was not recorded: %s" % (sys.executable, error))
    if os.environ.get("SONDE_RUN_DIR"):
        sys.meta_path.append(_PackageFinder(package))
    if os.environ.get("SONDE_TORCH", "none") != "none" and os.environ.get("SONDE_RUN_DIR"):
        _watch_torch(package)
        _watch_gpu(package)
    return missing


_missing = _begin()
if _missing is not None:
    raise _missing
