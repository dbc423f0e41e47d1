"""Magics in a notebook that is executed for real."""

import importlib.util
import json
import os
import re
import unittest

from support import Case, main, needs_memory, needs_reader, python

HAVE = all(importlib.util.find_spec(name) is not None for name in ("nbconvert", "ipykernel"))


def cell(number, source):
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "cell-%d" % number,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


@unittest.skipUnless(HAVE, "nbconvert and ipykernel are not installed for this interpreter")
class Notebook(Case):
    def execute(self, *sources, allow_errors=False):
        """The outputs of each cell: streams as text, and what was displayed, by its type."""
        notebook = {
            "cells": [cell(number, source) for number, source in enumerate(sources)],
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        self.write("book.ipynb", json.dumps(notebook))
        words = ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "book.ipynb"]
        if allow_errors:
            words.append("--allow-errors")
        result = python(*words, cwd=self.folder, HOME=self.folder, PYTHONWARNINGS="ignore", timeout=110)
        self.assertEqual(result.status, 0, result)
        with open(self.path("done.ipynb"), encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        return [[self.flat(output) for output in cell["outputs"]] for cell in cells]

    @staticmethod
    def flat(output):
        out = {"type": output["output_type"]}
        if "text" in output:
            out["text"] = "".join(output["text"])
        if "ename" in output:
            out["error"] = output["ename"]
        for kind, value in output.get("data", {}).items():
            out[kind] = "".join(value)
        return out

    def shown(self, outputs):
        (found,) = [output for output in outputs if output["type"] == "display_data"]
        return found["text/plain"], found["text/html"]

    @needs_reader
    @needs_memory
    def test_magics(self):
        outputs = self.execute(
            "%load_ext sonde",
            "def square(x):\n    y = x * x\n    return y\n",
            "%%sonde -n 0\nvalues = [square(i) for i in range(7)]\nprint('inside')\nsum(values)",
            "%%sonde_lines\nfor i in range(9):\n    square(i)",
            "%%sonde_memory\nlarge = bytearray(64 * 1024 * 1024)\nlarge[::4096] = b'x' * len(large[::4096])\ndel large",
            "%sonde -n 0 square(3)",
            "%sonde_lines -n 0 [square(i) for i in range(4)]",
            "%sonde -r -o kept square(5)",
            "_.path",
        )
        text, html = self.shown(outputs[2])
        self.assertRegex(text, r"^Wall [0-9.]+ [mun]?s, CPU [0-9.]+ [mun]?s, peak memory [0-9.]+ MiB")
        self.assertRegex(text, r"square .* 7 ")
        self.assertIn("<table>", html)
        self.assertRegex(html, r"<td[^>]*>square</td>.*<td[^>]*>7</td>")
        self.assertIn({"type": "stream", "text": "inside\n"}, outputs[2])
        self.assertEqual([output["text/plain"] for output in outputs[2] if output["type"] == "execute_result"], ["91"])

        text, html = self.shown(outputs[3])
        self.assertRegex(text, r"square")
        hits = [int(found) for found in re.findall(r"\.py +\d+ +(\d+) ", text)]
        self.assertEqual(sorted(hits), [9, 9, 9, 10], text)

        text, html = self.shown(outputs[4])
        grown = float(re.search(r"peak memory [^(]*\(\+([0-9.]+) MiB\)", text).group(1))
        self.assertTrue(60 <= grown <= 200, text)
        self.assertRegex(text, r"\b[12] .*6[0-9]\.\d+ MiB|6[0-9]\.\d+ MiB", text)

        text, html = self.shown(outputs[5])
        self.assertRegex(text, r"square .* 1 ")
        self.assertEqual([output["text/plain"] for output in outputs[5] if output["type"] == "execute_result"], ["9"])
        text, html = self.shown(outputs[6])
        self.assertIn("square", text)
        self.assertEqual([output["type"] for output in outputs[7]], ["execute_result"])
        self.assertEqual(outputs[8][0]["text/plain"], repr(self.path("kept")))
        self.assertIn("run.json", os.listdir(self.path("kept")))

    def test_errors_and_empty_lines(self):
        outputs = self.execute(
            "%load_ext sonde",
            "%%sonde\ndef wrong():\n    raise KeyError('x')\nwrong()",
            "%%sonde\nlater = 5",
            "later",
            "%sonde",
            "%%sonde\nimport asyncio\nawait asyncio.sleep(0)",
            "%%sonde\nthis is no Python",
            "%%sonde --nonsense\n1",
            "import sonde\nwith sonde.profile(functions=False) as p:\n    await __import__('asyncio').sleep(0.01)\np.totals.wall > 0.005",
            allow_errors=True,
        )
        self.assertEqual([output["error"] for output in outputs[1] if "error" in output], ["KeyError"])
        self.assertTrue([output for output in outputs[1] if output["type"] == "display_data"], "no report")
        self.assertEqual(outputs[3][0]["text/plain"], "5")
        self.assertIn("nothing to run", outputs[4][0]["text"])
        self.assertIn("'await'", outputs[5][0]["text"])
        self.assertEqual(outputs[6][0]["error"], "SyntaxError")
        self.assertIn("nonsense", json.dumps(outputs[7]))
        self.assertEqual(outputs[8][0]["text/plain"], "True")


if __name__ == "__main__":
    main()
