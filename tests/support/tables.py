"""Reads .tables files: a second reader, written from src/trace/tables/format.hpp alone."""

import collections
import glob
import os
import struct

BLOCK = 64 * 1024
ROWS = {
    2: ("Property", "<II", "key value"),
    3: ("Thread", "<II", "thread name"),
    4: ("Code", "<IIIIiI", "id name qualified_name file first_line flags"),
    5: ("Function", "<IIQQQQ", "code thread calls recursive_calls self_ticks total_ticks"),
    6: ("Call", "<IIIIQQQQ", "caller callee thread reserved calls recursive_calls self_ticks total_ticks"),
    7: ("Line", "<IiIIQQ", "code line thread reserved hits ticks"),
    8: ("Frame", "<IIIi", "id caller code line"),
    14: ("OpenCall", "<IIQQIIQ", "caller callee start_ticks inner_ticks thread reserved writer"),
}


class Tables:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        (magic, version, block, self.pid, self.clean_end, blocks, self.max_bytes, self.dropped_rows,
         self.drop_reason, _) = struct.unpack_from("<8sIIIIQQQII", data)
        assert magic == b"SONDETAB" and version == 1 and block == BLOCK, path
        self.path = path
        self.texts = {}
        self.rows = collections.defaultdict(list)
        for index in range(1, blocks + 1):
            begin = index * BLOCK
            magic, table, row_bytes, rows = struct.unpack_from("<IIII", data, begin)
            if magic != 0x4B434C42:
                continue
            at = begin + 16
            if table == 1:
                end = at + rows
                while at < end:
                    number, size = struct.unpack_from("<II", data, at)
                    self.texts[number] = data[at + 8:at + 8 + size].decode()
                    at += 8 + (size + 7 & ~7)
            elif table in ROWS:
                name, layout, fields = ROWS[table]
                make = collections.namedtuple(name, fields)
                assert struct.calcsize(layout) <= row_bytes
                for row in range(rows):
                    self.rows[name].append(make(*struct.unpack_from(layout, data, at + row * row_bytes)))
        self.codes = {row.id: row for row in self.rows["Code"]}
        self.properties = {self.texts[r.key]: self.texts[r.value] for r in self.rows["Property"]}
        self.thread_names = {r.thread: self.texts[r.name] for r in self.rows["Thread"]}

    def label(self, code):
        """As cProfile has it: file, first line, name."""
        if code == 0:
            return None
        row = self.codes[code]
        return (self.texts[row.file], row.first_line, self.texts[row.name])

    def functions(self, thread=None):
        """label -> [calls, recursive calls, self ticks, total ticks]"""
        out = collections.defaultdict(lambda: [0, 0, 0, 0])
        for row in self.rows["Function"]:
            if thread is None or row.thread == thread:
                add(out[self.label(row.code)], row)
        return {label: sums for label, sums in out.items() if sums[0]}

    def calls(self, thread=None):
        """(caller, callee) -> as above"""
        out = collections.defaultdict(lambda: [0, 0, 0, 0])
        for row in self.rows["Call"]:
            if thread is None or row.thread == thread:
                add(out[self.label(row.caller), self.label(row.callee)], row)
        return {key: sums for key, sums in out.items() if sums[0]}

    def lines(self):
        """(file, line) -> [hits, ticks]"""
        out = collections.defaultdict(lambda: [0, 0])
        for row in self.rows["Line"]:
            sums = out[self.texts[self.codes[row.code].file], row.line]
            sums[0] += row.hits
            sums[1] += row.ticks
        return {key: sums for key, sums in out.items() if sums[0]}

    def open_calls(self):
        return [row for row in self.rows["OpenCall"] if row.start_ticks]


def add(sums, row):
    sums[0] += row.calls
    sums[1] += row.recursive_calls
    sums[2] += row.self_ticks
    sums[3] += row.total_ticks


def ticks_per_second(recording):
    """Of a .sonde file: exact, or from the first and the newest reading of two clocks."""
    with open(recording, "rb") as file:
        header = file.read(512)
    readings = [struct.unpack_from("<Qqq", header, 24 + 24 * i) for i in range(3)]
    slot = struct.unpack_from("<I", header, 96)[0]
    exact, guess = struct.unpack_from("<QQ", header, 104)
    first, latest = readings[0], readings[1 + (slot & 1)]
    if exact:
        return exact
    if latest[1] - first[1] < 10_000_000:
        return guess
    return (latest[0] - first[0]) * 1e9 / (latest[1] - first[1])


def read_run(folder):
    """The tables of every process of a run, by process id."""
    found = [Tables(path) for path in sorted(glob.glob(os.path.join(folder, "*.tables")))]
    return {tables.pid: tables for tables in found}
