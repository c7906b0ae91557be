"""Searches arguments for which a function gives a wanted result, by calling it again and again.

Started as `python3 -s inputSearch.py`; the job comes as one JSON object on standard input, what is found goes to
file descriptor 3, one JSON object a line:

    {"k": "start", "version": "3.11.7"}
    {"k": "failed", "reason": ..., "message": ..., "line": ...}      the search could not begin
    {"k": "progress", "tried": N, "closest": {"arguments": [...], "gives": ...}}
    {"k": "found", "arguments": [REPR, ...], "gives": REPR or "Type(arguments)", "tried": N}
    {"k": "end", "tried": N, "how": "enough" | "calls"}

How it searches
---------------
Arguments are literals. First those of the calls that are given are tried, then ones made of the literals in the function's code and of the parts of the wanted result. Then the best ones so far are
changed a little, again and again: how near one is, is the distance between what it gives and what is wanted; those
that reach a line of the function for the first time are kept too. Which types a parameter takes is guessed from
its annotation, its default and its uses, and learnt from the TypeErrors. The search is the same each time.
"""

# See tracer.py for why this line is here.
import sys

if __name__ == '__main__':
    del sys.path[0]

import ast
import copy
import json
import os
import random
import time

try:
    import resource
except ImportError:  # Windows, Pyodide
    resource = None
try:
    import signal
except ImportError:
    signal = None

MESSAGES_FD = 3

MAX_LINES_A_CALL = 5_000
SECONDS_A_CALL = 0.3
SECONDS_BETWEEN_PROGRESS = 0.5
MAX_SIZE = 60
"""How many items or characters an argument has at most."""
POPULATION = 60
SIMPLIFICATIONS = 300

LITERAL_TYPES = (int, float, bool, str, bytes, list, tuple, dict, set, type(None))


class OutOfTime(BaseException):
    """A call that goes on for too long."""


class Failed(Exception):
    def __init__(self, reason, message, line=None):
        super().__init__(message)
        self.said = {'k': 'failed', 'reason': reason, 'message': message, 'line': line}


def say(message):
    os.write(MESSAGES_FD, (json.dumps(message) + '\n').encode())


class NoOutput:
    """What the function writes goes nowhere."""

    encoding = 'utf-8'

    def write(self, text):
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


# ---------------------------------------------------------------------------------------------------------
# Results


