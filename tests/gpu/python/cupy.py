"""A stand-in for CuPy, for tests: it makes CUDA's calls by the fake CUPTI, outside of the interpreter's lock as the real one does."""

import ctypes

_driver = ctypes.CDLL("libcuda.so.1")
_driver.cuInit(0)
_cupti = ctypes.CDLL("libcupti.so.13")
_cupti.fake_now.restype = ctypes.c_uint64
_names = {}


def launch(name, nanoseconds=1000):
    """A kernel, by a call of the runtime."""
    correlation = _cupti.fake_correlation()
    start = _cupti.fake_now()
    _call(2, 1, start, correlation)
    text = _names.setdefault(name, ctypes.create_string_buffer(name.encode()))
    begin = ctypes.c_uint64(start + 10)
    end = ctypes.c_uint64(start + 10 + nanoseconds)
    _cupti.fake_kernel(text, begin, end, 7, correlation, 0, ctypes.c_uint64(0))


def launch_by_driver(name):
    correlation = _cupti.fake_correlation()
    start = _cupti.fake_now()
    _call(1, 2, start, correlation)
    text = _names.setdefault(name, ctypes.create_string_buffer(name.encode()))
    _cupti.fake_kernel(text, ctypes.c_uint64(start + 10), ctypes.c_uint64(start + 1010), 7, correlation, 0, ctypes.c_uint64(0))


def wait():
    """A call that launches nothing."""
    start = _cupti.fake_now()
    _call(2, 5, start, _cupti.fake_correlation())


def take_over():
    _cupti.fake_take_over(b"Some Profiler")


def release():
    _cupti.fake_release()


def _call(domain, function, start, correlation):
    _cupti.fake_call(domain, function, ctypes.c_uint64(start), ctypes.c_uint64(start + 5), correlation)
