"""What `sonde run` puts before a program, for a machine where only the recording libraries are built: torch's operators."""

import importlib.util
import os

library = os.environ.get("SONDE_TORCH_LIBRARY")
if library and os.environ.get("SONDE_RUN_DIR"):
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "..", "..", "..", "python", "sonde", "_torch.py")
    spec = importlib.util.spec_from_file_location("sonde_torch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.watch(library)
    if os.environ.get("SONDE_TORCH_STATE"):
        import atexit

        atexit.register(lambda: print("  torch:", module.state()))