def is_same(one, other):
    """Whether two values are equal, and of the same types: 1, 1.0 and True are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict):
        return (
            len(one) == len(other)
            and all(map(is_same, one, other))
            and all(is_same(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, set):
        return one == other and sorted(map(repr, one)) == sorted(map(repr, other))
    return one == other or repr(one) == repr(other)


def distance(one, other, depth=0):
    """How far apart two values are: 0 for the same, 1 and more for values of other types."""
    if type(one) is not type(other):
        if isinstance(one, (int, float)) and isinstance(other, (int, float)):
            return 0.5 + distance(float(one), float(other)) / 2
        if isinstance(one, (list, tuple, set)) and isinstance(other, (list, tuple, set)):
            return 0.5 + distance(list(one), list(other), depth) / 2
        return 2.0
    if is_same(one, other):
        return 0.0
    if isinstance(one, (bool, type(None))):
        return 0.9
    if isinstance(one, (int, float)):
        try:
            gap = abs(float(one) - float(other))
        except OverflowError:
            return 0.99
        return 0.05 + 0.9 * (gap / (gap + 10 + abs(float(other)))) if gap == gap else 0.99
    if isinstance(one, (str, bytes)):
        return 0.05 + 0.9 * edit_share(one[:200], other[:200])
    if isinstance(one, dict):
        one, other = list(one.items()), list(other.items())
    elif isinstance(one, set):
        missed = len(one ^ other) / max(1, len(one | other))
        return 0.05 + 0.9 * missed
    if depth > 4:
        return 0.9
    return 0.05 + 0.9 * sequence_distance(list(one), list(other), depth + 1)


def edit_share(one, other):
    """The Levenshtein distance as a share of the longer length."""
    longest = max(len(one), len(other))
    if longest == 0:
        return 0.0
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1] / longest


def sequence_distance(one, other, depth):
    longest = max(len(one), len(other))
    if longest == 0:
        return 0.0
    if longest <= 12:
        row = list(range(len(other) + 1))
        row = [float(value) for value in row]
        for i, a in enumerate(one, 1):
            before, row[0] = row[0], float(i)
            for j, b in enumerate(other, 1):
                step = min(1.0, distance(a, b, depth))
                before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + step)
        return row[-1] / longest
    shared = sum(min(1.0, distance(a, b, depth)) for a, b in zip(one[:60], other[:60]))
    return min(1.0, (shared + abs(len(one) - len(other))) / longest)


class Wanted:
    """A wanted result: a value or an exception."""

    def __init__(self, job):
        self.raises = job.get('raises')
        self.text = job.get('returns')
        self.value = None
        self.is_literal = False
        if self.raises is None:
            try:
                self.value = ast.literal_eval(self.text)
                self.is_literal = True
            except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                pass

    def distance(self, outcome):
        kind, value = outcome
        if self.raises is not None:
            if kind == 'raises':
                name, _, message = self.raises.partition(':')
                names = [base.__name__ for base in type(value).__mro__]
                if type(value).__name__ != name.strip():
                    return 0.6 if name.strip() in names else 0.8
                return 0.0 if not message or message.strip() in str(value) else 0.3
            return 1.0
        if kind == 'raises':
            return 4.0
        if self.is_literal:
            return distance(value, self.value)
        text = repr(value)
        return 0.0 if text == self.text else 0.1 + edit_share(text[:200], self.text[:200])

    def parts(self):
        if self.raises is not None or not self.is_literal:
            return []
        return list(parts_of(self.value))


def parts_of(value, depth=0):
    """A value, and literals that it is made of or that are made of it."""
    yield value
    if depth == 0:
        yield from ([value], (value,))
    if isinstance(value, str):
        yield from (value[::-1], value.lower(), value.upper(), value.swapcase(), value.strip(), value.split())
        yield from (list(value), value.split(','), value.replace(' ', ''))
        for word in value.split()[:6]:
            yield word
        try:
            yield int(value)
        except ValueError:
            pass
    elif isinstance(value, (list, tuple, set)):
        yield list(value)
        yield list(value)[::-1]
        yield tuple(value)
        if value and all(isinstance(item, str) for item in value):
            yield from (''.join(value), ' '.join(value), ','.join(value))
    elif isinstance(value, dict):
        yield from (list(value), list(value.values()), list(value.items()))
        try:
            yield {item: key for key, item in value.items()}
        except TypeError:
            pass
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
        if abs(value) < 40:
            yield list(range(int(abs(value))))
            yield 'a' * int(abs(value))
    if depth < 2:
        items = value.items() if isinstance(value, dict) else value
        if isinstance(value, (list, tuple, set, dict)):
            for item in list(items)[:8]:
                yield from parts_of(item, depth + 1)


# ---------------------------------------------------------------------------------------------------------
# What the sources say about the arguments

METHODS = {
    'str': 'split upper lower strip lstrip rstrip startswith endswith isdigit isalpha isupper islower replace join '
    'title capitalize swapcase encode zfill ljust rjust center find rfind rsplit partition rpartition splitlines '
    'isalnum isspace format casefold expandtabs translate istitle isnumeric isdecimal removeprefix removesuffix',
    'list': 'append extend insert remove pop sort reverse copy clear index count',
    'dict': 'items keys values get setdefault update popitem pop copy clear',
    'set': 'add discard union intersection difference issubset issuperset symmetric_difference',
    'bytes': 'decode hex',
    'int': 'bit_length',
    'float': 'is_integer',
}
METHOD_KINDS = {}
for kind, names in METHODS.items():
    for name in names.split():
        METHOD_KINDS.setdefault(name, []).append(kind)

KINDS = ('int', 'str', 'list', 'dict', 'float', 'bool', 'tuple', 'set', 'none', 'bytes')


def kind_of(value):
    if value is None:
        return 'none'
    return type(value).__name__


def find_function(tree, name):
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return node
    return None


class Uses(ast.NodeVisitor):
    """Votes for the types of a function's parameters."""

    def __init__(self, parameters):
        self.votes = {name: {} for name in parameters}
        self.items = {name: {} for name in parameters}

    def vote(self, node, kinds, weight=1.0):
        if isinstance(node, ast.Name) and node.id in self.votes:
            for kind in kinds:
                votes = self.votes[node.id]
                votes[kind] = votes.get(kind, 0) + weight / len(kinds)

    def visit_Attribute(self, node):
        kinds = METHOD_KINDS.get(node.attr)
        if kinds:
            self.vote(node.value, kinds, 3.0)
        self.generic_visit(node)

    def visit_For(self, node):
        self.vote(node.iter, ('list', 'str', 'tuple'), 1.5)
        self.generic_visit(node)

    def visit_comprehension(self, node):
        self.vote(node.iter, ('list', 'str', 'tuple'), 1.5)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            self.vote(node.value, ('dict',), 3.0)
        elif isinstance(key, ast.Slice):
            self.vote(node.value, ('list', 'str'), 1.5)
        else:
            self.vote(node.value, ('list', 'str', 'dict'), 1.0)
        self.vote(key, ('int', 'str'), 0.7)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(other, ast.Constant) and type(other.value) in (int, float, str, bytes):
                kinds = ('str', 'list', 'int') if isinstance(node.op, ast.Mult) else (kind_of(other.value),)
                self.vote(one, kinds, 1.5)
            else:
                self.vote(one, ('int', 'float') if not isinstance(node.op, (ast.Add, ast.Mult)) else ('int', 'str'), 0.5)
        self.generic_visit(node)

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        for operator, one, other in zip(node.ops, sides, sides[1:]):
            if isinstance(operator, (ast.In, ast.NotIn)):
                self.vote(other, ('str', 'list', 'dict'), 1.0)
                self.vote(one, ('str', 'int'), 0.5)
                continue
            for a, b in ((one, other), (other, one)):
                if isinstance(b, ast.Constant):
                    self.vote(a, (kind_of(b.value),), 1.5)
                elif isinstance(operator, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)):
                    self.vote(a, ('int', 'float'), 0.7)
        self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name):
            kinds = {
                'len': ('list', 'str', 'dict'),
                'range': ('int',),
                'sum': ('list',),
                'abs': ('int',),
                'ord': ('str',),
                'chr': ('int',),
                'enumerate': ('list', 'str'),
                'reversed': ('list', 'str'),
                'sorted': ('list', 'str', 'dict'),
                'int': ('str', 'int'),
                'max': ('list', 'int'),
                'min': ('list', 'int'),
            }.get(node.func.id)
            for argument in node.args:
                if kinds:
                    self.vote(argument, kinds, 1.0)
        elif isinstance(node.func, ast.Attribute):
            for argument in node.args:
                self.vote(argument, ('str', 'int', 'list'), 0.5)
        self.generic_visit(node)


