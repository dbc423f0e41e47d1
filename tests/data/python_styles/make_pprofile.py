"""Prints, with pprofile, a listing of steps.py from fixed numbers, and one of loop.py from samples.

Run in this folder: python3 make_pprofile.py counts > steps.counts.txt
                    python3 make_pprofile.py samples > loop.samples.txt
"""
import sys

import pprofile


def codes(path):
    found = {}

    def walk(code):
        found[code.co_name] = code
        for constant in code.co_consts:
            if hasattr(constant, "co_code"):
                walk(constant)

    walk(compile(open(path).read(), path, "exec"))
    return found


def timing(profile, path):
    result = pprofile._FileTiming(path, {}, profile)
    profile.file_dict[path] = [result]
    return result


def counts():
    profile = pprofile.Profile()
    code = codes("steps.py")
    file = timing(profile, "steps.py")
    for name, line, hits, nanoseconds in (
        ("<module>", 4, 1, 1_250),
        ("fib", 4, 237, 391_007),
        ("fib", 5, 237, 2_136_681),
        ("total", 14, 20, 71_525),
        ("main", 18, 1, 25_272),
        ("main", 21, 20, 192_403),
        ("<module>", 24, 1, 26_226),
    ):
        file.line_dict[line][code[name]] = [hits, nanoseconds / 1e9]
    for caller, line, callee, hits, nanoseconds in (
        ("fib", 5, "fib", 216, 2_153_374),
        ("main", 18, "fib", 1, 2_142_600),
        ("main", 21, "total", 20, 101_566),
        ("main", 21, "fib", 20, 325_680),
        ("<module>", 24, "main", 1, 2_249_718),
    ):
        file.call_dict[(code[caller], line, code[callee])] = [file, hits, nanoseconds / 1e9]
    gone = timing(profile, "gone.py")
    gone.line_dict[3][code["Table"]] = [3, 1_500 / 1e9]
    profile.total_time = (1_250 + 391_007 + 2_136_681 + 71_525 + 25_272 + 192_403 + 26_226 + 1_500) / 1e9
    return profile


def samples():
    profile = pprofile.Profile()
    code = codes("loop.py")
    file = timing(profile, "loop.py")
    for line, hits in ((6, 4), (7, 11)):
        file.line_dict[line][code["spin"]] = [hits, 0]
    file.line_dict[12][code["main"]] = [1, 0]
    file.call_dict[(code["main"], 13, code["spin"])] = [file, 15, 0]
    file.call_dict[(code["<module>"], 16, code["main"])] = [file, 16, 0]
    profile.total_time = 0.16
    return profile


{"counts": counts, "samples": samples}[sys.argv[1]]().annotate(sys.stdout)
