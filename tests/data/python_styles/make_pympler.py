"""Prints the tables of pympler and the numbers that are in them.

Run anywhere: python3 make_pympler.py FOLDER
"""
import contextlib
import sys

from pympler import muppy, summary, tracker

folder = sys.argv[1] + "/"
before = summary.summarize(muppy.get_objects())
kept = [{"row": [row, str(row)]} for row in range(3000)]
text = "x" * 2_500_000
after = summary.summarize(muppy.get_objects())
after.append(["größer", 1025, 1024])


def write(name, rows):
    with open(folder + name, "w", encoding="utf-8") as out:
        for kind, count, size in rows:
            out.write(f"{count}\t{size}\t{kind}\n")


def table(name, function, *arguments, **options):
    with open(folder + name, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
        function(*arguments, **options)


# Rows of the same size come in any order in a difference: one of each stays.
def distinct(difference):
    sizes = set()
    return {row[0] for row in difference if not (row[2] in sizes or sizes.add(row[2]))}


everything = sorted(after, key=lambda row: row[0])[::9][:40] + after[-1:]
write("all.objects.tsv", everything)
table("all.pympler.txt", summary.print_, everything)
table("all.pympler_count.txt", summary.print_, everything, limit=5, sort="#", order="ascending")
names = distinct(summary.get_diff(before, after))
before = [row for row in before if row[0] in names]
after = [row for row in after if row[0] in names]
write("before.objects.tsv", before)
write("after.objects.tsv", after)
table("difference.pympler.txt", tracker.SummaryTracker(False).print_diff, before, after)
