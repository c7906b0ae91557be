"""Runs a program and tells, at each of its line events, the attributes of the objects that its locals are.

Usage: python3 -I realAttributes.py PROGRAM. One JSON object a line: {"function", "line", "objects": {name: {attribute:
description}}}. Values are described without calling code of the program's.
"""

import json
import sys
from collections import deque

path = sys.argv[1]
with open(path) as file:
    code = compile(file.read(), path, 'exec')
namespace = {'__name__': '__main__'}
rows = []


def is_own(value):
    return type(value).__module__ == '__main__'


def describe(value, depth=0):
    if is_own(value):
        return f'<{type(value).__qualname__} object>'
    if isinstance(value, type):
        return f"<class '{value.__qualname__}'>"
    kind = type(value)
    if depth > 8:
        return '...'
    if kind is list:
        return '[' + ', '.join(describe(item, depth + 1) for item in value) + ']'
    if kind is deque:
        return 'deque([' + ', '.join(describe(item, depth + 1) for item in value) + '])'
    if kind is tuple:
        items = ', '.join(describe(item, depth + 1) for item in value)
        return f'({items},)' if len(value) == 1 else f'({items})'
    if kind is dict:
        return '{' + ', '.join(f'{describe(k, depth + 1)}: {describe(v, depth + 1)}' for k, v in value.items()) + '}'
    if kind in (int, float, str, bool, type(None), bytes, set, frozenset, range):
        return repr(value)
    return f'<{kind.__name__}>'


def attributes(value):
    names = dict(getattr(value, '__dict__', {}))
    for at in type(value).__mro__:
        slots = at.__dict__.get('__slots__', ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith('__') and not name.endswith('__'):
                name = f'_{at.__name__.lstrip("_")}{name}'
            try:
                names[name] = object.__getattribute__(value, name)
            except AttributeError:
                pass
    return {name: describe(at) for name, at in names.items()}


def trace(frame, event, _):
    if frame.f_code.co_filename != path:
        return None
    if event == 'line':
        objects = {name: attributes(at) for name, at in frame.f_locals.items() if is_own(at)}
        rows.append({'function': frame.f_code.co_name, 'line': frame.f_lineno, 'objects': objects})
    return trace


sys.modules['__main__'].__dict__.update(namespace)
sys.settrace(trace)
try:
    exec(code, {'__name__': '__main__'})
except Exception:
    pass
sys.settrace(None)
for row in rows:
    sys.__stdout__.write(json.dumps(row) + '\n')
