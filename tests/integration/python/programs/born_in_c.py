"""Threads that Python has not started, while the main thread waits in C."""

import ctypes


def in_foreign_thread(argument):
    leaf()
    return 0


def leaf():
    return 1


library = ctypes.CDLL(None)
callback_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
callback = callback_type(in_foreign_thread)
for _ in range(20):
    thread = ctypes.c_ulong()
    library.pthread_create(ctypes.byref(thread), None, callback, None)
    library.pthread_join(thread, None)
