"""Which code is recorded line by line: the project's own, unless something else is asked for."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from typing import Iterable, List, Optional, Tuple, Union

Filters = Tuple[List[str], List[str]]


def foreign_folders() -> List[str]:
    """Where the standard library, installed packages and this package lie."""
    found = []
    paths = sysconfig.get_paths()
    for key in ("stdlib", "platstdlib", "purelib", "platlib"):
        found.append(paths.get(key, ""))
    try:
        found += site.getsitepackages()
        found.append(site.getusersitepackages())
    except AttributeError:
        pass  # the site module of an old virtual environment
    found.append(os.path.dirname(os.__file__))
    found.append(os.path.dirname(os.path.abspath(__file__)))
    found += [folder for folder in sys.path if os.path.basename(folder) in ("site-packages", "dist-packages")]
    out: List[str] = []
    for folder in found:
        if not folder:
            continue
        for spelling in (os.path.abspath(folder), os.path.realpath(folder)):
            prefix = spelling.rstrip(os.sep) + os.sep
            if prefix != os.sep and prefix not in out:
                out.append(prefix)
    return out + ["<frozen ", "<__array_function__"]


def _place_of_module(name: str) -> Optional[str]:
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return os.path.join(os.path.abspath(list(spec.submodule_search_locations)[0]), "")
    return spec.origin


def prefix_of(word: str) -> str:
    """The prefix of file names that a path or the name of a module stands for."""
    word = os.fspath(word)
    if os.path.isdir(word):
        return os.path.join(os.path.abspath(word), "")
    if os.path.exists(word) or os.sep in word:
        return os.path.abspath(word)
    return _place_of_module(word) or word


def prefixes(words: Union[None, str, Iterable[str]]) -> List[str]:
    """The same for all of them; one text is one of them."""
    return [prefix_of(word) for word in ([words] if isinstance(words, str) else words or ())]


def filters(include: List[str], exclude: List[str]) -> Filters:
    """Prefixes of file names to record and to leave out.

    What is asked for by name is recorded wherever it lies; without that, everything but the standard
    library and installed packages.
    """
    return (include, exclude) if include else ([""], exclude + foreign_folders())