def annotated_kinds(annotation):
    text = ast.unparse(annotation).lower()
    found = [kind for kind in KINDS if kind in text.split('[')[0]]
    if 'sequence' in text or 'iterable' in text:
        found.append('list')
    if 'mapping' in text:
        found.append('dict')
    return found


def weights_of(function, parameters):
    """For each parameter, how likely which type is."""
    uses = Uses(parameters)
    for statement in function.body:
        uses.visit(statement)
    weights = {}
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip([a.arg for a in plain[len(plain) - len(arguments.defaults):]], arguments.defaults))
    for argument in plain:
        if argument.arg not in parameters:
            continue
        known = dict(uses.votes[argument.arg])
        if argument.annotation is not None:
            for kind in annotated_kinds(argument.annotation):
                known[kind] = known.get(kind, 0) + 20
        default = defaults.get(argument.arg)
        if isinstance(default, ast.Constant):
            known[kind_of(default.value)] = known.get(kind_of(default.value), 0) + 2
        # Every type stays possible: uses only make some likelier.
        floor = {'int': 0.3, 'str': 0.3, 'list': 0.3, 'dict': 0.12}
        weights[argument.arg] = {kind: known.get(kind, 0) + floor.get(kind, 0.03) for kind in KINDS}
    return weights


def literal(node):
    try:
        value = ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return [value] if is_literal(value) else None


