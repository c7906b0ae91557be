"""Evaluates pure Python expressions over values that are known by their reprs only.

Started as `python3 -I expressions.py`. Requests come on standard input and answers go to standard output, one
JSON object a line:

    {"id": 1, "kind": "evaluate", "expression": "a + 1", "names": {"a": "2"}}
    {"id": 3, "kind": "each", "evaluations": [{"expression": "a + 1", "names": {"a": "2"}}, ...]}
    {"id": 2, "kind": "print", "arguments": "f(a), sep=''", "names": {"a": "2"}, "calls": ["3"], "stable": false}

    {"id": 1, "value": "3"}    {"id": 1, "error": {"type": "TypeError", "message": "..."}}
    {"id": 4, "kind": "names"}
    {"id": 2, "text": "3\\n"}   {"id": 2, "unknown": "why the answer cannot be known"}
    {"id": 3, "each": [{"value": "3"}, ...]}
    {"id": 4, "names": {"": ["abs", ...], "list": ["count", ...], ...}}

Of many evaluations as many are answered as can be done in a short time, at least one.

Nothing is compiled or passed to eval: the syntax tree is walked, and what is not listed here is refused. Values
are numbers, strings, bytes, constants, ranges, and tuples, lists, dicts and sets of them. In a value, `__unknown__`
stands for a part that is not known, `__object__(x=1)` for an object of which at most some attributes are, and
`__type__()` for a class. An answer that would depend on something unknown (the order of a set, the identity of two
equal values, an attribute, a function of the program) is unknown, never a guess.
"""

import ast
import builtins
import functools
import json
import operator
import re
import signal
import string
import sys
import time
import warnings

try:
    import resource
except ImportError:  # Windows
    resource = None

MAX_EXPRESSION = 20_000
MAX_VALUE = 2_000_000
MAX_RESULT = 1_000_000
MAX_STEPS = 1_000_000
MAX_BITS = 1_000_000
MAX_SIZE = 5_000_000
MAX_WIDTH = 99_999
MAX_MEMORY = 1 << 30
CPU_SECONDS = 2
# How long several evaluations may take together before the rest has to be asked again.
EACH_SECONDS = 0.5


class Unknown(Exception):
    """The answer cannot be known; the argument says why."""


class Part:
    """A value that is not known, but for some of its attributes."""

    __slots__ = ('attributes', 'is_class', 'is_object', 'reason')

    def __init__(self, reason, attributes=None, is_object=False, is_class=False):
        self.reason = reason
        self.attributes = attributes or {}
        # Whether it is certain that it is no constant such as None.
        self.is_object = is_object
        self.is_class = is_class

    def refuse(self, *_):
        raise Unknown(self.reason)


for _name in (
    'bool len iter next contains getitem call hash repr str format eq ne lt le gt ge index int float complex round '
    'trunc floor ceil abs neg pos invert bytes reversed'
).split():
    setattr(Part, f'__{_name}__', Part.refuse)
for _name in 'add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor'.split():
    setattr(Part, f'__{_name}__', Part.refuse)
    setattr(Part, f'__r{_name}__', Part.refuse)


class Function:
    """Something that can be called; for a type, `type` is the type."""

    __slots__ = ('description', 'run', 'type')

    def __init__(self, description, run, type=None):
        self.description = description
        self.run = run
        self.type = type


class Items:
    """An iterator: what `zip`, `map`, generator expressions and the like give."""

    __slots__ = ('iterator',)

    def __init__(self, iterator):
        self.iterator = iterator


class Scope:
    """The names that comprehensions and lambdas bind."""

    __slots__ = ('names', 'parent')

    def __init__(self, parent, names=None):
        self.parent = parent
        self.names = {} if names is None else names


def known(value):
    if isinstance(value, Part):
        raise Unknown(value.reason)
    return value


def inside(value):
    """The values directly in a container."""
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if isinstance(value, (list, tuple, set, frozenset, *VIEWS)):
        return value
    return ()


def contains(value, test):
    """Whether a test is true of a value or of anything in it."""
    pending = [value]
    seen = set()
    while pending:
        at = pending.pop()
        if test(at):
            return True
        parts = inside(at)
        if parts and id(at) not in seen:
            seen.add(id(at))
            pending.extend(parts)
    return False


VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
PLAIN_TYPES = (int, float, complex, str, bytes, bool)
CONTAINERS = (list, tuple, dict, set, frozenset)
NAMED_CONSTANTS = {'NotImplemented': NotImplemented, 'Ellipsis': Ellipsis}
NAMED_NUMBERS = {'nan': float('nan'), 'inf': float('inf')}
IMAGINARY = {'nanj': float('nan'), 'infj': float('inf')}
SINGLETONS = (type(None), bool, type(...), type(NotImplemented), Function)


def is_special(value):
    """Whether Python's own repr would not give what the program's would."""
    return isinstance(value, (Part, Function, Items)) or (isinstance(value, (set, frozenset)) and len(value) > 1)


def is_iterable(value):
    return isinstance(value, Items) or hasattr(type(value), '__iter__')


def is_nan(value):
    return isinstance(value, (float, complex)) and value != value


def is_mutable(value):
    return isinstance(value, (list, dict, set))


