"""Prints what pstats prints for the options that the tests use.

Run in this folder: python3 make_pstats.py FILE… > NAME.pstats.txt
"""
import pstats
import sys

CASES = (
    ((), False, ("print_stats",)),
    (("cumulative",), False, ("print_stats",)),
    (("tottime", "nfl"), True, ("print_stats", 7)),
    (("ncalls",), True, ("print_stats", 0.3)),
    (("stdname",), False, ("print_callers",)),
    (("cumt",), True, ("print_callers", "py:", 4)),
    (("pc", "name"), False, ("print_callees", r"^\{", 0.5)),
    (("line",), True, ("print_callees",)),
)

for sort, strip, (method, *restrictions) in CASES:
    stats = pstats.Stats(*sys.argv[1:])
    stats.files = sys.argv[1:2] + sys.argv[:1:-1]
    if strip:
        stats.strip_dirs()
    if sort:
        stats.sort_stats(*sort)
    getattr(stats, method)(*restrictions)
