"""Traces a program's main thread and prints its events, one JSON object a line.

Usage: cwmTrace.py FILE ENTRY NAME. With an ENTRY, a call as Python source, the module's code is not traced. NAME is
the module's `__name__`. Frames are numbered, so that the resumptions of generators can be told from new calls.
No code of the program is called for the values.
"""

import io
import json
import re
import sys

MAX_EVENTS = 3000
path, entry, name = sys.argv[1:4]
with io.open(path, encoding="utf-8") as file:
    source = file.read()
code = compile(source, path, "exec")
events, keep, numbers = [], [], {}


def show(value, depth=0):
    kind = type(value)
    if depth > 6:
        return "..."
    if kind in (int, float, complex, bool, str, bytes, type(None), type(...), range):
        return repr(value)
    if kind in (list, tuple, set, frozenset):
        items = [show(item, depth + 1) for item in value]
        if kind is list:
            return "[" + ", ".join(items) + "]"
        if kind is tuple:
            return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
        if kind is set:
            return "{" + ", ".join(items) + "}" if items else "set()"
        return "frozenset({" + ", ".join(items) + "})" if items else "frozenset()"
    if kind is dict:
        return "{" + ", ".join(show(k, depth + 1) + ": " + show(v, depth + 1) for k, v in value.items()) + "}"
    if isinstance(value, BaseException):
        return kind.__name__ + "(" + ", ".join(show(a, depth + 1) for a in value.args) + ")"
    text = object.__repr__(value) if kind.__module__ == name else repr(value)
    text = re.sub(r"((?:started|stopped)(?: daemon)?) \d+", r"\1", text)
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r" from '[^']*'>", ">", text))


def record(frame, event, arg):
    if frame.f_code.co_filename != path:
        return None
    if entry and frame.f_code is code:
        return None
    if event == "call" and (frame not in numbers):
        numbers[frame] = len(numbers)
    depth, outer = 0, frame.f_back
    while outer:
        depth += outer.f_code.co_filename == path
        outer = outer.f_back
    locals_ = {k: show(v) for k, v in frame.f_locals.items()}
    if frame.f_code is code:
        locals_ = {k: v for k, v in locals_.items() if not (k.startswith("__") and k.endswith("__"))}
    row = {"ev": event, "fn": frame.f_code.co_name, "line": frame.f_lineno, "depth": depth, "frame": numbers.get(frame, -1)}
    row["locals"] = locals_
    if event == "return":
        row["arg"] = show(arg)
    if event == "exception":
        row["arg"] = show(arg[1]) if isinstance(arg[1], BaseException) else arg[0].__name__ + "(" + show(arg[1]) + ")"
    events.append(row)
    if len(events) >= MAX_EVENTS:
        sys.settrace(None)
        raise KeyboardInterrupt
    return record


space = {"__name__": name, "__builtins__": __builtins__}
out, sys.stdout = sys.stdout, io.StringIO()
how = "returned"
try:
    if entry:
        exec(code, space)
        call = compile(entry, "<entry>", "eval")
        sys.settrace(record)
        eval(call, space)
    else:
        sys.settrace(record)
        exec(code, space)
except KeyboardInterrupt:
    how = "cut"
except SystemExit:
    how = "exited"
except BaseException:
    how = "raised"
finally:
    sys.settrace(None)
for row in events:
    out.write(json.dumps(row) + "\n")
out.write(json.dumps({"how": how}) + "\n")
