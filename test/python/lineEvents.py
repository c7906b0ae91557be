"""Runs source files, or their doctests, and prints what happened in their frames, as JSON lines.

Usage: lineEvents.py (run|doctest) FILE...
Each row tells a code object and what was seen in its frames: pairs of lines of consecutive line events, lines of
first line events, lines of call and return events, and the names of locals.
"""

import contextlib
import doctest
import importlib.util
import io
import json
import os
import sys
import types

MOST_EVENTS = 200_000


def trace_file(path, run):
    seen = {}
    last_lines = {}
    count = 0

    def tracer(frame, event, arg):
        nonlocal count
        code = frame.f_code
        if code.co_filename != path:
            return None
        count += 1
        if count > MOST_EVENTS:
            return None
        key = (code.co_qualname, 0 if code.co_name == "<module>" else code.co_firstlineno)
        unit = seen.setdefault(
            key, {"pairs": set(), "entries": set(), "calls": set(), "returns": set(), "names": set()}
        )
        line = frame.f_lineno
        if code.co_name != "<module>":
            unit["names"].update(frame.f_locals)
        if event == "call":
            unit["calls"].add((line, frame in last_lines))
        elif event == "line":
            before = last_lines.get(frame)
            if before is None:
                unit["entries"].add(line)
            else:
                unit["pairs"].add((before, line))
            last_lines[frame] = line
        elif event == "return" and line is not None:
            unit["returns"].add(line)
        return tracer

    sys.settrace(tracer)
    try:
        run()
    except BaseException as error:
        print(f"{path}: {error!r}", file=sys.stderr)
    finally:
        sys.settrace(None)
    for (name, call_line), unit in seen.items():
        row = {key: sorted(values) for key, values in unit.items()}
        print(json.dumps({"path": path, "qualifiedName": name, "callLine": call_line, **row}), file=OUTPUT)


def run_file(path):
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    return lambda: exec(code, module.__dict__)


def run_doctests(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    finder = doctest.DocTestFinder()
    tests = finder.find(module)
    # doctest's runner would put its own tracing in place of ours.
    def run():
        for test in tests:
            for example in test.examples:
                with contextlib.suppress(Exception):
                    exec(compile(example.source, "<doctest>", "single"), test.globs)

    return run


OUTPUT = sys.stdout
prepare = {"run": run_file, "doctest": run_doctests}[sys.argv[1]]
for path in sys.argv[2:]:
    with contextlib.redirect_stdout(io.StringIO()):
        trace_file(path, prepare(path))
