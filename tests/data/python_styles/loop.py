"""Busy in known places."""


def spin(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def main():
    for _ in range(60):
        spin(20000)


main()
