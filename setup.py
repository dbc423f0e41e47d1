"""The Python package `sonde`: the files of python/sonde, the recorder (libsonde) and the agent for this interpreter.

    python3 -m pip install .                        # needs a C++20 compiler and the interpreter's headers
    python3 -m pip install --no-build-isolation .   # without a network, where setuptools and wheel are there

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
# How much to optimise is the interpreter's choice, or that of CFLAGS.
FLAGS = ["-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fvisibility=hidden"]
RECORDER = "libsonde.so.0"
MEMORY = "libsonde_memory.so"
LIBRARIES = [RECORDER] + ([MEMORY] if os.path.isdir(os.path.join(HERE, "src", "capture", "memory")) else [])


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
    """Builds the recorder and what counts memory as libraries of their own: a process must have them only once."""

    def library(self, folder, name, files, compile_flags, link_flags, libraries):
        objects = self.compiler.compile(
            files,
            output_dir=os.path.join(self.build_temp, name),
            include_dirs=["src", "include"],
            extra_postargs=FLAGS + ["-fPIC"] + compile_flags,
        )
        # Nothing but the C library, so that they load anywhere. They stay loaded: threads that recorded call into them.
        self.compiler.link_shared_object(
            objects,
            os.path.join(folder, name),
            libraries=libraries,
            extra_postargs=["-nodefaultlibs", "-Wl,-z,nodelete", "-Wl,-soname," + name] + link_flags,
            target_lang="c++",
        )

    def build_extension(self, extension):
        folder = os.path.dirname(os.path.abspath(self.get_ext_fullpath(extension.name)))
        self.library(folder, RECORDER, sources("src/capture/*.cpp"), ["-fno-asynchronous-unwind-tables"], [], ["c", "gcc"])
        if MEMORY in LIBRARIES:
            # Its own calls of memory functions must not become calls of what it defines.
            plain = ["-fno-builtin-" + name for name in ("malloc", "calloc", "realloc", "free")]
            self.library(
                folder,
                MEMORY,
                sources("src/capture/memory/*.cpp", "src/trace/tables/writer.cpp"),
                ["-fasynchronous-unwind-tables", "-ftls-model=initial-exec"] + plain,
                ["-Wl,--exclude-libs,ALL", "-Wl,-z,defs"],
                ["gcc_eh", "c", "gcc"],
            )
        extension.extra_link_args += [os.path.join(folder, RECORDER)]
        super().build_extension(extension)

    def get_outputs(self):
        folder = os.path.dirname(self.get_ext_fullpath("sonde._agent"))
        return super().get_outputs() + [os.path.join(folder, name) for name in LIBRARIES]


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
            sources("src/capture/python/*.cpp", "src/capture/python/rewrite/*.cpp", "src/trace/tables/writer.cpp"),
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