def is_literal(value):
    if not isinstance(value, LITERAL_TYPES):
        return False
    if isinstance(value, dict):
        return all(map(is_literal, value.keys())) and all(map(is_literal, value.values()))
    if isinstance(value, (list, tuple, set)):
        return all(map(is_literal, value))
    return True


def literals_in(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp)):
            found = literal(node)
            if found and len(repr(found[0])) < 500:
                yield found[0]


def arguments_of(call, parameters):
    """The literal arguments of a call, in the order of the function's parameters; None where it leaves any out."""
    try:
        node = ast.parse(call, mode='eval').body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(node, ast.Call):
        return None
    values = [literal(argument) for argument in node.args]
    named = {keyword.arg: literal(keyword.value) for keyword in node.keywords}
    if None in values or None in named.values() or len(values) > len(parameters):
        return None
    rest = parameters[len(values):]
    if len(rest) != len(named) or not all(parameter in named for parameter in rest):
        return None
    return [value[0] for value in values] + [named[parameter][0] for parameter in rest]


# ---------------------------------------------------------------------------------------------------------
# Making and changing arguments


class Material:
    """What arguments are made of, by type."""

    def __init__(self, values, chance):
        self.chance = chance
        self.pool = {kind: [] for kind in KINDS}
        seen = set()
        basic = [0, 1, 2, -1, 3, 5, 10, 0.0, 1.0, 0.5, 1.5, True, False, None, '', 'a', 'abc', 'hello', 'Hello World', b'']
        basic += [b'ab', [], [1], [1, 2, 3], ['a', 'b'], {}, {'a': 1}, {1: 2}, (), (1, 2), set(), {1, 2}]
        for value in [*values, *basic]:
            kind = kind_of(value)
            text = kind + repr(value)
            if kind in self.pool and text not in seen and size_of(value) <= MAX_SIZE:
                seen.add(text)
                self.pool[kind].append(value)
        letters = ''.join(self.pool['str'])
        self.alphabet = sorted(set(letters)) + list('abcxyzABC 019_-,.')

    def make(self, kind, depth=0):
        chance = self.chance
        pool = self.pool[kind]
        # What stands in the sources and the wanted result comes first.
        if pool and chance.random() < 0.6:
            return copy.deepcopy(pool[int(len(pool) * chance.random() ** 2)])
        if kind == 'int':
            return chance.randint(-20, 100) if chance.random() < 0.8 else chance.randint(-1000, 1000)
        if kind == 'float':
            return round(chance.uniform(-10, 100), chance.randint(0, 3))
        if kind == 'bool':
            return chance.random() < 0.5
        if kind == 'str':
            return ''.join(chance.choice(self.alphabet) for _ in range(chance.randint(0, 8)))
        if kind == 'bytes':
            return bytes(chance.randint(32, 126) for _ in range(chance.randint(0, 6)))
        if kind == 'none':
            return None
        items = [self.item(depth) for _ in range(chance.randint(0, 5))]
        if chance.random() < 0.8 and items:
            first = kind_of(items[0])
            items = [item if kind_of(item) == first else self.make(first, depth + 1) for item in items]
        if kind == 'list':
            return items
        if kind == 'tuple':
            return tuple(items)
        keys = [item for item in items if is_hashable(item)]
        return set(keys) if kind == 'set' else {key: self.item(depth) for key in keys}

    def item(self, depth):
        kinds = ('int', 'str') if depth > 1 else ('int', 'int', 'str', 'str', 'float', 'list', 'tuple', 'dict')
        return self.make(self.chance.choice(kinds), depth + 1)

    def change(self, value, depth=0):
        """A value near to another, of the same type."""
        chance = self.chance
        kind = kind_of(value)
        if chance.random() < 0.1 or kind == 'none':
            return self.make(kind, depth)
        if kind == 'bool':
            return not value
        if kind == 'int':
            step = chance.choice((1, -1, 1, -1, 2, -2, 10, -10, value, -value, -(value // 2), -2 * value))
            changed = value + step
            return changed if abs(changed) < 10**12 else value
        if kind == 'float':
            return round(value + chance.choice((1, -1, 0.5, -0.5, 0.1, -0.1, value, -value / 2)), 6)
        if kind == 'str':
            return self.change_text(value)
        if kind == 'bytes':
            at = chance.randint(0, len(value))
            return value[:at] + bytes([chance.randint(32, 126)]) + value[at + chance.randint(0, 1):]
        if kind == 'dict':
            return self.change_dict(value, depth)
        if kind == 'set':
            items = self.change_items(sorted(value, key=repr), depth)
            return {item for item in items if is_hashable(item)}
        items = self.change_items(list(value), depth)
        return tuple(items) if kind == 'tuple' else items

    def change_text(self, text):
        chance = self.chance
        at = chance.randint(0, len(text))
        way = chance.randint(0, 9)
        if way <= 2:
            return text[:at] + chance.choice(self.alphabet) + text[at:]
        if way <= 4:
            return text[:at] + text[at + 1:]
        if way == 5:
            return text[:at] + chance.choice(self.alphabet) + text[at + 1:]
        if way == 6:
            end = chance.randint(at, len(text))
            return text[:at] + text[end:]
        if way == 7 and self.pool['str']:
            return text[:at] + chance.choice(self.pool['str']) + text[at:]
        if way == 8:
            return chance.choice((text[::-1], text.swapcase(), text.upper(), text.lower(), text.strip()))
        if text:
            other = chance.randint(0, len(text) - 1)
            letters = list(text)
            at = min(at, len(text) - 1)
            letters[at], letters[other] = letters[other], letters[at]
            return ''.join(letters)
        return text

    def change_items(self, items, depth):
        chance = self.chance
        at = chance.randint(0, len(items))
        way = chance.randint(0, 9)
        if way <= 2 or not items:
            if items and chance.random() < 0.6:
                new = self.change(chance.choice(items), depth + 1) if chance.random() < 0.5 else chance.choice(items)
                new = copy.deepcopy(new)
            else:
                new = self.item(depth)
            return items[:at] + [new] + items[at:]
        at = min(at, len(items) - 1)
        if way <= 4:
            return items[:at] + items[at + 1:]
        if way <= 7:
            return items[:at] + [self.change(items[at], depth + 1)] + items[at + 1:]
        if way == 8:
            other = chance.randint(0, len(items) - 1)
            items[at], items[other] = items[other], items[at]
            return items
        if chance.random() < 0.5:
            return items[::-1]
        try:
            return sorted(items)
        except TypeError:
            return items

    def change_dict(self, value, depth):
        chance = self.chance
        pairs = list(value.items())
        way = chance.randint(0, 5)
        if way <= 1 or not pairs:
            like = pairs[0] if pairs and chance.random() < 0.7 else None
            key = self.make(kind_of(like[0]), depth + 1) if like else self.make(chance.choice(('str', 'int')), depth + 1)
            item = self.make(kind_of(like[1]), depth + 1) if like else self.item(depth)
            if is_hashable(key):
                pairs.insert(chance.randint(0, len(pairs)), (key, item))
        else:
            at = chance.randint(0, len(pairs) - 1)
            key, item = pairs[at]
            if way == 2:
                del pairs[at]
            elif way == 3:
                new = self.change(key, depth + 1)
                pairs[at] = (new if is_hashable(new) else key, item)
            else:
                pairs[at] = (key, self.change(item, depth + 1))
        return dict(pairs)


def is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def size_of(value):
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, dict):
        return 1 + sum(size_of(key) + size_of(item) for key, item in value.items())
    if isinstance(value, (list, tuple, set)):
        return 1 + sum(map(size_of, value))
    return 1


def simpler(value):
    """Values like one, but smaller."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        for other in (type(value)(0), type(value)(1), value / 2 if isinstance(value, float) else value // 2):
            if abs(other) < abs(value):
                yield other
        return
    if isinstance(value, (str, bytes, list, tuple)):
        yield value[:0]
        for at in range(min(len(value), 12)):
            yield value[:at] + value[at + 1:]
        if isinstance(value, (list, tuple)):
            for at, item in enumerate(value[:6]):
                for other in simpler(item):
                    yield value[:at] + type(value)([other]) + value[at + 1:]
    elif isinstance(value, dict):
        for key in list(value)[:12]:
            yield {other: item for other, item in value.items() if other != key}
    elif isinstance(value, set):
        for item in sorted(value, key=repr)[:12]:
            yield value - {item}


# ---------------------------------------------------------------------------------------------------------
# Calling


class Caller:
    """Calls the function, each time with copies of the arguments and within limits."""

    def __init__(self, function, code):
        self.function = function
        self.code = code
        self.lines = set()
        self.tried = 0

    def call(self, arguments):
        """What a call comes to, and whether it reached a line of the function for the first time."""
        self.tried += 1
        known = len(self.lines)
        left = MAX_LINES_A_CALL
        lines = self.lines
        own = self.code

        def on_line(frame, event, argument):
            nonlocal left
            if event == 'line':
                left -= 1
                if left < 0:
                    raise OutOfTime
                if frame.f_code is own:
                    lines.add(frame.f_lineno)
            return on_line

        try:
            copies = copy.deepcopy(arguments)
            alarm(SECONDS_A_CALL)
            sys.settrace(on_line)
            try:
                outcome = ('returns', self.function(*copies))
            finally:
                sys.settrace(None)
                alarm(0)
        except OutOfTime:
            outcome = ('late', None)
        except BaseException as error:
            outcome = ('raises', error)
        return outcome, len(lines) > known


def alarm(seconds):
    if signal is not None and hasattr(signal, 'setitimer'):
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def on_alarm(number, frame):
    raise OutOfTime


# ---------------------------------------------------------------------------------------------------------
# The search


class Search:
    def __init__(self, job, caller, wanted, parameters, weights, material, seeds):
        self.wanted = wanted
        self.caller = caller
        self.parameters = parameters
        self.weights = weights
        self.material = material
        self.seeds = seeds
        self.chance = material.chance
        self.seen = set()
        self.population = []
        self.pioneers = []
        self.found = set()
        self.enough = job['count']
        self.max_calls = job['calls']
        self.next_progress = time.monotonic() + SECONDS_BETWEEN_PROGRESS

    def run(self):
        for arguments in self.candidates():
            if self.is_over():
                break
            self.attempt(arguments)
        how = 'enough' if len(self.found) >= self.enough else 'calls'
        say({'k': 'end', 'tried': self.caller.tried, 'how': how})

    def is_over(self):
        return len(self.found) >= self.enough or self.caller.tried >= self.max_calls

    def candidates(self):
        yield from self.seeds
        kinds = [self.likely_kinds(parameter) for parameter in self.parameters]
        # Each likely type's whole pool, where there is one parameter; a sample of the combinations where more.
        if len(kinds) == 1:
            for kind in kinds[0]:
                for value in self.material.pool[kind]:
                    yield [value]
        if not kinds:
            yield []
            return
        begin = 400 if len(kinds) > 1 else 200
        for _ in range(begin):
            yield self.fresh()
        repeats = 0
        while repeats < 20_000:
            arguments = self.fresh() if self.chance.random() < 0.1 else self.changed()
            if key_of(arguments) in self.seen:
                repeats += 1
                continue
            repeats = 0
            yield arguments

    def likely_kinds(self, parameter):
        weights = self.weights[parameter]
        return sorted((kind for kind in KINDS if weights[kind] > 0.05), key=lambda kind: -weights[kind])

    def fresh(self):
        arguments = []
        for parameter in self.parameters:
            weights = self.weights[parameter]
            kind = self.chance.choices(KINDS, [weights[kind] for kind in KINDS])[0]
            arguments.append(self.material.make(kind))
        return arguments

    def changed(self):
        pools = [self.population] if not self.pioneers or self.chance.random() < 0.85 else [self.pioneers]
        pool = pools[0] or self.population
        if not pool:
            return self.fresh()
        parent = pool[int(len(pool) * self.chance.random() ** 2)][1]
        arguments = list(parent)
        if len(self.population) > 1 and len(arguments) > 1 and self.chance.random() < 0.15:
            other = self.chance.choice(self.population)[1]
            at = self.chance.randrange(len(arguments))
            arguments[at] = other[at]
        for _ in range(self.chance.choice((1, 1, 1, 2, 3))):
            at = self.chance.randrange(len(arguments))
            changed = self.material.change(copy.deepcopy(arguments[at]))
            if size_of(changed) <= MAX_SIZE:
                arguments[at] = changed
        return arguments

    def attempt(self, arguments):
        """Tries arguments; true where they give what is wanted."""
        key = key_of(arguments)
        if key in self.seen:
            return key in self.found
        self.seen.add(key)
        outcome, is_new_line = self.caller.call(arguments)
        try:
            far = self.wanted.distance(outcome)
        except (OutOfTime, Exception):
            far = 5.0
        self.learn(arguments, outcome, far)
        # Long arguments are worth less than short ones that come as near.
        rank = far + 0.0005 * sum(map(size_of, arguments))
        entry = (rank, arguments, outcome)
        if is_new_line:
            self.pioneers.append(entry)
        if len(self.population) < POPULATION or rank < self.population[-1][0]:
            self.insert(entry)
        self.tell_progress()
        if far == 0.0:
            self.tell_found(self.simplified(arguments))
            return True
        return False

    def insert(self, entry):
        at = len(self.population)
        while at > 0 and self.population[at - 1][0] > entry[0]:
            at -= 1
        self.population.insert(at, entry)
        del self.population[POPULATION:]

    def learn(self, arguments, outcome, far):
        kind, value = outcome
        is_wrong_type = kind == 'raises' and isinstance(value, (TypeError, AttributeError)) and far > 0
        factor = 0.97 if is_wrong_type else 1.03 if kind == 'returns' and far < 1 else 1
        if factor == 1:
            return
        for parameter, argument in zip(self.parameters, arguments):
            weights = self.weights[parameter]
            name = kind_of(argument)
            weights[name] = min(50.0, max(0.01, weights[name] * factor))

    def simplified(self, arguments):
        best = arguments
        tries = SIMPLIFICATIONS
        again = True
        while again:
            again = False
            for at, argument in enumerate(best):
                for other in simpler(argument):
                    if tries == 0:
                        return best
                    tries -= 1
                    smaller = [*best[:at], other, *best[at + 1:]]
                    outcome, _ = self.caller.call(smaller)
                    try:
                        gives = self.wanted.distance(outcome) == 0.0
                    except (OutOfTime, Exception):
                        gives = False
                    if gives:
                        best = smaller
                        again = True
                        break
                if again:
                    break
        return best

    def tell_found(self, arguments):
        key = key_of(arguments)
        self.seen.add(key)
        if key in self.found:
            return
        self.found.add(key)
        kind, value = self.caller.call(arguments)[0]
        gives = repr(value) if kind == 'returns' else '%s(%s)' % (type(value).__name__, repr(value.args)[1:-1].rstrip(','))
        given = [repr(argument) for argument in arguments]
        say({'k': 'found', 'arguments': given, 'gives': gives, 'tried': self.caller.tried})

    def tell_progress(self):
        if time.monotonic() < self.next_progress:
            return
        self.next_progress = time.monotonic() + SECONDS_BETWEEN_PROGRESS
        closest = None
        if self.population:
            _, arguments, (kind, value) = self.population[0]
            try:
                gives = repr(value)[:500] if kind == 'returns' else '%s: %s' % (type(value).__name__, value)
            except BaseException:
                gives = '?'
            closest = {'arguments': [repr(argument) for argument in arguments], 'gives': gives[:500], 'how': kind}
        say({'k': 'progress', 'tried': self.caller.tried, 'closest': closest})


def key_of(arguments):
    return repr([(kind_of(argument), argument) for argument in arguments])


def parse(source, path):
    try:
        return ast.parse(source, path)
    except SyntaxError as error:
        raise Failed('syntax', error.msg, error.lineno) from None


def load(tree, path):
    """Runs the module's code, and gives what it defines."""
    names = {'__name__': '__neural_debug__', '__file__': path, '__builtins__': __builtins__}
    module = type(sys)('__neural_debug__')
    module.__dict__.update(names)
    sys.modules['__neural_debug__'] = module
    try:
        exec(compile(tree, path, 'exec'), module.__dict__)
    except BaseException as error:
        line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else None
        raise Failed('setup', '%s: %s' % (type(error).__name__, error), line) from None
    return module.__dict__


def parameters_of(function):
    """The parameters that a call must or may give by position; the rest keep their defaults."""
    arguments = function.args
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if default is None:
            raise Failed('parameters', 'The parameter %s can only be given by name.' % argument.arg)
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]


def limit_memory(size):
    """Bounds private memory, in bytes, where the system can. Pyodide is bounded from outside."""
    if resource is None:
        return
    try:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))
    except (ValueError, OSError):
        pass


