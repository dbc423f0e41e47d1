"""Reads a .tables or .memory file, independently of Sonde's own reader. For tests.

    python3 read_tables.py FILE     prints what it holds as JSON
"""

import json
import struct
import sys

ROWS = {
    2: ("properties", "<II", ("key", "value")),
    4: ("codes", "<IIIIiI", ("id", "name", "qualified_name", "file", "first_line", "flags")),
    8: ("frames", "<IIIi", ("id", "caller", "code", "line")),
    10: ("sites", "<IIQQQQQ", ("frame", "memory", "allocations", "allocated_bytes", "frees", "freed_bytes", "peak_bytes")),
    11: ("memory_lines", "<IiQqqq", ("code", "line", "hits", "bytes", "increment", "peak")),
    12: ("snapshots", "<IIQ", ("id", "label", "time")),
    13: ("types", "<IIQQ", ("snapshot", "type", "count", "bytes")),
}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, block_bytes, pid, clean = struct.unpack_from("<8sIIII", data)
    assert magic == b"SONDETAB" and version == 1, (magic, version)
    (blocks,) = struct.unpack_from("<Q", data, 24)
    texts = {0: None}
    out = {name: [] for name, _, _ in ROWS.values()}
    for block in range(1, blocks + 1):
        at = block * block_bytes
        mark, table, row_bytes, rows = struct.unpack_from("<IIII", data, at)
        assert mark == 0x4B434C42
        at += 16
        if table == 1:
            end = at + rows
            while at < end:
                number, size = struct.unpack_from("<II", data, at)
                texts[number] = data[at + 8 : at + 8 + size].decode("utf-8")
                at += 8 + (size + 7) // 8 * 8
        elif table in ROWS:
            name, layout, fields = ROWS[table]
            for row in range(rows):
                out[name].append(dict(zip(fields, struct.unpack_from(layout, data, at + row * row_bytes))))
    codes = {}
    for code in out["codes"]:
        for field in ("name", "qualified_name", "file"):
            code[field] = texts[code[field]]
        codes[code["id"]] = code
    frames = {frame["id"]: frame for frame in out["frames"]}

    def stack(number):
        found = []
        while number:
            frame = frames[number]
            code = codes[frame["code"]]
            found.append({"file": code["file"], "name": code["name"], "line": frame["line"]})
            number = frame["caller"]
        return found  # the innermost one first

    return {
        "clean": clean,
        "pid": pid,
        "properties": {texts[row["key"]]: texts[row["value"]] for row in out["properties"]},
        "sites": [dict(row, stack=stack(row["frame"])) for row in out["sites"]],
        "memory_lines": [
            dict(row, file=codes[row["code"]]["file"], name=codes[row["code"]]["name"]) for row in out["memory_lines"]
        ],
        "snapshots": [
            {
                "label": texts[shot["label"]],
                "time": shot["time"],
                "types": {texts[row["type"]]: (row["count"], row["bytes"]) for row in out["types"] if row["snapshot"] == shot["id"]},
            }
            for shot in out["snapshots"]
        ],
    }


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout, indent=1)
