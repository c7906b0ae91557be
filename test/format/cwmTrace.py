"""Traces the main thread of programs and prints their events.

Reads one JSON object a line: `source`, `entry` and `name`. With an entry, a call as Python source, the module's
code is not traced; `name` is the module's `__name__`. Prints one JSON object a program: its events, and `how` it
ended. Frames are numbered, so that the resumptions of generators can be told from new calls. No code of the
programs is called for the values.
"""

import io
import json
import re
import sys

MAX_EVENTS = 3000
PATH = "<program>"


def show(value, name, depth=0):
    kind = type(value)
    if depth > 6:
        return "..."
    if kind in (int, float, complex, bool, str, bytes, type(None), type(...), range):
        return repr(value)

    def inner(item):
        return show(item, name, depth + 1)

    if kind is list:
        return "[" + ", ".join(map(inner, value)) + "]"
    if kind is tuple:
        return "(" + ", ".join(map(inner, value)) + ("," if len(value) == 1 else "") + ")"
    if kind is set:
        return "{" + ", ".join(map(inner, value)) + "}" if value else "set()"
    if kind is frozenset:
        return "frozenset({" + ", ".join(map(inner, value)) + "})" if value else "frozenset()"
    if kind is dict:
        return "{" + ", ".join(inner(k) + ": " + inner(v) for k, v in value.items()) + "}"
    if isinstance(value, BaseException):
        return kind.__name__ + "(" + ", ".join(map(inner, value.args)) + ")"
    text = object.__repr__(value) if kind.__module__ == name else repr(value)
    text = re.sub(r"((?:started|stopped)(?: daemon)?) \d+", r"\1", text)
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r" from '[^']*'>", ">", text))


def trace(source, entry, name):
    code = compile(source, PATH, "exec")
    events, numbers = [], {}

    def record(frame, event, arg):
        if frame.f_code.co_filename != PATH or (entry and frame.f_code is code):
            return None
        if event == "call" and frame not in numbers:
            numbers[frame] = len(numbers)
        depth, outer = 0, frame.f_back
        while outer:
            depth += outer.f_code.co_filename == PATH
            outer = outer.f_back
        shown = {key: show(value, name) for key, value in frame.f_locals.items()}
        if frame.f_code is code:
            shown = {key: value for key, value in shown.items() if not (key[:2] == key[-2:] == "__")}
        row = {"ev": event, "fn": frame.f_code.co_name, "line": frame.f_lineno, "depth": depth}
        row |= {"frame": numbers.get(frame, -1), "locals": shown}
        if event == "return":
            row["arg"] = show(arg, name)
        if event == "exception":
            kind, error = arg[0], arg[1]
            is_whole = isinstance(error, BaseException)
            row["arg"] = show(error, name) if is_whole else kind.__name__ + "(" + show(error, name) + ")"
        events.append(row)
        if len(events) >= MAX_EVENTS:
            sys.settrace(None)
            raise KeyboardInterrupt
        return record

    space = {"__name__": name, "__builtins__": __builtins__}
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
    return {"rows": events, "how": how}


out, sys.stdout = sys.stdout, io.StringIO()
for line in sys.stdin.read().splitlines():
    try:
        result = trace(**json.loads(line))
    except BaseException as error:
        result = {"rows": [], "how": repr(error)}
    sys.stdout.truncate(0)
    out.write(json.dumps(result) + "\n")
