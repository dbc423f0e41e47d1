"""Programs under the preloaded library: what they do is unchanged, what is counted is right.

    check_programs.py LIBRARY CHILD
"""

import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

from read_tables import read

LIBRARY, CHILD = sys.argv[1:3]
MIB = 1024 * 1024


def environment(folder, gap):
    return dict(os.environ, LD_PRELOAD=LIBRARY, SONDE_RUN_DIR=folder, SONDE_MEMORY_LINES=str(gap))


def sites_of(table, function):
    return [site for site in table["sites"] if any(frame["name"] == function for frame in site["stack"])]


def total(sites, field):
    return sum(site[field] for site in sites)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sonde-memory-")
        self.addCleanup(shutil.rmtree, self.folder)

    def tables(self):
        return [read(path) for path in sorted(glob.glob(self.folder + "/*.memory"))]

    def run_child(self, gap, *arguments):
        result = subprocess.run([CHILD, *arguments], env=environment(self.folder, gap), timeout=120)
        self.assertEqual(result.returncode, 0)
        tables = self.tables()
        own = [table for table in tables if sites_of(table, "known_peak")]
        self.assertEqual(len(own), 1)
        return own[0], [table for table in tables if table is not own[0]]


class Numbers(Folder):
    def test_exact(self):
        own, children = self.run_child(0)
        self.assertEqual(own["clean"], 1)
        self.assertEqual(own["properties"]["memory.method"], "every allocation")

        leak = sites_of(own, "known_leak")
        self.assertEqual(total(leak, "allocations"), 1)
        self.assertEqual(total(leak, "allocated_bytes"), 10 * MIB)
        self.assertEqual(total(leak, "freed_bytes"), 0)
        self.assertEqual(total(leak, "peak_bytes"), 10 * MIB)

        peak = sites_of(own, "known_peak")
        self.assertEqual([total(peak, field) for field in ("allocated_bytes", "freed_bytes", "peak_bytes")], [20 * MIB] * 3)

        churn = sites_of(own, "known_churn")
        self.assertEqual(total(churn, "allocations"), 40000)
        self.assertEqual(total(churn, "allocated_bytes"), 40000 * 1000)
        self.assertEqual(total(churn, "freed_bytes"), 40000 * 1000)
        self.assertEqual(total(churn, "peak_bytes"), 0)

        moved = sites_of(own, "known_realloc")
        self.assertEqual(total(moved, "allocations"), 7)
        self.assertEqual(total(moved, "allocated_bytes"), 127 * 64 * 1024)
        self.assertEqual(total(moved, "freed_bytes"), 127 * 64 * 1024)

        aligned = sites_of(own, "known_aligned")
        self.assertEqual(total(aligned, "allocations"), 5)
        self.assertEqual(total(aligned, "allocated_bytes"), 5 * MIB)
        self.assertEqual(total(aligned, "freed_bytes"), 5 * MIB)

        self.assertEqual(len(children), 2)
        for child in children:
            self.assertEqual(total(sites_of(child, "known_leak"), "allocated_bytes"), 3 * MIB)
            self.assertEqual(total(sites_of(child, "known_churn"), "allocations"), 1000)

    def test_samples(self):
        sums = {"known_churn": 0, "allocations": 0}
        rounds = 10
        for _ in range(rounds):
            for old in glob.glob(self.folder + "/*"):
                os.remove(old)
            own, _ = self.run_child(65536)
            leak = sites_of(own, "known_leak")
            # Far larger than the gap: seen for certain, and with its own size.
            self.assertAlmostEqual(total(leak, "allocated_bytes") / (10 * MIB), 1, delta=0.001)
            self.assertEqual(total(leak, "freed_bytes"), 0)
            self.assertAlmostEqual(total(sites_of(own, "known_peak"), "peak_bytes") / (20 * MIB), 1, delta=0.001)
            churn = sites_of(own, "known_churn")
            self.assertEqual(total(churn, "allocated_bytes"), total(churn, "freed_bytes"))
            sums["known_churn"] += total(churn, "allocated_bytes")
            sums["allocations"] += total(churn, "allocations")
        # 40 MB by 610 samples in each round: five standard deviations.
        self.assertAlmostEqual(sums["known_churn"] / (rounds * 40e6), 1, delta=5 / (rounds * 610) ** 0.5)
        self.assertAlmostEqual(sums["allocations"] / (rounds * 40000), 1, delta=5 / (rounds * 610) ** 0.5)

    def test_threads_and_forks(self):
        for gap in (0, 4096):
            for old in glob.glob(self.folder + "/*"):
                os.remove(old)
            own, children = self.run_child(gap, "threads")
            churn = sites_of(own, "known_churn")
            self.assertEqual(total(churn, "allocated_bytes"), total(churn, "freed_bytes"))
            self.assertAlmostEqual(total(churn, "allocations") / 180000, 1, delta=0.03 if gap else 0)
            self.assertEqual(len(children), 20)
            for child in children:
                self.assertEqual(total(sites_of(child, "known_leak"), "allocated_bytes") // MIB, 3)


class Harmless(Folder):
    """200 programs end as they do without the library, and say the same."""

    def test_random_programs(self):
        chance = random.Random(20)
        words = ["sh", "-c"]
        shell = [
            "ls /usr /etc | sort | uniq -c | tail -{n}",
            "for i in 1 2 3 4 5 6 7 8 9; do echo $i | sed s/$i/x/; done",
            "seq {n}000 | awk '{{ s += $1; a[$1 % 97] = a[$1 % 97] $1 }} END {{ print s, length(a[5]) }}'",
            "seq {n}00 | sort -r | head -{n} | tr 1 2",
            "echo $(seq {n}) | wc -c",
            "(sleep 0.01; echo late) & wait; echo {n}",
            "find /usr/share/doc -maxdepth 1 -name 'l*{n}*' | sort",
            "printf '%s\\n' a b c | grep -c '[ab]'; exit {n}",
            "kill -TERM $$",
            "head -c {n}0000 /dev/zero | gzip -c | gzip -dc | cksum",
            "tar -cf - -C /etc/default . 2>/dev/null | tar -tf - | sort | head -{n}",
            "bash -c 'declare -A m; for i in $(seq {n}00); do m[$i]=$i$i; done; echo ${{#m[@]}} ${{m[7]}}'",
            "no-such-program-{n}",
            "env -i /bin/sh -c 'echo clean {n}'",
            "date -d @{n} -u",
            "od -An -c /bin/sh | head -{n}",
        ]
        perl = ["my %h; $h{$_ % 101} .= $_ for 1..{n}000; print length(join '', map $h{$_}, sort keys %h), qq(\\n)",
                "my @a = sort map $_ * 7 % 1009, 1..{n}00; print qq(@a[0..9]\\n); exit {n}"]
        python = ["print(sum(len(str(i)) for i in range({n}0000)))",
                  "import subprocess; print(subprocess.run(['echo', 'x' * {n}], capture_output=True).stdout)",
                  "import threading; t = [threading.Thread(target=lambda: bytearray({n} * 1000)) for _ in range({n})]; [x.start() for x in t]; [x.join() for x in t]; print(len(t))",
                  "import os; p = os.fork(); print('both', flush=True) if p else None; os.waitpid(p, 0) if p else os._exit({n})",
                  "import ctypes; ctypes.CDLL(None).malloc_trim(0); raise SystemExit({n})",
                  "import multiprocessing as m; print(m.get_context('fork').Pool(2).map(len, ['a' * {n}] * 5))"]
        for number in range(200):
            n = str(chance.randrange(1, 30))
            kind = chance.random()
            if kind < 0.7:
                command = words + [chance.choice(shell)]
            elif kind < 0.8 and shutil.which("perl"):
                command = ["perl", "-e", chance.choice(perl)]
            else:
                command = ["/usr/bin/env", "python3", "-S", "-c", chance.choice(python)]
            command[-1] = command[-1].replace("{n}", n).replace("{{", "{").replace("}}", "}")
            results = []
            gap = chance.choice([0, 4096, 524288])
            for env in (dict(os.environ), environment(self.folder, gap)):
                done = subprocess.run(command, env=env, capture_output=True, timeout=120)
                results.append((done.returncode, done.stdout, done.stderr))
            self.assertEqual(results[0], results[1], command)
        for table in self.tables():
            for site in table["sites"]:
                self.assertLessEqual(site["freed_bytes"], site["allocated_bytes"])

    def test_nothing_is_left_without_a_run(self):
        env = environment(self.folder, 0)
        del env["SONDE_RUN_DIR"]
        self.assertEqual(subprocess.run([CHILD], env=env, timeout=60).returncode, 0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_folder_that_cannot_be_written(self):
        env = environment(self.folder + "/none/of/these", 0)
        self.assertEqual(subprocess.run([CHILD], env=env, timeout=60).returncode, 0)

    def test_an_environment_that_is_being_built(self):
        env = environment(self.folder, 0)
        self.assertEqual(subprocess.run([CHILD, "environment"], env=env, timeout=60).returncode, 0)
        self.assertEqual(sum(total(sites_of(table, "known_leak"), "allocations") for table in self.tables()), 1)

    def test_small_programs_leave_no_file(self):
        subprocess.run(["/bin/true"], env=environment(self.folder, 524288), check=True)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