def main():
    job = json.loads(sys.stdin.buffer.read())
    say({'k': 'start', 'version': '.'.join(map(str, sys.version_info[:3]))})
    limit_memory(job['memory'] << 20)
    sys.path.insert(0, os.path.dirname(job['path']))
    sys.stdout = sys.stderr = NoOutput()
    sys.stdin = open(os.devnull)
    if signal is not None and hasattr(signal, 'setitimer'):
        signal.signal(signal.SIGALRM, on_alarm)
    try:
        tree = parse(job['source'], job['path'])
        node = find_function(tree, job['function'])
        if node is None:
            raise Failed('function', 'There is no function %s.' % job['function'])
        if isinstance(node, ast.AsyncFunctionDef):
            raise Failed('parameters', 'A call of an async function gives a coroutine, which nothing runs here.')
        parameters = parameters_of(node)
        function = load(tree, job['path']).get(job['function'])
        if not callable(function):
            raise Failed('function', 'The module leaves no function %s.' % job['function'])
    except Failed as failed:
        say(failed.said)
        return
    wanted = Wanted(job['wanted'])
    given = (arguments_of(call, parameters) for call in job['examples'])
    seeds = [arguments for arguments in given if arguments is not None]
    in_seeds = [argument for call in seeds for argument in call]
    chance = random.Random(0)
    values = [*wanted.parts(), *literals_in(node), *in_seeds, *literals_in(tree)]
    code = getattr(function, '__wrapped__', function)
    caller = Caller(function, getattr(code, '__code__', None))
    material = Material(values, chance)
    Search(job, caller, wanted, parameters, weights_of(node, parameters), material, seeds).run()


if __name__ == '__main__':
    main()