def has_stable_hash(value):
    """Whether a value's place in a set is the same in every process."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(has_stable_hash, value))
    return isinstance(value, (int, float, complex))


BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul,
}
UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

# Methods that change nothing and call nothing of the program.
METHODS = {
    str: set(
        'capitalize casefold center count encode endswith expandtabs find format index isalnum isalpha isascii '
        'isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip '
        'partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines '
        'startswith strip swapcase title translate upper zfill'.split()
    ),
    bytes: set(
        'capitalize center count decode endswith expandtabs find hex index isalnum isalpha isascii isdigit islower '
        'isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust '
        'rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill'.split()
    ),
    int: {'bit_length', 'bit_count', 'conjugate', 'to_bytes', 'as_integer_ratio'},
    float: {'is_integer', 'hex', 'as_integer_ratio', 'conjugate'},
    complex: {'conjugate'},
    list: {'index', 'count', 'copy'},
    tuple: {'index', 'count'},
    range: {'index', 'count'},
    dict: {'get', 'keys', 'values', 'items', 'copy'},
    set: set('union intersection difference symmetric_difference issubset issuperset isdisjoint copy'.split()),
    type(None): set(),
}
METHODS[bool] = METHODS[int]
METHODS[frozenset] = METHODS[set]
CLASS_METHODS = {
    'dict.fromkeys': dict.fromkeys,
    'int.from_bytes': int.from_bytes,
    'bytes.fromhex': bytes.fromhex,
    'float.fromhex': float.fromhex,
    'str.maketrans': str.maketrans,
}
DATA = {
    int: {'real', 'imag', 'numerator', 'denominator'},
    float: {'real', 'imag'},
    complex: {'real', 'imag'},
    range: {'start', 'stop', 'step'},
}
DATA[bool] = DATA[int]

# Functions of single values.
SCALAR_FUNCTIONS = frozenset(
    'abs bin bool chr complex divmod float hex int len oct ord range round'.split()
)


class Evaluation:
    """One expression over its names."""

    def __init__(self, names, calls=None):
        self.names = names
        self.values = {}
        # Sets whose order is known: by id, the set itself (so that the id stays its own) and its items in order.
        self.orders = {}
        self.steps = 0
        # The return values that stand for calls of the program's functions; None: there must be no such calls.
        self.calls = calls
        self.calls_made = 0
        self.in_arguments = 0
        self.mutable_names = set()
        self.used_mutable = False
        # Whether a TypeError may come from how a value is kept here.
        self.has_stand_ins = False
        self.functions = {}
        self.top = Scope(None)

    # -- values from reprs ------------------------------------------------------------------------------

    def load(self, text, what):
        """The value of a repr, or a Part where it is not, or not wholly, known."""
        if text is None:
            return Part(f'{what} is not known')
        if len(text) > MAX_VALUE:
            return Part(f'{what} is too large')
        try:
            value = self.build(ast.parse(text.strip(), mode='eval').body, what)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError, Unknown):
            value = Part(f'{what} is not made of builtin values alone')
        if contains(value, lambda part: isinstance(part, Part)):
            self.has_stand_ins = True
        return value

    def build(self, node, what):
        if isinstance(node, ast.Constant) and node.value is not ...:
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            value = self.build(node.operand, what)
            if type(value) in (int, float, complex):
                return UNARY[type(node.op)](value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return self.build_complex(node, what)
        if isinstance(node, ast.List):
            return [self.build(item, what) for item in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple([self.build(item, what) for item in node.elts])
        if isinstance(node, ast.Set):
            return self.build_set(set, node, what)
        if isinstance(node, ast.Dict) and None not in node.keys:
            keys = [self.build(key, what) for key in node.keys]
            value = dict(zip(keys, [self.build(item, what) for item in node.values]))
            if len(value) == len(keys):
                return value
        if isinstance(node, ast.Name):
            if node.id in IMAGINARY:
                return complex(0, IMAGINARY[node.id])
            named = {**NAMED_CONSTANTS, **NAMED_NUMBERS}
            if node.id in named:
                return named[node.id]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.build_call(node.func.id, node, what)
        return Part(f'a part of {what} is not known')

    def build_complex(self, node, what):
        left = node.left
        # A sign of its own, since -0 is 0.
        sign = 1.0
        if isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub):
            left, sign = left.operand, -1.0
        real = self.build(left, what)
        imaginary = self.build(node.right, what)
        if type(real) not in (int, float) or type(imaginary) is not complex:
            raise ValueError('no complex number')
        part = imaginary.imag if isinstance(node.op, ast.Add) else -imaginary.imag
        return complex(sign * float(real), part)

    def build_set(self, kind, node, what):
        items = [self.build(item, what) for item in node.elts]
        value = kind(items)
        if len(value) != len(items):
            raise ValueError('an item twice')
        self.orders[id(value)] = (value, items)
        return value

    def build_call(self, name, node, what):
        if name == '__type__':
            return Part(f'{what} is a class of the program', is_object=True, is_class=True)
        if name == '__object__':
            attributes = {
                keyword.arg: self.build(keyword.value, what) for keyword in node.keywords if keyword.arg is not None
            }
            return Part(f'{what} is, or holds, an object of the program', attributes, is_object=True)
        if not node.keywords:
            if name in ('set', 'frozenset') and not node.args:
                return set() if name == 'set' else frozenset()
            if name == 'frozenset' and len(node.args) == 1 and isinstance(node.args[0], ast.Set):
                return self.build_set(frozenset, node.args[0], what)
            if name == 'range' and len(node.args) in (2, 3):
                return range(*[self.build(item, what) for item in node.args])
        return Part(f'a part of {what} is not known')

    # -- limits -----------------------------------------------------------------------------------------

    def spend(self):
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Unknown('it takes too many steps')

    def check_size(self, size):
        if size > MAX_SIZE:
            raise Unknown('its value is too large')

    # -- sets, and what else is iterated ----------------------------------------------------------------

    def order(self, value):
        """A set's items in the order in which the program would see them."""
        kept = self.orders.get(id(value))
        if kept is not None and kept[0] is value:
            return kept[1]
        # The smallest table has a slot for each of these, whatever its history.
        if len(value) < 2 or all(type(item) is int and 0 <= item < 8 for item in value):
            return list(value)
        raise Unknown('the order of a set is not known')

    def fresh(self, value):
        """A set that was made here, item by item, so that its order is the program's where hashes are stable."""
        if all(map(has_stable_hash, value)):
            self.orders[id(value)] = (value, list(value))
        return value

    def iterate(self, value, any_order=False):
        """An iterator over a value; with `any_order` for uses that do not depend on the order."""
        known(value)
        if isinstance(value, (set, frozenset)):
            if any_order and (
                all(type(item) in (int, bool) for item in value) or all(type(item) is str for item in value)
            ):
                items = iter(value)
            else:
                items = iter(self.order(value))
        elif isinstance(value, Items):
            items = value.iterator
        elif isinstance(value, Function):
            raise Unknown('a type is not iterated here')
        else:
            items = iter(value)
        return self.paced(items)

    def paced(self, items):
        for item in items:
            self.spend()
            yield item

    def items(self, iterator):
        self.has_stand_ins = True
        return Items(iterator)

    # -- text -------------------------------------------------------------------------------------------

    def describe(self, value):
        """The value's repr."""
        if not contains(value, is_special):
            return repr(value)
        if isinstance(value, Part):
            raise Unknown(value.reason)
        if isinstance(value, Function):
            if value.description is None:
                raise Unknown('a function has no repr here')
            return value.description
        if isinstance(value, Items):
            raise Unknown('the repr of an iterator holds an address')
        if isinstance(value, dict):
            entries = [f'{self.describe(key)}: {self.describe(item)}' for key, item in value.items()]
            return '{' + ', '.join(entries) + '}'
        if isinstance(value, VIEWS):
            return f'{type(value).__name__}({self.describe(list(value))})'
        ordered = self.order(value) if isinstance(value, (set, frozenset)) else value
        items = ', '.join([self.describe(item) for item in ordered])
        if isinstance(value, list):
            return f'[{items}]'
        if isinstance(value, set):
            return f'{{{items}}}'
        if isinstance(value, frozenset):
            return f'frozenset({{{items}}})'
        return f'({items},)' if len(value) == 1 else f'({items})'

    def text(self, value):
        """What `str` gives."""
        known(value)
        return value if type(value) is str else self.describe(value)

    def formatted(self, value, spec):
        known(value)
        if spec == '':
            return self.text(value)
        if isinstance(value, (Function, Items)):
            raise Unknown('how it is formatted is not known')
        self.check_widths(spec)
        return format(value, spec)

    def check_widths(self, text):
        if any(len(digits) > 5 for digits in re.findall(r'[0-9]+', text)):
            raise Unknown('its value is too large')

    def check_formatted(self, values):
        """Refuses values that the formatting functions of Python would write otherwise than the program does."""
        for value in values:
            if contains(value, is_special):
                raise Unknown('how a value is written is not known')

    # -- expressions ------------------------------------------------------------------------------------

    def value(self, node, scope):
        return known(self.evaluate(node, scope))

    def evaluate(self, node, scope):
        self.spend()
        method = getattr(self, 'evaluate_' + type(node).__name__, None)
        if method is None:
            raise Unknown(f'{describe_syntax(node)} is not evaluated')
        return method(node, scope)

    def evaluate_Constant(self, node, scope):
        return node.value

    def evaluate_Name(self, node, scope):
        found, value = self.look_up(node.id, scope)
        if not found:
            value = self.builtin(node.id)
            if value is None:
                raise Unknown(f'{node.id} is not known here')
            self.has_stand_ins = True
        return value

    def look_up(self, name, scope):
        while scope is not None:
            if name in scope.names:
                return True, scope.names[name]
            scope = scope.parent
        if name not in self.names:
            return False, None
        if name not in self.values:
            self.values[name] = self.load(self.names[name], name)
            if contains(self.values[name], is_mutable):
                self.mutable_names.add(name)
        if name in self.mutable_names and not self.in_arguments:
            self.used_mutable = True
        return True, self.values[name]

    def evaluate_Tuple(self, node, scope):
        return tuple(self.elements(node.elts, scope))

    def evaluate_List(self, node, scope):
        return self.elements(node.elts, scope)

    def evaluate_Set(self, node, scope):
        return self.fresh(set(self.elements(node.elts, scope)))

    def elements(self, nodes, scope):
        values = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self.unpacked(self.value(node.value, scope)))
            else:
                values.append(self.evaluate(node, scope))
        return values

    def unpacked(self, value):
        try:
            return self.iterate(value)
        except TypeError:
            raise TypeError(f'Value after * must be an iterable, not {type(value).__name__}') from None

    def evaluate_Dict(self, node, scope):
        value = {}
        for key, item in zip(node.keys, node.values):
            if key is None:
                value.update(self.mapping(self.value(item, scope)))
            else:
                at = self.value(key, scope)
                value[at] = self.evaluate(item, scope)
        return value

    def mapping(self, value):
        if not isinstance(value, dict):
            raise TypeError(f"'{type(value).__name__}' object is not a mapping")
        return value

    def evaluate_BinOp(self, node, scope):
        left = self.value(node.left, scope)
        return self.binary(type(node.op), left, self.value(node.right, scope))

    def binary(self, kind, left, right):
        if isinstance(left, (Function, Items)) or isinstance(right, (Function, Items)):
            raise Unknown('types and iterators are not computed with')
        whole = isinstance(left, int) and isinstance(right, int)
        if kind is ast.Pow:
            self.check_power(left, right)
        elif kind is ast.LShift and whole and right > 0:
            self.check_bits(left.bit_length() + right)
        elif kind is ast.Mult:
            if whole:
                self.check_bits(left.bit_length() + right.bit_length())
            for sequence, count in ((left, right), (right, left)):
                if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(count, int):
                    self.check_size(len(sequence) * count)
        elif kind is ast.Add and isinstance(left, (str, bytes, list, tuple)) and type(left) is type(right):
            self.check_size(len(left) + len(right))
        elif kind is ast.Mod and isinstance(left, (str, bytes)):
            return self.percent(left, right)
        return BINARY[kind](left, right)

    def check_bits(self, bits):
        if bits > MAX_BITS:
            raise Unknown('its value is too large')

    def check_power(self, left, right):
        if isinstance(left, int) and isinstance(right, int) and right > 0:
            self.check_bits(left.bit_length() * right)

    def percent(self, template, values):
        shown = template if isinstance(template, str) else template.decode('latin-1')
        self.check_widths(shown)
        parts = list(values) if isinstance(values, tuple) else [values]
        self.check_formatted(parts)
        if re.search(r'%[^a-zA-Z%]*\*', shown) and any(isinstance(part, int) and abs(part) > MAX_WIDTH for part in parts):
            raise Unknown('its value is too large')
        return template % values

    def evaluate_UnaryOp(self, node, scope):
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return not self.truth(value)
        if isinstance(value, (Function, Items)):
            raise Unknown('types and iterators are not computed with')
        return UNARY[type(node.op)](value)

    def truth(self, value):
        return bool(known(value))

    def evaluate_BoolOp(self, node, scope):
        stops_at = isinstance(node.op, ast.Or)
        for operand in node.values[:-1]:
            value = self.value(operand, scope)
            if self.truth(value) is stops_at:
                return value
        return self.evaluate(node.values[-1], scope)

    def evaluate_IfExp(self, node, scope):
        chosen = node.body if self.truth(self.value(node.test, scope)) else node.orelse
        return self.evaluate(chosen, scope)

    def evaluate_Compare(self, node, scope):
        left_node, left = node.left, self.evaluate(node.left, scope)
        for kind, right_node in zip(node.ops, node.comparators):
            right = self.evaluate(right_node, scope)
            result = self.compare(type(kind), left_node, left, right_node, right)
            if not result:
                return result
            left_node, left = right_node, right
        return result

    def compare(self, kind, left_node, left, right_node, right):
        if kind in (ast.Is, ast.IsNot):
            return self.is_same(left_node, left, right_node, right) is (kind is ast.Is)
        known(left)
        known(right)
        if kind in (ast.In, ast.NotIn):
            if isinstance(right, Items):
                return any(self.equal(left, item) for item in self.iterate(right)) is (kind is ast.In)
            self.check_nan(left, right)
            return (left in right) is (kind is ast.In)
        if isinstance(left, Items) or isinstance(right, Items):
            raise Unknown('iterators are not compared')
        self.check_nan(left, right)
        return COMPARE[kind](left, right)

    def equal(self, left, right):
        self.check_nan(left, right)
        return left == right

    def check_nan(self, left, right):
        """In containers, values that are identical are taken for equal: of NaNs it cannot be known."""
        if not isinstance(left, CONTAINERS) and not isinstance(right, CONTAINERS):
            return
        if contains(left, is_nan) and contains(right, is_nan):
            raise Unknown('whether two NaNs are one is not known')

    def is_same(self, left_node, left, right_node, right):
        if isinstance(left_node, ast.Name) and isinstance(right_node, ast.Name) and left_node.id == right_node.id:
            return True
        for value, other in ((left, right), (right, left)):
            if isinstance(value, Part) and value.is_object and isinstance(other, SINGLETONS):
                return False
        known(left)
        known(right)
        if isinstance(left, SINGLETONS) or isinstance(right, SINGLETONS):
            return left is right
        if type(left) is not type(right):
            return False
        raise Unknown('whether two values are one object is not known')

    def evaluate_NamedExpr(self, node, scope):
        value = self.evaluate(node.value, scope)
        self.top.names[node.target.id] = value
        return value

    def evaluate_Subscript(self, node, scope):
        value = self.value(node.value, scope)
        index = self.value(node.slice, scope)
        if isinstance(value, (Function, Items)) or isinstance(index, (Function, Items)):
            raise Unknown('types and iterators have no items here')
        return value[index]

    def evaluate_Slice(self, node, scope):
        parts = [part and self.value(part, scope) for part in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def evaluate_Attribute(self, node, scope):
        value = self.evaluate(node.value, scope)
        if isinstance(value, Part):
            if node.attr in value.attributes:
                return value.attributes[node.attr]
            raise Unknown(value.reason)
        return self.attribute(value, node.attr)

    def attribute(self, value, name):
        if isinstance(value, Function):
            return self.type_attribute(value, name)
        kind = type(value)
        if name in DATA.get(kind, ()):
            return getattr(value, name)
        if name in METHODS.get(kind, ()):
            return Function(None, lambda args, kwargs: self.method(value, name, args, kwargs))
        if isinstance(value, Items) or hasattr(kind, name):
            raise Unknown(f'.{name} is not evaluated')
        raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")

    def type_attribute(self, function, name):
        kind = function.type
        if kind is None:
            raise Unknown(f'.{name} is not evaluated')
        real = CLASS_METHODS.get(f'{kind.__name__}.{name}')
        if real is not None:
            return Function(None, lambda args, kwargs: self.class_method(real, args, kwargs))
        if name not in METHODS.get(kind, ()):
            raise Unknown(f'.{name} is not evaluated')

        def run(args, kwargs):
            if not args or not isinstance(args[0], kind):
                raise Unknown(f'.{name} is not evaluated')
            return self.method(args[0], name, args[1:], kwargs)

        return Function(None, run)

    def class_method(self, real, args, kwargs):
        if args and not isinstance(args[0], (str, bytes, int, dict)):
            args = [list(self.iterate(args[0])), *args[1:]]
        return real(*args, **kwargs)

    def method(self, value, name, args, kwargs):
        args = list(map(known, args))
        kind = type(value)
        if name == 'format':
            return self.format_method(value, args, kwargs)
        if name == 'join' and len(args) == 1 and is_iterable(args[0]):
            args = [list(self.iterate(args[0]))]
            for item in args[0]:
                known(item)
            if all(isinstance(item, (str, bytes)) for item in args[0]):
                self.check_size(sum(map(len, args[0])) + len(value) * len(args[0]))
        elif name in ('center', 'ljust', 'rjust', 'zfill', 'expandtabs', 'to_bytes'):
            for number in [*args, *kwargs.values()]:
                if isinstance(number, int) and abs(number) > MAX_WIDTH:
                    raise Unknown('its value is too large')
        elif name == 'replace' and len(args) > 1 and all(isinstance(arg, type(value)) for arg in args[:2]):
            self.check_size((len(value) + 1) * (len(args[1]) + 1))
        elif name in ('index', 'count', 'get') and args:
            self.check_nan(value, args[0])
            if name == 'index' and contains(args[0], is_special):
                raise Unknown('how a value is written is not known')
        if any(isinstance(arg, (Items, Function)) for arg in [*args, *kwargs.values()]):
            if kind not in (set, frozenset):
                raise Unknown(f'.{name} is not evaluated with these arguments')
            args = [list(self.iterate(arg)) if isinstance(arg, Items) else arg for arg in args]
        return getattr(value, name)(*args, **kwargs)

    def format_method(self, template, args, kwargs):
        values = [*args, *kwargs.values()]
        self.check_formatted(values)
        nested = []
        for _, field, spec, _ in string.Formatter().parse(template):
            if field is not None:
                nested.append(field)
                self.check_widths(spec)
                for _, inner, _, _ in string.Formatter().parse(spec):
                    if inner is not None:
                        nested.append(inner)
                        if any(isinstance(part, int) and abs(part) > MAX_WIDTH for part in values):
                            raise Unknown('its value is too large')
                        for part in values:
                            if isinstance(part, str):
                                self.check_widths(part)
        for field in nested:
            if not re.fullmatch(r'\w*', field):
                raise Unknown('format fields that reach into values are not evaluated')
        return template.format(*args, **kwargs)

    def evaluate_JoinedStr(self, node, scope):
        return ''.join([self.fragment(part, scope) for part in node.values])

    def fragment(self, node, scope):
        if isinstance(node, ast.Constant):
            return node.value
        value = self.value(node.value, scope)
        if node.conversion == ord('s'):
            value = self.text(value)
        elif node.conversion == ord('r'):
            value = self.describe(value)
        elif node.conversion == ord('a'):
            value = self.ascii(value)
        return self.formatted(value, self.value(node.format_spec, scope) if node.format_spec else '')

    def ascii(self, value):
        return self.describe(value).encode('ascii', 'backslashreplace').decode('ascii')

    # -- comprehensions and lambdas ---------------------------------------------------------------------

    def evaluate_ListComp(self, node, scope):
        return list(self.comprehension(node, scope, lambda inner: self.evaluate(node.elt, inner)))

    def evaluate_SetComp(self, node, scope):
        return self.fresh(set(self.comprehension(node, scope, lambda inner: self.evaluate(node.elt, inner))))

    def evaluate_DictComp(self, node, scope):
        def entry(inner):
            key = self.value(node.key, inner)
            return key, self.evaluate(node.value, inner)

        return dict(self.comprehension(node, scope, entry))

    def evaluate_GeneratorExp(self, node, scope):
        return self.items(self.comprehension(node, scope, lambda inner: self.evaluate(node.elt, inner)))

    def comprehension(self, node, scope, element):
        if any(clause.is_async for clause in node.generators):
            raise Unknown('asynchronous comprehensions are not evaluated')
        # The first iterable is evaluated outside, and at once.
        first = self.iterate(self.evaluate(node.generators[0].iter, scope))
        return self.clauses(node.generators, 0, first, Scope(scope), element)

    def clauses(self, generators, index, items, scope, element):
        clause = generators[index]
        for item in items:
            self.bind(clause.target, item, scope)
            if all(self.truth(self.value(test, scope)) for test in clause.ifs):
                if index + 1 == len(generators):
                    yield element(scope)
                else:
                    inner = self.iterate(self.evaluate(generators[index + 1].iter, scope))
                    yield from self.clauses(generators, index + 1, inner, scope, element)

    def bind(self, target, value, scope):
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target.elts, value, scope)
        else:
            raise Unknown('only names are assigned to')

    def unpack(self, targets, value, scope):
        try:
            items = list(self.iterate(value))
        except TypeError:
            raise TypeError(f'cannot unpack non-iterable {type(value).__name__} object') from None
        starred = [at for at, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if starred:
            at = starred[0]
            after = len(targets) - at - 1
            if len(items) < len(targets) - 1:
                raise ValueError(
                    f'not enough values to unpack (expected at least {len(targets) - 1}, got {len(items)})'
                )
            end = len(items) - after
            items = [*items[:at], items[at:end], *items[end:]]
            targets = [*targets[:at], targets[at].value, *targets[at + 1 :]]
        elif len(items) < len(targets):
            raise ValueError(f'not enough values to unpack (expected {len(targets)}, got {len(items)})')
        elif len(items) > len(targets):
            raise ValueError(f'too many values to unpack (expected {len(targets)})')
        for target, item in zip(targets, items):
            self.bind(target, item, scope)

    def evaluate_Lambda(self, node, scope):
        names = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
        if node.args.defaults or node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
            raise Unknown('only lambdas with plain parameters are evaluated')

        def run(args, kwargs):
            if kwargs or len(args) != len(names):
                raise Unknown('a lambda is called with other arguments than it has')
            return self.evaluate(node.body, Scope(scope, dict(zip(names, args))))

        return Function(None, run)

    # -- calls ------------------------------------------------------------------------------------------

    def evaluate_Call(self, node, scope):
        callee = self.callee(node.func, scope)
        if isinstance(callee, Part):
            if self.calls is None:
                raise Unknown(callee.reason)
            return self.program_call(node, callee, scope)
        args, kwargs = self.arguments(node, scope)
        if isinstance(callee, Function):
            return callee.run(args, kwargs)
        if isinstance(callee, Items):
            raise Unknown('an iterator is called')
        raise TypeError(f"'{type(callee).__name__}' object is not callable")

    def callee(self, node, scope):
        """What is called; a Part for a function of the program."""
        if isinstance(node, ast.Name):
            return self.named(node.id, scope)
        if not isinstance(node, ast.Attribute):
            return self.evaluate(node, scope)
        receiver = self.named(node.value.id, scope) if isinstance(node.value, ast.Name) else self.evaluate(node.value, scope)
        if isinstance(receiver, Part):
            return Part(receiver.reason, is_class=looks_like_class(node.attr))
        return self.attribute(receiver, node.attr)

    def named(self, name, scope):
        """What a name means where something unknown may be a function of the program."""
        found, value = self.look_up(name, scope)
        if found:
            return value
        value = self.builtin(name)
        if value is not None:
            return value
        if hasattr(builtins, name):
            raise Unknown(f'{name} is not evaluated')
        return Part(f'{name} is not known here', is_class=looks_like_class(name))

    def arguments(self, node, scope):
        try:
            args = self.elements(node.args, scope)
        except TypeError:
            if any(isinstance(argument, ast.Starred) for argument in node.args):
                raise Unknown('what is unpacked into arguments cannot be unpacked') from None
            raise
        kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                value = self.value(keyword.value, scope)
                if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
                    raise Unknown('what is unpacked into arguments cannot be unpacked')
                kwargs.update(value)
            else:
                kwargs[keyword.arg] = self.evaluate(keyword.value, scope)
        return args, kwargs

    def program_call(self, node, callee, scope):
        """A call of the program's: the value that it returned stands for it."""
        self.in_arguments += 1
        for argument in [*node.args, *[keyword.value for keyword in node.keywords]]:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            try:
                self.evaluate(inner, scope)
            except Unknown:
                # The value does not matter, but the calls made on the way do.
                if any(isinstance(part, ast.Call) for part in ast.walk(inner)):
                    raise
        self.in_arguments -= 1
        self.calls_made += 1
        if self.calls_made > len(self.calls):
            raise Unknown('more calls are made than are known')
        name = describe_syntax(node.func)
        # What a class made is not known from the return of its __init__.
        if callee.is_class:
            return Part(f'what {name}() made is not known', is_object=True)
        return self.load(self.calls[self.calls_made - 1], f'what {name}() returned')

    def call(self, function, args):
        if not isinstance(function, Function):
            if isinstance(function, (Part, Items)):
                raise Unknown('a function of the program is called')
            raise TypeError(f"'{type(function).__name__}' object is not callable")
        return function.run(list(args), {})

    def builtin(self, name):
        """A builtin that is pure, or a constant that is a name; None for all others."""
        if name in NAMED_CONSTANTS:
            return NAMED_CONSTANTS[name]
        if name not in self.functions:
            real = getattr(builtins, name, None)
            run = getattr(self, 'call_' + name, None)
            if name in SCALAR_FUNCTIONS:
                run = functools.partial(self.scalar, real)
            if run is None:
                return None
            self.functions[name] = Function(repr(real), run, real if isinstance(real, type) else None)
        return self.functions[name]

    def scalar(self, real, args, kwargs):
        values = [*map(known, args), *map(known, kwargs.values())]
        if any(isinstance(value, (Items, Function)) for value in values):
            raise Unknown(f'{real.__name__}() is not evaluated with these arguments')
        return real(*args, **kwargs)

    def collected(self, args, any_order=False):
        """The arguments of a function that takes an iterable, as a list, first."""
        if args:
            return [list(self.iterate(args[0], any_order)), *map(known, args[1:])]
        return args

    def call_list(self, args, kwargs):
        return list(*self.collected(args), **kwargs)

    def call_tuple(self, args, kwargs):
        return tuple(*self.collected(args), **kwargs)

    def call_set(self, args, kwargs):
        return self.make_set(set, args, kwargs)

    def call_frozenset(self, args, kwargs):
        return self.make_set(frozenset, args, kwargs)

    def make_set(self, kind, args, kwargs):
        if len(args) == 1 and isinstance(args[0], (set, frozenset)):
            return kind(args[0])
        return self.fresh(kind(*self.collected(args), **kwargs))

    def call_dict(self, args, kwargs):
        if len(args) == 1 and not isinstance(known(args[0]), dict):
            pairs = list(self.iterate(args[0]))
            for pair in pairs:
                if isinstance(known(pair), (set, frozenset, Items)):
                    raise Unknown('the order of a set is not known')
            args = [pairs]
        return dict(*args, **kwargs)

    def call_bytes(self, args, kwargs):
        if len(args) == 1 and not isinstance(known(args[0]), (int, bytes, str)) and is_iterable(args[0]):
            args = self.collected(args)
        elif args and isinstance(args[0], int):
            self.check_size(args[0])
        return bytes(*args, **kwargs)

    def call_str(self, args, kwargs):
        if len(args) == 1 and not kwargs:
            return self.text(args[0])
        return self.scalar(str, args, kwargs)

    def call_repr(self, args, kwargs):
        if len(args) != 1 or kwargs:
            return repr(*args, **kwargs)
        return self.describe(args[0])

    def call_ascii(self, args, kwargs):
        if len(args) != 1 or kwargs:
            return ascii(*args, **kwargs)
        return self.ascii(args[0])

    def call_format(self, args, kwargs):
        if len(args) not in (1, 2) or kwargs or not isinstance(args[-1] if len(args) == 2 else '', str):
            return format(*map(known, args), **kwargs)
        return self.formatted(args[0], args[1] if len(args) == 2 else '')

    def call_pow(self, args, kwargs):
        if len(args) == 2 and not kwargs:
            self.check_power(*map(known, args))
        return self.scalar(pow, args, kwargs)

    def call_sum(self, args, kwargs):
        return sum(*self.collected(args, any_order=True), **kwargs)

    def call_any(self, args, kwargs):
        if len(args) != 1 or kwargs:
            return any(*args, **kwargs)
        return any(self.truth(item) for item in self.iterate(args[0], any_order=True))

    def call_all(self, args, kwargs):
        if len(args) != 1 or kwargs:
            return all(*args, **kwargs)
        return all(self.truth(item) for item in self.iterate(args[0], any_order=True))

    def call_sorted(self, args, kwargs):
        options = self.options(kwargs)
        return sorted(*self.collected(args, 'key' not in options), **options)

    def call_min(self, args, kwargs):
        return self.extreme(min, args, kwargs)

    def call_max(self, args, kwargs):
        return self.extreme(max, args, kwargs)

    def extreme(self, real, args, kwargs):
        options = self.options(kwargs)
        if len(args) == 1:
            args = self.collected(args, 'key' not in options)
        return real(*args, **options)

    def options(self, kwargs):
        """Keyword arguments with a `key` function that can be called."""
        key = kwargs.get('key')
        if key is None:
            return {name: value for name, value in kwargs.items() if name != 'key'}
        return {**kwargs, 'key': lambda item: known(self.call(key, [item]))}

    def call_enumerate(self, args, kwargs):
        if not args:
            return enumerate(**kwargs)
        return self.items(enumerate(self.iterate(args[0]), *map(known, args[1:]), **kwargs))

    def call_zip(self, args, kwargs):
        return self.items(zip(*[self.iterate(arg) for arg in args], **kwargs))

    def call_reversed(self, args, kwargs):
        if len(args) != 1 or kwargs or isinstance(args[0], (Items, Function, set, frozenset)):
            raise Unknown('reversed() is not evaluated with these arguments')
        return self.items(self.paced(reversed(known(args[0]))))

    def call_map(self, args, kwargs):
        if len(args) < 2 or kwargs:
            raise Unknown('map() is not evaluated with these arguments')
        function, *sources = args
        return self.items(self.call(function, items) for items in zip(*[self.iterate(source) for source in sources]))

    def call_filter(self, args, kwargs):
        if len(args) != 2 or kwargs:
            raise Unknown('filter() is not evaluated with these arguments')
        function, source = args
        items = self.iterate(source)
        return self.items(
            item for item in items if self.truth(item if function is None else self.call(function, [item]))
        )

    def call_iter(self, args, kwargs):
        if len(args) != 1 or kwargs:
            raise Unknown('iter() is not evaluated with these arguments')
        return args[0] if isinstance(args[0], Items) else self.items(self.iterate(args[0]))

    def call_next(self, args, kwargs):
        if len(args) not in (1, 2) or kwargs or not isinstance(args[0], Items):
            raise Unknown('next() is not evaluated with these arguments')
        return next(iter(args[0].iterator), *args[1:])

    def call_type(self, args, kwargs):
        if len(args) != 1 or kwargs:
            raise Unknown('type() is not evaluated with these arguments')
        value = known(args[0])
        function = self.builtin(type(value).__name__)
        if not isinstance(function, Function) or function.type is not type(value):
            raise Unknown('its type is not one that is known here')
        self.has_stand_ins = True
        return function

    def call_isinstance(self, args, kwargs):
        if len(args) != 2 or kwargs:
            raise Unknown('isinstance() is not evaluated with these arguments')
        value, kinds = map(known, args)
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if isinstance(value, (Items, Function)) or not all(
            isinstance(kind, Function) and kind.type is not None for kind in kinds
        ):
            raise Unknown('isinstance() is not evaluated with these arguments')
        return isinstance(value, tuple(kind.type for kind in kinds))


def looks_like_class(name):
    return name.lstrip('_')[:1].isupper()


def describe_syntax(node):
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return 'this'
    return text if len(text) <= 60 else text[:57] + '...'


def parse(source):
    if len(source) > MAX_EXPRESSION:
        raise Unknown('the expression is too long')
    return ast.parse(source, mode='eval').body


def evaluate(request):
    evaluation = Evaluation(request['names'])
    try:
        result = evaluation.value(parse(request['expression'].strip()), evaluation.top)
    except (Unknown, MemoryError, RecursionError):
        raise
    except SyntaxError as error:
        return {'error': {'type': 'SyntaxError', 'message': error.msg}}
    except Exception as error:
        return raised(evaluation, error)
    try:
        return {'value': bounded(evaluation.describe(result))}
    except ValueError:
        # An integer with more digits than Python writes.
        raise Unknown('its value is too large') from None


def raised(evaluation, error):
    if evaluation.has_stand_ins and isinstance(error, (TypeError, AttributeError)):
        raise Unknown('a part of a value is not known') from None
    if contains(list(error.args), is_special):
        raise Unknown('how a value is written is not known') from None
    return {'error': {'type': type(error).__name__, 'message': str(error)[:10_000]}}


def printed(request):
    calls = request['calls']
    evaluation = Evaluation(request['names'], calls)
    try:
        node = parse(f'print({request["arguments"]}\n)')
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != 'print':
            raise Unknown('these are not the arguments of one call')
        args, kwargs = evaluation.arguments(node, evaluation.top)
        ends = {'sep': ' ', 'end': '\n'}
        for name, value in kwargs.items():
            if name not in ends or not isinstance(value, (str, type(None))):
                raise Unknown(f'print() is not evaluated with this {name}')
            if value is not None:
                ends[name] = value
        text = ends['sep'].join([evaluation.text(arg) for arg in args]) + ends['end']
    except (Unknown, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise Unknown(f'the arguments raise {type(error).__name__}') from None
    if evaluation.calls_made != len(calls):
        raise Unknown('other calls were made than the arguments show')
    if calls and not request['stable'] and evaluation.used_mutable:
        raise Unknown('a call may have changed a value')
    return {'text': bounded(text)}


def bounded(text):
    if len(text) > MAX_RESULT:
        raise Unknown('its value is too large')
    return text


def each(evaluations):
    start = time.process_time()
    results = []
    for evaluation in evaluations:
        result = answer({'kind': 'evaluate', **evaluation})
        if results and time.process_time() - start > CPU_SECONDS:
            # The time that it had was not all its own.
            break
        results.append(result)
        if time.process_time() - start > EACH_SECONDS:
            break
    return {'each': results}


def names():
    """The builtins that are evaluated (under no name), and the attributes and methods of each type."""
    functions = {name[5:] for name in dir(Evaluation) if name.startswith('call_')} | SCALAR_FUNCTIONS
    known = {kind.__name__: sorted(METHODS[kind] | DATA.get(kind, set())) for kind in METHODS}
    return {'names': {'': sorted(functions | NAMED_CONSTANTS.keys()), **known}}


def answer(request):
    try:
        if request['kind'] == 'names':
            return names()
        if request['kind'] == 'each':
            return each(request['evaluations'])
        if request['kind'] == 'print':
            return printed(request)
        return evaluate(request)
    except Unknown as error:
        return {'unknown': str(error)}
    except (MemoryError, RecursionError):
        return {'unknown': 'its value is too large'}


def too_long(*_):
    raise Unknown('it takes too long')


def limit(kind, soft, hard=None):
    try:
        resource.setrlimit(kind, (soft, soft if hard is None else hard))
    except (ValueError, OSError):
        # Some systems do not have, or do not allow, this limit: the time limit of the asker remains.
        pass


def main():
    warnings.simplefilter('ignore')
    if resource is not None:
        limit(resource.RLIMIT_AS, MAX_MEMORY)
        limit(resource.RLIMIT_CORE, 0)
        limit(resource.RLIMIT_FSIZE, 0)
        signal.signal(signal.SIGVTALRM, too_long)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if resource is not None:
            used = resource.getrusage(resource.RUSAGE_SELF)
            # The timer ends a computation; the limit ends the process where the timer is not heard.
            limit(
                resource.RLIMIT_CPU,
                int(used.ru_utime + used.ru_stime) + 2 * CPU_SECONDS + 1,
                resource.getrlimit(resource.RLIMIT_CPU)[1],
            )
            signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        result = answer(request)
        if resource is not None:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.stdout.write(json.dumps({'id': request['id'], **result}) + '\n')
        sys.stdout.flush()


if __name__ == '__main__':
    main()
