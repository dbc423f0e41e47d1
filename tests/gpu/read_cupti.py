"""Reads .cupti files without Sonde: what each holds, in a few lines. read_cupti.py FOLDER_OR_FILE... [--json OUT]

An independent second reader: it knows the layout from src/trace/cupti_file.hpp and nothing else.
"""

import json
import os
import struct
import sys

HEADER = 64 * 1024
KINDS = {1: "copy", 2: "set", 4: "driver", 5: "runtime", 9: "context", 10: "kernel", 17: "overhead", 22: "peer copy",
         37: "stream", 38: "sync", 49: "memory", 50: "pool", 51: "graph"}
STATES = ["starting", "collecting", "failed", "yielded", "full"]


def text(data):
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")


def read_header(data):
    out = {}
    (out["version"], out["pid"], out["cupti"], out["driver"], out["clock"], state) = struct.unpack_from("<6I", data, 8)
    out["state"] = STATES[state] if state < len(STATES) else state
    out["reason"] = text(data[32:288])
    out["library"] = text(data[288:544])
    out["other_tool"] = text(data[544:608])
    out["other_seen"], out["helper"] = struct.unpack_from("<2I", data, 608)
    names = ["other_from", "other_until", "started", "dropped", "refused", "lost_names", "file_bytes", "max_bytes"]
    out.update(zip(names, struct.unpack_from("<8Q", data, 616)))
    names = ["full_reason", "clean_end", "whole_graphs", "left_out_calls", "devices"]
    out.update(zip(names, struct.unpack_from("<5I", data, 680)))
    sizes = struct.unpack_from("<128I", data, 704)
    out["sizes"] = {i: size for i, size in enumerate(sizes) if size}
    first = 704 + 512
    out["device_names"] = [text(data[first + 256 * i : first + 256 * i + 96]) for i in range(out["devices"])]
    return out


def read_file(path):
    with open(path, "rb") as file:
        data = file.read()
    header = read_header(data)
    names, addresses, calls = {}, {}, {}
    blocks = []
    at = HEADER
    while at + 64 <= len(data):
        magic, kind, state, _, size, used, sequence, records = struct.unpack_from("<4I4Q", data, at)
        if magic != 0x4B434C42 or size < 4096:
            at += 4096
            continue
        if kind == 2:
            entry = at + 64
            while entry + 24 <= min(at + size, len(data)):
                key, what, length, ident, _ = struct.unpack_from("<Q4I", data, entry)
                if ident == 0:
                    break
                value = text(data[entry + 24 : entry + 24 + length])
                if what == 1:
                    names[ident] = value
                    addresses[key] = value
                else:
                    calls[(what, key)] = value
                entry += (24 + length + 7) // 8 * 8
        elif state:
            blocks.append((sequence if state == 2 else 1 << 60, at + 64, used if state == 2 else size - 64, state))
        at += size
    header["blocks"] = {"returned": sum(b[3] == 2 for b in blocks), "lent": sum(b[3] == 1 for b in blocks)}
    counts, kernels, functions, irregular = {}, {}, {}, 0
    spans, salvaged, unfinished = [], 0, 0
    for _, start, used, state in sorted(blocks):
        position, end = start, min(start + used, len(data))
        while position + 8 <= end:
            (word,) = struct.unpack_from("<I", data, position)
            kind = word & 0x7FFFFFFF
            size = header["sizes"].get(kind)
            if not size or position + size > end:
                irregular += state == 2 or kind != 0
                break
            if word != kind:
                unfinished += 1
                position += size
                continue
            salvaged += state == 1
            counts[kind] = counts.get(kind, 0) + 1
            if kind in (10, 1, 2, 22):
                begin, stop = struct.unpack_from("<2Q", data, position + 16)
                if kind == 10:
                    (name,) = struct.unpack_from("<Q", data, position + 104)
                    name = (names if state == 2 else addresses).get(name, "(unknown)")
                    correlation, stream = struct.unpack_from("<I", data, position + 92)[0], struct.unpack_from("<I", data, position + 48)[0]
                else:
                    name = KINDS[kind]
                    correlation, stream = struct.unpack_from("<I", data, position + (60 if kind == 22 else 44))[0], struct.unpack_from("<I", data, position + 40)[0]
                entry = kernels.setdefault(name, [0, 0])
                entry[0] += 1
                entry[1] += stop - begin
                spans.append((begin, stop, name, correlation, stream))
            elif kind in (4, 5):
                (function,) = struct.unpack_from("<I", data, position + 4)
                name = calls.get((2 if kind == 5 else 3, function), f"{KINDS[kind]} {function}")
                functions[name] = functions.get(name, 0) + 1
            position += size
    header.update(counts={KINDS.get(k, k): n for k, n in counts.items()}, kernels=kernels, functions=functions,
                  irregular=irregular, salvaged=salvaged, unfinished=unfinished)
    header["incomplete"] = sum(stop == 0 for _, stop, _, _, _ in spans)
    return header


def main():
    files = []
    arguments = sys.argv[1:]
    out = None
    if "--json" in arguments:
        at = arguments.index("--json")
        out = arguments[at + 1]
        del arguments[at : at + 2]
    for name in arguments:
        if os.path.isdir(name):
            files += sorted(os.path.join(name, entry) for entry in os.listdir(name) if entry.endswith(".cupti"))
        else:
            files.append(name)
    if not files:
        print("  no .cupti file")
    result = {}
    for path in files:
        facts = read_file(path)
        result[path] = facts
        line = {key: facts[key] for key in ("state", "cupti", "clean_end", "dropped", "refused", "lost_names", "other_seen",
                                            "irregular", "salvaged", "unfinished", "incomplete", "left_out_calls", "clock")}
        print(f"  {os.path.basename(path)} ({os.path.getsize(path)} bytes, {os.stat(path).st_blocks * 512} on disk)")
        print("   ", line, facts["blocks"], facts["device_names"])
        if facts["reason"] or facts["other_tool"]:
            print("    reason:", facts["reason"], "| other tool:", facts["other_tool"])
        print("    library:", facts["library"], "sizes:", facts["sizes"])
        print("    records:", facts["counts"])
        top = sorted(facts["kernels"].items(), key=lambda entry: -entry[1][1])[:6]
        print("    device:", sum(n for n, _ in facts["kernels"].values()), "pieces of work,", len(facts["kernels"]), "names;",
              "; ".join(f"{n}x {name[:40]}" for name, (n, _) in top))
        calls = sorted(facts["functions"].items(), key=lambda entry: -entry[1])[:8]
        print("    calls:", "; ".join(f"{n}x {name}" for name, n in calls))
    if out:
        with open(out, "w") as file:
            json.dump(result, file)


main()
