"""What `sonde run` puts before a program, for a machine where only the recording libraries are built: torch's operators."""

import glob
import importlib.machinery
import importlib.util
import os
import sys


def load_agent(library):
    """The agent that was built beside the library for this interpreter; None where there is none."""
    folder = os.path.join(os.path.dirname(library), "sonde", "python", "sonde")
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        for path in glob.glob(os.path.join(folder, "_agent" + suffix)):
            loader = importlib.machinery.ExtensionFileLoader("sonde._agent", path)
            agent = importlib.util.module_from_spec(importlib.util.spec_from_loader("sonde._agent", loader))
            loader.exec_module(agent)
            return agent
    return None


class CallWatch:
    """As `sonde run` does: the lines of CUDA's calls, where something is imported that makes them."""

    def __init__(self, library):
        self.beside = library

    def find_spec(self, name, path=None, target=None):
        if name in ("cuda", "cupy", "triton"):
            sys.meta_path.remove(self)
            agent = load_agent(self.beside)
            if agent is not None:
                agent.start_places()


library = os.environ.get("SONDE_TORCH_LIBRARY")
if library and os.environ.get("SONDE_RUN_DIR"):
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "..", "..", "..", "python", "sonde", "_torch.py")
    spec = importlib.util.spec_from_file_location("sonde_torch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = os.environ.get("SONDE_TORCH")
    module.watch(library, wanted, load_agent(library) if wanted != "none" else None)
    if wanted != "none" and os.environ.get("SONDE_CUDA_LINES") != "off":
        sys.meta_path.insert(0, CallWatch(library))
    if os.environ.get("SONDE_TORCH_STATE"):
        import atexit

        atexit.register(lambda: print("  torch:", module.state()))
