"""A small program for the styles of Python's profilers."""



try:
    profile
except NameError:
    def profile(function):
        return function


@profile
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


class Table:
    @profile
    def __init__(self, rows):
        self.rows = [row * 2 for row in range(rows)]	# a tab before this

    @profile
    def total(self, text="""a | bar
in a text of two lines"""):
        # A comment at the
    # end of nothing.
        total = 0
        for row in self.rows:
            total += row

        return total | 1
        # still a part of it


@profile
def never():
    return "größer"


@profile
def main():
    fib(9)
    table = Table(300)
    for _ in range(3):
        table.total()
    blocks = [bytearray(1 << 20) for _ in range(24)]
    del blocks
    return sorted(table.rows, key=lambda row: -row)


if __name__ == "__main__":
    main()
