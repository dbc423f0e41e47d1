"""Tables for notebooks, from the JSON that `sonde report` writes."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Dict, List, Optional

from . import _totals

# What columns are called, and how their numbers are written.
_TITLES = {
    "name": "Function",
    "function": "Function",
    "file": "File",
    "line": "Line",
    "calls": "Calls",
    "primitive_calls": "Primitive calls",
    "hits": "Hits",
    "self": "Self",
    "self_percent": "Self %",
    "total": "Total",
    "total_percent": "Total %",
    "per_hit": "Per hit",
    "function_percent": "Of function",
    "percent": "Share",
    "source": "Source",
}
# Columns that say nothing in a table that people read.
_HIDDEN = {"cost", "unit", "module"}
_STYLE = "text-align:%s;font-family:monospace;white-space:pre"


def _cell(key: str, value: Any, unit: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or isinstance(value, str):
        text = str(value)
        return os.path.basename(text) if key == "file" and os.sep in text else text
    if key == "line":
        return str(value)
    if "percent" in key:
        return "%.1f%%" % value
    if key.endswith("_ns") or (unit == "ns" and key in ("self", "total", "per_hit", "time")):
        return _totals.time_text(value / 1e9)
    if key.endswith("bytes") or (unit == "bytes" and key in ("self", "total", "per_hit", "increment")):
        return _totals.bytes_text(value)
    return "{:,}".format(value) if isinstance(value, int) else "%.3g" % value


def _table(rows: List[Dict[str, Any]]) -> str:
    keys: List[str] = []
    for row in rows:
        keys += [key for key in row if key not in keys and key not in _HIDDEN]
    # A column without a single value is left out.
    keys = [key for key in keys if any(row.get(key) not in (None, "") for row in rows)]
    out = ["<table>\n<thead><tr>"]
    for key in keys:
        title = _TITLES.get(key, key.replace("_", " ").capitalize())
        out.append('<th style="text-align:left">%s</th>' % html.escape(title))
    out.append("</tr></thead>\n<tbody>\n")
    for row in rows:
        out.append("<tr>")
        for key in keys:
            value = row.get(key)
            text = html.escape(_cell(key, value, str(row.get("unit", ""))))
            side = "left" if isinstance(value, str) else "right"
            hover = ' title="%s"' % html.escape(value, True) if key == "file" and isinstance(value, str) else ""
            out.append('<td style="%s"%s>%s</td>' % (_STYLE % side, hover, text))
        out.append("</tr>\n")
    out.append("</tbody>\n</table>")
    return "".join(out)


def of_report(report: str, headline: Optional[str] = None) -> str:
    """The tables of a report in JSON as HTML. Texts from the program are escaped."""
    facts = json.loads(report)
    out = []
    if headline:
        out.append("<p>%s</p>" % html.escape(headline))
    for key, value in facts.items():
        rows = value if isinstance(value, list) else None
        if rows and isinstance(rows[0], dict) and key != "losses":
            out.append(_table(rows))
    for key in ("notes", "losses"):
        for note in facts.get(key) or ():
            text = note if isinstance(note, str) else str(note.get("sentence") or note.get("description") or note)
            out.append("<p>%s</p>" % html.escape(text))
    return '<div class="sonde">%s</div>' % "\n".join(out)
