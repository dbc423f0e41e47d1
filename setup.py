"""The Python package `sonde`: the files of python/sonde, the recorder (libsonde) and the agent for this interpreter.

    python3 -m pip install .                        # needs a C++20 compiler and the interpreter's headers
    python3 -m pip install --no-build-isolation .   # the same without a network, where setuptools is installed

The program `sonde`, which reads what was recorded, is not part of it: `make install`.
"""

import glob
import os
import re

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
# CMake builds in build/: setuptools goes elsewhere.
SCRATCH = "build-python"
FLAGS = ["-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fvisibility=hidden"]
LIBRARY = "libsonde.so.0"


def version():
    with open(os.path.join(HERE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(sonde VERSION ([0-9.]+)", file.read()).group(1)


def sources(*patterns):
    """Paths from here on: what setuptools wants."""
    found = []
    for pattern in patterns:
        found += sorted(glob.glob(os.path.join(HERE, pattern)))
    return [os.path.relpath(path, HERE) for path in found]


class BuildAgent(build_ext):
    """Builds the recorder as a library of its own, beside the agent: a process must have it only once."""

    def build_extension(self, extension):
        folder = os.path.dirname(os.path.abspath(self.get_ext_fullpath(extension.name)))
        objects = self.compiler.compile(
            sources("src/capture/*.cpp"),
            output_dir=self.build_temp,
            include_dirs=["src", "include"],
            extra_postargs=FLAGS + ["-fno-asynchronous-unwind-tables", "-fPIC"],
        )
        # Nothing but the C library, so that it loads anywhere. It stays loaded: threads that recorded call into it.
        self.compiler.link_shared_object(
            objects,
            os.path.join(folder, LIBRARY),
            libraries=["c", "gcc"],
            extra_postargs=["-nodefaultlibs", "-Wl,-z,nodelete", "-Wl,-soname," + LIBRARY],
            target_lang="c++",
        )
        extension.extra_link_args += [os.path.join(folder, LIBRARY)]
        super().build_extension(extension)

    def get_outputs(self):
        folder = os.path.dirname(self.get_ext_fullpath("sonde._agent"))
        return super().get_outputs() + [os.path.join(folder, LIBRARY)]


os.chdir(HERE)
os.makedirs(SCRATCH, exist_ok=True)
setup(
    name="sonde",
    version=version(),
    description="A profiler for machine-learning programs",
    license="Apache-2.0",
    python_requires=">=3.9",
    # sonde_inject starts the agent in the Python processes that a recorded one starts.
    packages=["sonde", "sonde_inject"],
    package_dir={"": "python", "sonde_inject": "python/inject"},
    package_data={"sonde": ["py.typed", "*.pyi"]},
    ext_modules=[
        Extension(
            "sonde._agent",
            sources("src/capture/python/*.cpp", "src/trace/tables/writer.cpp"),
            include_dirs=["src", "include"],
            extra_compile_args=FLAGS,
            extra_link_args=["-nodefaultlibs", "-lc", "-lgcc", "-Wl,-rpath,$ORIGIN"],
            language="c++",
        )
    ],
    cmdclass={"build_ext": BuildAgent},
    options={"build": {"build_base": SCRATCH}, "egg_info": {"egg_base": SCRATCH}},
    zip_safe=False,
)
