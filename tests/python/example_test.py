"""examples/train.py: a small network in plain Python."""

import os
import sys

from support import PROGRAM, ROOT, Case, Events, main, python, run, tables

TRAIN = os.path.join(ROOT, "examples", "train.py")


class Example(Case):
    def test_loss_falls_with_and_without_recording(self):
        plain = python(TRAIN, "40", "16", cwd=self.folder)
        self.assertEqual(plain.status, 0, plain)
        self.assertIn("loss fell from", plain.out)
        self.assertIn("Perf Summary", plain.err)
        recorded = python("-m", "sonde", "-q", "-o", "run", TRAIN, "40", "16", cwd=self.folder)
        self.assertEqual((recorded.status, recorded.out), (0, plain.out))
        (table,) = tables(self.path("run"))
        # Three layers, 16 points, 40 steps.
        self.assertEqual(table.calls("update"), 40 * 4)
        self.assertEqual(table.calls("load"), 40)
        self.assertGreater(table.calls("<built-in method math.tanh>"), 40 * 16)

    def test_steps_and_phases(self):
        python("-m", "sonde", "-q", "-o", "run", TRAIN, "24", "16", cwd=self.folder)
        summary = run([PROGRAM, "report", "run"], cwd=self.folder)
        self.assertIn("Steps     24 (0 to 23)", summary.out, summary)
        events = Events(self.path("run"))
        for name in ("load", "forward", "backward", "update"):
            self.assertEqual(len(events.slices(name)), 24, name)
        self.assertEqual(len(events.counters("loss")), 24)
        self.assertEqual(len(events.counters("batch_cost")), 24)

    def test_under_sonde_run(self):
        result = run([PROGRAM, "run", "--quiet", "-o", "run", "--", sys.executable, TRAIN, "24", "16"], cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(len(Events(self.path("run")).slices("forward")), 24)


if __name__ == "__main__":
    main()
