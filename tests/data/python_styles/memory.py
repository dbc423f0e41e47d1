"""A small program for memory_profiler."""

from memory_profiler import profile

@profile
def grow(count):
    blocks = []
    for _ in range(count):
        blocks.append(bytearray(4 << 20))
    sizes = [len(block) for block in blocks]

    # What is freed shows as a negative increment.
    del blocks
    return sum(sizes)


@profile
def once():
    return grow(3)


def apart():
    return bytes(8 << 20)


once()
apart()
