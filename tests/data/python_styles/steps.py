"""Functions, a class and a call on one line with another."""


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Table:
    def __init__(self, rows):
        self.rows = [row for row in range(rows)]

    def total(self):
        # a | bar	and a tab   
        return sum(self.rows)


def main():
    fib(10)
    table = Table(200)
    for _ in range(20):
        table.total(); fib(2)


main()
