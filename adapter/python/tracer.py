"""Runs a Python program under sys.settrace and writes what happens, event by event, to a pipe.

Started as `python3 -s tracer.py`; the job comes as one JSON object on standard input, the events go to file
descriptor 3. The reader of the pipe sets the pace: while it does not read, the program waits.

How values are written
----------------------
A value is described without calling any of the program's code: no `__repr__`, no property, no `__eq__`.
What is made of builtins looks like its repr. Everything else is `<module.Class object>`, an exception is
`Class(arguments)`; addresses and file paths are left out, and the program's module is always `__main__`.

Long values are cut, and the text says so with `... +N more`, N being what is left out at that place:

    [1, 2, ... +950 more]     {'a': 1, ... +7 more}     (... +3 more)      items
    'abc'... +950 more        b'abc'... +950 more                          characters, after the closing quote
    12345... +950 more                                                     digits
    <int of 40000 bits>                                                    beyond 14,000 bits

 - a container shows at most 128 items, and no further item once its items' texts have come to 2,000
   characters (half of that in a container inside it, a quarter in the next, and so on);
 - a string shows at most 1,000 characters, an integer 1,000 digits;
 - a container inside eight others shows no items;
 - a container inside itself is `[...]`, `{...}`, `(...)`, as in a repr.

The events
----------
One JSON value a line. An object is a message: the start, the end, why the program could not be run, or that all
events that were held back are told (see "Being asked for what is held back"). An array is an event or output:

    [0, frame, line, ...]                   a line event
    [1, frame, line, function, thread, ...] a call; thread is null for the main thread
    [2, frame, line, value, last, ...]      a return; last is 0 where it only suspends a generator
    [3, frame, line, exception, ...]        an exception
    [4, text]                               what the program wrote to sys.stdout before the next event

`frame` is a number; a generator that is resumed comes with the number that it had. The dots are names and
values in turn, of the locals that differ from the frame's event before. A value is its whole text, or
`[n, rest]`: the first n characters of the text before, and the rest; or null: the name is gone.

Edits
-----
A job may ask for edits, each at the n-th event of the main thread, counted from 0. At a call or a line event
locals get other values, which are literals; at a line event execution can go on from another line of the same
code, as by a debugger's jump. The event then tells the edited state. An edit that Python does not allow ends
the run with a message.
"""

# The program's folder gets on sys.path only when everything that is needed here has been imported, so that no
# file of the program is taken for a module of the standard library. `python -I` would see to that, but it also
# ignores PYTHONHASHSEED, which makes two runs agree on the order of sets. So what -I does is done by hand: -s
# leaves out the user's site-packages, the starter passes no other PYTHON variable, and this line takes out the
# folder of this file.
import sys

if __name__ == '__main__':
    del sys.path[0]

import _signal
import _thread
import ast
import atexit
import codecs
import collections
import dis
import errno
import io
import itertools
import json
import opcode
import operator
import os
import struct
import threading
import time
import types
from itertools import islice
from json.encoder import encode_basestring_ascii as quote

try:
    import ctypes
except ImportError:
    ctypes = None
try:
    import resource
except ImportError:  # Windows
    resource = None

EVENTS_FD = 3
events_fd = EVENTS_FD

MAX_ITEMS = 128
MAX_CHARACTERS = 2000
MAX_STRING = 1000
MAX_DIGITS = 1000
MAX_DIGIT_BITS = 14000
MAX_NESTING = 8
MAX_WATCHED = 3

missing = object()
nothing = ()

# ---------------------------------------------------------------------------------------------------------
# Describing values
#
# A value's type is found with type(), never by isinstance(), which asks the value for its `__class__`. Tables
# are keyed by a type's id: a type as a key would be hashed, and a metaclass can define `__hash__`.

module_of = type.__dict__['__module__'].__get__
qualified_name_of = type.__dict__['__qualname__'].__get__
name_of = type.__dict__['__name__'].__get__
arguments_of = BaseException.__dict__['args'].__get__

program_module = '__main__'


def plain(text):
    """A name that a program may have set to anything, as an exact string."""
    return text if type(text) is str else '?'


def class_name(kind):
    """A class's name with its module, as in its repr."""
    module = plain(module_of(kind))
    name = plain(qualified_name_of(kind))
    if module == 'builtins':
        return name
    return ('__main__' if module == program_module else module) + '.' + name


def cut(text, left_out):
    return '%s... +%d more' % (text, left_out)


def describe(value, path=()):
    """The text of a value inside containers whose ids are given."""
    kind = type(value)
    describer = describers.get(id(kind))
    if describer is not None:
        return describer(value, path)
    if issubclass(kind, BaseException):
        items = describe_items(arguments_of(value), path + (id(value),)) if id(value) not in path else '...'
        return '%s(%s)' % (plain(name_of(kind)), items)
    if issubclass(kind, type):
        return "<class '%s'>" % class_name(value)
    return '<%s object>' % class_name(kind)


def describe_int(value, path):
    bits = value.bit_length()
    if bits < 2000:
        return repr(value)
    if bits <= MAX_DIGIT_BITS:
        try:
            digits = repr(value)
        except ValueError:  # The program lowered the limit on digits.
            return '<int of %d bits>' % bits
        shown = MAX_DIGITS + (value < 0)
        return digits if len(digits) <= shown else cut(digits[:shown], len(digits) - shown)
    return '<int of %d bits>' % bits


def describe_plainly(value, path):
    return repr(value)


def describe_string(value, path):
    if len(value) <= MAX_STRING:
        return repr(value)
    return cut(repr(value[:MAX_STRING]), len(value) - MAX_STRING)


def describe_bytearray(value, path):
    return 'bytearray(%s)' % describe_string(bytes(value[:MAX_STRING]), path) if len(value) <= MAX_STRING else (
        'bytearray(%s)' % cut(repr(bytes(value[:MAX_STRING])), len(value) - MAX_STRING)
    )


def budget(path):
    return MAX_CHARACTERS >> max(len(path) - 1, 0)


def describe_items(items, path, count=None):
    """The texts of items, separated by commas, within the limits; `path` includes their container."""
    if count is None:
        count = len(items)
    if count > 0 and len(path) > MAX_NESTING:
        return '... +%d more' % count
    left = budget(path)
    texts = []
    # A list of the items is made in one step: another thread may change the container meanwhile.
    for item in list(islice(items, MAX_ITEMS)):
        if left <= 0:
            break
        text = describe(item, path)
        texts.append(text)
        left -= len(text) + 2
    if len(texts) < count:
        texts.append('... +%d more' % (count - len(texts)))
    return ', '.join(texts)


def describe_pairs(pairs, path, count):
    if count > 0 and len(path) > MAX_NESTING:
        return '... +%d more' % count
    left = budget(path)
    texts = []
    for key, value in list(islice(pairs, MAX_ITEMS)):
        if left <= 0:
            break
        text = '%s: %s' % (describe(key, path), describe(value, path))
        texts.append(text)
        left -= len(text) + 2
    if len(texts) < count:
        texts.append('... +%d more' % (count - len(texts)))
    return ', '.join(texts)


def describe_list(value, path):
    if id(value) in path:
        return '[...]'
    return '[%s]' % describe_items(value, path + (id(value),))


def describe_tuple(value, path):
    if id(value) in path:
        return '(...)'
    items = describe_items(value, path + (id(value),))
    return '(%s,)' % items if len(value) == 1 and not items.startswith('...') else '(%s)' % items


def describe_set(value, path):
    return '{%s}' % describe_items(value, path + (id(value),)) if value else 'set()'


def describe_frozenset(value, path):
    return 'frozenset({%s})' % describe_items(value, path + (id(value),)) if value else 'frozenset()'


def describe_dict(value, path):
    if id(value) in path:
        return '{...}'
    return '{%s}' % describe_pairs(dict.items(value), path + (id(value),), len(value))


def describe_default_dict(value, path):
    factory = describe(value.default_factory, path)
    return 'defaultdict(%s, %s)' % (factory, describe_dict(value, path))


def describe_ordered_dict(value, path):
    if id(value) in path:
        return '...'
    if not value:
        return 'OrderedDict()'
    inside = path + (id(value),)
    if sys.version_info >= (3, 12):
        return 'OrderedDict({%s})' % describe_pairs(value.items(), inside, len(value))
    return 'OrderedDict([%s])' % describe_items(value.items(), inside)


def describe_counter(value, path):
    if id(value) in path:
        return '...'
    if not value:
        return 'Counter()'
    pairs = list(dict.items(value))
    if all(type(count) is int for _, count in pairs):
        pairs.sort(key=operator.itemgetter(1), reverse=True)
    return 'Counter({%s})' % describe_pairs(pairs, path + (id(value),), len(pairs))


def describe_deque(value, path):
    if id(value) in path:
        return '[...]'
    items = describe_items(value, path + (id(value),))
    if value.maxlen is None:
        return 'deque([%s])' % items
    return 'deque([%s], maxlen=%d)' % (items, value.maxlen)


def describe_range(value, path):
    parts = [value.start, value.stop] if value.step == 1 else [value.start, value.stop, value.step]
    return 'range(%s)' % ', '.join(describe(part, path) for part in parts)


def describe_slice(value, path):
    inside = path + (id(value),)
    if len(inside) > MAX_NESTING:
        return 'slice(... +3 more)'
    return 'slice(%s)' % ', '.join(describe(part, inside) for part in (value.start, value.stop, value.step))


def describe_view(value, path):
    return '%s([%s])' % (type(value).__name__, describe_items(value, path + (id(value),)))


def describe_function(value, path):
    return '<function %s>' % plain(value.__qualname__)


def describe_builtin(value, path):
    owner = value.__self__
    if owner is None or type(owner) is types.ModuleType:
        return '<built-in function %s>' % value.__name__
    return '<built-in method %s of %s object>' % (value.__name__, plain(name_of(type(owner))))


def describe_method(value, path):
    function = value.__func__
    if type(function) is types.FunctionType:
        return '<bound method %s>' % plain(function.__qualname__)
    return '<bound method ?>'


def describe_class(value, path):
    return "<class '%s'>" % class_name(value)


def describe_module(value, path):
    names = module_names(value)
    name = names.get('__name__')
    if type(name) is not str:
        return '<module object>'
    shown = '__main__' if name == program_module else name
    return "<module %r%s>" % (shown, ' (built-in)' if name in sys.builtin_module_names else '')


module_names = types.ModuleType.__dict__['__dict__'].__get__


def describe_generator(value, path):
    return '<generator object %s>' % plain(value.__qualname__)


def describe_coroutine(value, path):
    return '<coroutine object %s>' % plain(value.__qualname__)


def describe_async_generator(value, path):
    return '<async_generator object %s>' % plain(value.__qualname__)


def describe_code(value, path):
    return '<code object %s>' % value.co_name


def describe_method_descriptor(value, path):
    return '<method %r of %r objects>' % (value.__name__, plain(name_of(value.__objclass__)))


def describe_slot_wrapper(value, path):
    return '<slot wrapper %r of %r objects>' % (value.__name__, plain(name_of(value.__objclass__)))


def describe_method_wrapper(value, path):
    return '<method-wrapper %r of %s object>' % (value.__name__, plain(name_of(type(value.__self__))))


describers = {
    id(kind): describer
    for kind, describer in [
        (int, describe_int),
        (bool, describe_plainly),
        (float, describe_plainly),
        (complex, describe_plainly),
        (type(None), describe_plainly),
        (type(Ellipsis), describe_plainly),
        (type(NotImplemented), describe_plainly),
        (str, describe_string),
        (bytes, describe_string),
        (bytearray, describe_bytearray),
        (list, describe_list),
        (tuple, describe_tuple),
        (set, describe_set),
        (frozenset, describe_frozenset),
        (dict, describe_dict),
        (collections.defaultdict, describe_default_dict),
        (collections.OrderedDict, describe_ordered_dict),
        (collections.Counter, describe_counter),
        (collections.deque, describe_deque),
        (range, describe_range),
        (slice, describe_slice),
        (type({}.keys()), describe_view),
        (type({}.values()), describe_view),
        (type({}.items()), describe_view),
        (types.FunctionType, describe_function),
        (types.BuiltinFunctionType, describe_builtin),
        (types.MethodType, describe_method),
        (type, describe_class),
        (types.ModuleType, describe_module),
        (types.GeneratorType, describe_generator),
        (types.CoroutineType, describe_coroutine),
        (types.AsyncGeneratorType, describe_async_generator),
        (types.CodeType, describe_code),
        (types.MethodDescriptorType, describe_method_descriptor),
        (types.WrapperDescriptorType, describe_slot_wrapper),
        (types.MethodWrapperType, describe_method_wrapper),
    ]
}

# ---------------------------------------------------------------------------------------------------------
# Peeking: whether a container is as it was, without looking at its items one by one
#
# A list, dict or set holds pointers to its items. While they are the same, and the items cannot change, the
# text is the same. Comparing memory is exact, takes as long for many items as for few, and calls no code of
# the program: `==` would, and it takes 1 for True. The layouts are those of CPython 3.11 and 3.12 with 64
# bits; they are tried out before they are relied on. Elsewhere, and once the program has threads, which could
# free the memory between two looks, containers are described anew at every event.

HEADER = struct.Struct('5q')  # The type and the four words that follow it.
DICT_VERSION = 24
DICT_KEYS = struct.Struct('<qBBBxIqq')


def memory(address, size):
    """A view of memory, whose `raw` is a copy of what is there at that time."""
    return (ctypes.c_char * size).from_address(address)


def header(value):
    return memory(id(value) + 8, HEADER.size)


def list_items(head):
    """Where a list's items are, and how many have room there."""
    _, _, pointer, allocated, _ = HEADER.unpack(head)
    return pointer, allocated


def dict_entries(head):
    """Views of a dict's keys object and of the room for its first entries, and the size of an entry."""
    _, _, _, pointer, split_values = HEADER.unpack(head)
    if split_values:
        return None, None, 8
    keys = memory(pointer, DICT_KEYS.size)
    _, _, index_bytes, kind, _, free, used = DICT_KEYS.unpack(keys.raw)
    size = 16 if kind else 24
    return keys, memory(pointer + DICT_KEYS.size + (1 << index_bytes), size * min(free + used, MAX_ITEMS)), size


def set_table(head):
    """Where a set's table is, and how many bytes it has."""
    _, _, _, mask, pointer = HEADER.unpack(head)
    return pointer, 16 * (mask + 1)


def layouts_are_known():
    """Tries out whether the layouts above are those of this Python."""
    if sys.implementation.name != 'cpython' or sys.version_info[:2] not in ((3, 11), (3, 12)) or not ctypes:
        return False
    if struct.calcsize('P') != 8 or sys.byteorder != 'little' or hasattr(sys, 'gettotalrefcount'):
        return False
    one, two = object(), object()
    items = [one, two]
    pointer, allocated = list_items(header(items).raw)
    if allocated < 2 or memory(pointer, 16).raw != struct.pack('2q', id(one), id(two)):
        return False
    for table in ({'a': one, 'b': two}, {1: one, 2: two}):
        _, entries, size = dict_entries(header(table).raw)
        values = [struct.pack('q', id(value)) for value in (one, two)]
        if entries is None or [entries.raw[end - 8 : end] for end in (size, 2 * size)] != values:
            return False
        before = header(table).raw
        table[next(iter(table))] = two
        if header(table).raw == before:
            return False
    pointer, size = set_table(header({one}).raw)
    return size == 128 and type(pointer) is int


def first_difference(old, new, size):
    """The first part of `size` bytes in which two pieces of memory differ, or how many parts both have."""
    low, high = 0, min(len(old), len(new))
    if old[:high] == new[:high]:
        return high // size
    while high - low > size:
        middle = low + (high - low) // size // 2 * size
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle
    return low // size


# ---------------------------------------------------------------------------------------------------------
# Watching values
#
# A frame's record keeps, for each name, either the value itself, where the same value always has the same
# text, or a Watch that finds out whether the text has changed. Values that are kept are kept alive, so only
# those are whose end no program notices: a record must not put off the call of a `__del__`.

constant_types = {
    id(kind)
    for kind in [
        int,
        bool,
        float,
        complex,
        type(None),
        type(Ellipsis),
        type(NotImplemented),
        str,
        bytes,
        range,
        types.FunctionType,
        types.BuiltinFunctionType,
        type,
        types.ModuleType,
        types.CodeType,
    ]
}


def is_constant(value, nesting=0):
    """Whether a value's text never changes, and the value can be kept."""
    kind = type(value)
    if id(kind) in constant_types:
        return True
    if kind is tuple or kind is frozenset:
        return (
            len(value) <= MAX_ITEMS
            and nesting < MAX_NESTING
            and all(is_constant(item, nesting + 1) for item in value)
        )
    return False


class Watch:
    """Knows the text of a value that can change, by describing it anew.

    The text is right for sure while `header` holds `head` and `body` holds `bytes`, and that is so for all
    `children`. `kept` is how many of the text's characters were the same before the last change. The value of
    a dict's entry has the key's text as its `label`.
    """

    __slots__ = (
        *('kind', 'path', 'identity', 'text', 'kept', 'label', 'key'),
        *('header', 'head', 'body', 'bytes', 'children'),
    )

    def __init__(self, value, path):
        self.kind = type(value)
        self.path = path
        self.kept = 0
        self.header = self.body = no_memory
        self.head = None  # Which no memory holds.
        self.bytes = b''
        self.children = ()
        self.label = ''
        self.key = None
        self.look(value)

    def look(self, value):
        """Describes the value."""
        self.identity = id(value)
        self.text = describe(value, self.path)

    def update(self, value):
        """Looks at a value of the same type: whether the text is another one now."""
        before = self.text
        self.kept = 0
        self.look(value)
        return self.text != before

    def is_same(self):
        """Whether the text is right for sure. The value last looked at must still be there."""
        return self.header.raw == self.head and self.body.raw == self.bytes and self.children_are_same()

    def children_are_same(self):
        for _, child in self.children:
            if child.header.raw != child.head or child.body.raw != child.bytes:
                return False
            if child.children and not child.children_are_same():
                return False
        return True

    def change(self):
        """The last change in JSON."""
        if self.kept and self.text.isascii():
            return f'[{self.kept},{quote(self.text[self.kept:])}]'
        return quote(self.text)


class ObjectWatch(Watch):
    """An object whose text names its type only."""

    __slots__ = ()

    def look(self, value):
        self.text = describe(value, self.path)
        self.update(value)

    def update(self, value):
        self.identity = id(value)
        if peeking:
            self.header = memory(id(value) + 8, 8)  # The type: an object can be given another class.
            self.head = self.header.raw
        return False


class ContainerWatch(Watch):
    """A container whose items are described one by one, and again only when they are other ones.

    `texts` are the texts of the items that are shown, `held` their values, where these are constant, or their
    watches. `raw` are the pointers to them, `size` bytes each, or None. `count` is the number of all items,
    `left` the characters that are left for more, `end` the length of the text without what follows the items,
    `place` the part of the header that tells where the items are.
    """

    __slots__ = ('texts', 'held', 'raw', 'size', 'count', 'left', 'end', 'place')

    opening, closing, empty = '[', ']', '[]'

    def look(self, value):
        self.identity = id(value)
        self.header = self.body = no_memory
        self.head = self.place = None
        self.size = 8
        self.texts = []
        self.held = []
        self.children = []
        self.left = MAX_CHARACTERS >> len(self.path)
        self.count, raw = self.peek(value) if peeking else (len(value), None)
        self.fill(value)
        self.remember(raw)
        self.join()

    def peek(self, value):
        """Renews header and body; returns how many items there are, and the pointers to the first of them."""
        raise NotImplementedError

    def items(self, value, start):
        """The items from one on, as far as they may be shown: a list of its own, made in one step."""
        return list(islice(value, start, MAX_ITEMS))

    def item(self, value, index):
        (item,) = islice(value, index, index + 1)
        return item

    def value_of(self, item):
        return item

    def describe_item(self, item):
        """An item's text, and what is held of it."""
        if type(item) is int and -1000000000 < item < 1000000000:
            return f'{item}', item
        path = self.path + (self.identity,)
        if is_constant(item):
            return describe(item, path), item
        child = watch(item, path)
        return child.text, child

    def fill(self, value):
        """Describes further items, as far as there is room for them."""
        shown = len(self.texts)
        if shown < self.count and self.left > 0:
            for item in self.items(value, shown):
                if self.left <= 0:
                    break
                self.insert(len(self.texts), item)

    def insert(self, index, item):
        text, held = self.describe_item(item)
        if isinstance(held, Watch):
            self.children.append((index, held))
        self.texts.insert(index, text)
        self.held.insert(index, held)
        self.left -= len(text) + 2

    def remove(self, index):
        self.left += len(self.texts.pop(index)) + 2
        del self.held[index]

    def replace(self, index, item):
        text, held = self.describe_item(item)
        if isinstance(held, Watch):
            self.children.append((index, held))
        self.set_text(index, text, held)

    def set_text(self, index, text, held):
        self.left += len(self.texts[index]) - len(text)
        self.texts[index] = text
        self.held[index] = held

    def find_children(self):
        """Finds the watches among what is held again, after items have moved."""
        if self.children:
            self.children = [(index, held) for index, held in enumerate(self.held) if isinstance(held, Watch)]

    def remember(self, raw):
        if raw is None:
            self.raw = self.head = None
        else:
            self.raw = raw[: len(self.texts) * self.size]

    def tail(self):
        """What follows the items in the text."""
        left_out = self.count - len(self.texts)
        return ', ... +%d more%s' % (left_out, self.closing) if left_out else self.closing

    def join(self):
        if not self.count:
            self.end = 0
            self.text = self.empty
        elif not self.texts:
            self.end = 0
            self.text = '%s... +%d more%s' % (self.opening, self.count, self.closing)
        else:
            text = self.opening + ', '.join(self.texts)
            self.end = len(text)
            self.text = text + self.tail()

    def update(self, value):
        before = self.text
        shown = len(self.texts)
        self.kept = 0
        if not self.follow(value):
            self.look(value)
        elif self.kept:
            # The items that were shown are shown as before; others may have come after them.
            text = before[: self.kept]
            if len(self.texts) > shown:
                text += ', ' + ', '.join(self.texts[shown:])
            self.end = len(text)
            self.text = text + self.tail()
        else:
            self.join()
        return self.text != before

    def follow(self, value):
        """Brings the texts up to date item by item; False where all have to be described anew."""
        if not peeking or self.raw is None or id(value) != self.identity:
            return False
        size = self.size
        count, raw = self.peek(value)
        if raw is None or size != self.size:
            return False
        patched = not raw.startswith(self.raw)
        if patched and not self.patch(value, raw):
            return False
        for index, child in list(self.children):
            if not child.is_same():
                patched = True
                item = self.item(value, index)
                if type(self.value_of(item)) is child.kind:
                    child.update(self.value_of(item))
                    self.set_text(index, child.label + child.text, child)
                else:
                    self.replace(index, item)
        self.count = count
        self.kept = 0 if patched else self.end
        if patched:
            while self.texts and (len(self.texts) > MAX_ITEMS or self.left + len(self.texts[-1]) + 2 <= 0):
                self.remove(-1)
        self.fill(value)
        if patched:
            self.find_children()
        self.remember(raw)
        return True

    def patch(self, value, raw):
        """Describes those of the shown items that are other ones than before, where these are few."""
        old, size, shown = self.raw, self.size, len(self.texts)
        at = first_difference(old, raw, size)
        after = (at + 1) * size
        more = len(value) - self.count
        if at * size == len(raw):
            while len(self.texts) > at:
                self.remove(-1)
        elif more == 1 and raw[after : after + len(old) - at * size] == old[at * size :][: len(raw) - after]:
            self.insert(at, self.item(value, at))
        elif more == -1 and raw[at * size : len(old) - size] == old[after:]:
            self.remove(at)
        elif more == 0:
            for _ in range(8):
                self.replace(at, self.item(value, at))
                start = (at + 1) * size
                at = at + 1 + first_difference(old[start:], raw[start:], size)
                if at >= shown:
                    break
            else:
                return False
        else:
            return False
        self.find_children()
        return True

    def extend(self, value, raw):
        """The short way of update(), for items that are shown and are as they were; None: take the long way."""
        texts = self.texts
        shown = len(texts)
        count = len(value)
        before = self.text
        end = self.end
        if count > shown == self.count and self.left > 0 and shown < MAX_ITEMS:
            if count > shown + 1:
                return None
            text, held = self.describe_item(self.last(value))
            if held.__class__ in WATCHES:
                self.children.append((shown, held))
            texts.append(text)
            self.held.append(held)
            self.left -= len(text) + 2
            self.raw = raw[: count * self.size]
            self.count = count
            self.kept = end
            self.end = end + len(text) + 2
            self.text = f'{before[:end]}, {text}{self.closing}'
            return True
        self.count = count
        self.kept = end
        self.text = before[:end] + self.tail()
        return self.text != before

    def last(self, value):
        return value[-1]


class ListWatch(ContainerWatch):
    __slots__ = ()

    def update(self, value):
        if peeking and self.raw and self.identity == id(value) and not self.children:
            head = self.header.raw
            if head[16:32] == self.place:
                raw = self.body.raw
                if raw.startswith(self.raw) and len(value) >= len(self.texts):
                    changed = self.extend(value, raw)
                    if changed is not None:
                        self.head, self.bytes = head, raw
                        return changed
        return ContainerWatch.update(self, value)

    def peek(self, value):
        if self.header is no_memory:
            self.header = header(value)
        self.head = head = self.header.raw
        if head[16:32] != self.place:
            self.place = head[16:32]
            pointer, allocated = list_items(head)
            self.body = memory(pointer, 8 * min(allocated, MAX_ITEMS)) if pointer else no_memory
        self.bytes = self.body.raw
        count = len(value)
        return count, self.bytes[: 8 * count]

    def items(self, value, start):
        return value[start:MAX_ITEMS]

    def item(self, value, index):
        return value[index]


class SetWatch(ContainerWatch):
    __slots__ = ()

    opening, closing, empty = '{', '}', 'set()'

    # So much of a set's table is compared, in bytes. A change that leaves this part and the header as they were
    # would have to clear the set and to fill it again with as many items, most of them the same.
    MAX_TABLE = 8192

    def peek(self, value):
        if self.header is no_memory:
            self.header = header(value)
        self.head = head = self.header.raw
        if head[24:40] != self.place:
            self.place = head[24:40]
            pointer, size = set_table(head)
            self.body = memory(pointer, min(size, self.MAX_TABLE))
        self.bytes = self.body.raw
        # Where in the table the pointers lie is of no interest: a tuple has them in order, right in itself.
        items = tuple(islice(value, MAX_ITEMS))
        return len(value), memory(id(items) + 24, 8 * len(items)).raw


class DictWatch(ContainerWatch):
    __slots__ = ('keys', 'entries')

    opening, closing, empty = '{', '}', '{}'

    def update(self, value):
        if peeking and self.raw and self.identity == id(value) and not self.children:
            head = self.header.raw
            if head[24:40] == self.place and self.keys.raw[24:32] == head[8:16]:
                raw = self.entries.raw
                if raw.startswith(self.raw) and len(value) >= len(self.texts):
                    changed = self.extend(value, raw)
                    if changed is not None:
                        self.head = head
                        return changed
        return ContainerWatch.update(self, value)

    def peek(self, value):
        if self.header is no_memory:
            self.header = header(value)
        self.head = head = self.header.raw
        if head[24:40] != self.place:
            self.place = head[24:40]
            self.keys, self.entries, self.size = dict_entries(head)
        if self.keys is None or self.keys.raw[24:32] != head[8:16]:
            return len(value), None
        return len(value), self.entries.raw[: len(value) * self.size]

    def items(self, value, start):
        return list(islice(dict.items(value), start, MAX_ITEMS))

    def item(self, value, index):
        (item,) = islice(dict.items(value), index, index + 1)
        return item

    def last(self, value):
        return next(reversed(dict.items(value)))

    def value_of(self, item):
        return item[1]

    def describe_item(self, item):
        key, value = item
        if type(key) is int and -1000000000 < key < 1000000000:
            if type(value) is int and -1000000000 < value < 1000000000:
                return f'{key}: {value}', item
        path = self.path + (self.identity,)
        label = describe(key, path) + ': '
        held = key if is_constant(key) else None
        if is_constant(value):
            return label + describe(value, path), (held, value)
        child = watch(value, path)
        child.label, child.key = label, held
        return label + child.text, child


class DefaultDictWatch(DictWatch):
    __slots__ = ('opening',)

    closing = '})'

    def look(self, value):
        self.opening = 'defaultdict(%s, {' % describe(value.default_factory, self.path)
        DictWatch.look(self, value)

    @property
    def empty(self):
        return self.opening + self.closing


WATCHES = (Watch, ObjectWatch, ListWatch, SetWatch, DictWatch, DefaultDictWatch)
container_watches = {
    id(list): ListWatch,
    id(set): SetWatch,
    id(dict): DictWatch,
    id(collections.defaultdict): DefaultDictWatch,
}


def watch(value, path=()):
    """A watch of a value that is not constant."""
    kind = type(value)
    if id(kind) not in describers and not issubclass(kind, (BaseException, type)):
        return ObjectWatch(value, path)
    if peeking and len(path) < MAX_WATCHED and id(value) not in path:
        return container_watches.get(id(kind), Watch)(value, path)
    return Watch(value, path)


peeking = layouts_are_known()
no_memory = types.SimpleNamespace(raw=b'')


# ---------------------------------------------------------------------------------------------------------
# Recording events

# What a function names that may end the process at once, put another one in its place, or close the pipe: its
# events are written one by one, so that none is lost.
LEAVING = frozenset(
    ['_exit', 'abort', 'kill', 'killpg', 'raise_signal', 'closerange', 'dup2'] + [name for name in dir(os) if name.startswith('exec')]
)


class Recorder:
    """Takes the events of the program's file and writes them to the pipe in batches."""

    # So many events are kept before they are written at the latest. Writing lets other threads of the program
    # run: the fewer writes, the less the program's own order is disturbed.
    BATCH = 1000
    # A helper thread writes what there is at this pace, in seconds, so that what a waiting program did last
    # is seen.
    PACE = 0.01

    def __init__(self, path, limits, edits):
        self.path = path
        self.edits = edits
        self.main_events = 0
        self.max_events = limits['events']
        self.max_output = limits['output']
        self.batch = self.BATCH
        self.events = []
        self.room = min(self.batch, self.max_events)
        self.written = 0
        self.output_size = 0
        self.last_line = 0
        self.numbers = itertools.count()
        self.main_thread = _thread.get_ident()
        self.lock = _thread.allocate_lock()
        self.parent = os.getppid()
        self.initial = {}
        self.open = 0
        self.recursion_limit = None
        self.notes = []
        self.ended = False
        self.writer = None  # The thread that is writing.
        self.trace = self.enter

    def start(self):
        try:
            _thread.start_new_thread(self.write_regularly, ())
        except RuntimeError:
            # There are no threads in WebAssembly. Nor does one disturb the order of the program's own.
            self.batch = self.room = 1
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def stop(self):
        """Ends the recording of the main thread; the others end with the process."""
        trace = sys.gettrace()
        if trace is not self.trace:
            what = 'removed the trace function' if trace is None else 'set a trace function of its own'
            self.note('The program %s at line %d: what followed is not shown.' % (what, self.line()))
        sys.settrace(None)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def line(self):
        """The line of the last event."""
        with self.lock:
            self.find_last_line(self.events)
            return self.last_line

    def find_last_line(self, events):
        for text in reversed(events):
            if not text.startswith('[4'):
                self.last_line = int(text.split(',', 3)[2].rstrip(']'))
                break

    def write_regularly(self):
        while True:
            time.sleep(self.PACE)
            if os.getppid() != self.parent:
                os._exit(1)  # Whoever started this is gone.
            self.write()

    def write(self, message=None):
        """Writes the events that have come up, and at the very end a message after them."""
        with self.lock:
            if self.ended:
                # The process is about to leave: no other thread goes on.
                while True:
                    time.sleep(1)
            self.writer = _thread.get_ident()
            events = self.events[:]
            del self.events[: len(events)]
            self.find_last_line(events)
            self.written += len(events)
            self.room = min(self.batch, self.max_events - self.written)
            if message is not None:
                self.ended = True
                events.append(json.dumps(message))
            if events:
                events.append('')
                write_all('\n'.join(events).encode('ascii'))
            self.writer = None

    def write_held(self):
        """Writes what is held back, whatever the main thread is in the middle of."""
        # Another thread that is writing has written, and waits to go on; this one would be interrupted by itself.
        if self.ended or self.writer == self.main_thread:
            return
        events = self.events[:]
        del self.events[: len(events)]
        self.written += len(events)
        write_all('\n'.join([*events, json.dumps({'k': 'held'}), '']).encode('ascii'))

    def enter(self, frame, event, arg):
        """The trace function of all threads: sees the call events of every frame."""
        global peeking
        code = frame.f_code
        if code.co_filename != self.path:
            if code.co_filename == '<string>' and code.co_name == '<module>':
                self.note_other_code(frame.f_back)
            return None
        if peeking and _thread.get_ident() != self.main_thread:
            peeking = False
        if self.open > RecursionLimit.SHALLOW and self.recursion_limit is not None:
            self.recursion_limit.check(frame)
        self.open += 1
        record = frame.f_trace
        if record is None:
            record = self.recording(frame)
            if self.edits:
                record = self.editing(record)
            if not LEAVING.isdisjoint(code.co_names):
                self.batch = self.room = 1
        return record(frame, event, arg)

    def note_other_code(self, caller):
        if caller is not None and caller.f_code.co_filename == self.path:
            self.note('Code that exec() or eval() ran is not part of the file: its steps are not shown.')

    def thread_name(self):
        ident = _thread.get_ident()
        if ident == self.main_thread:
            return None
        thread = threading._active.get(ident)
        name = None if thread is None else thread_attributes(thread).get('_name')
        return name if type(name) is str else 'thread'

    def recording(self, frame):
        """The trace function of one frame."""
        number = next(self.numbers)
        code = frame.f_code
        resumable = code.co_flags & RESUMABLE
        line_prefix = '[0,%d,' % number
        events = self.events
        append = events.append
        names = quoted_names
        # What is known of each name: the value itself or, where that must not be kept alive, its watch. The
        # watches are in `watches` too.
        known = {}
        get = known.get
        watches = {}
        line = code.co_firstlineno
        # A plain function's locals are read where they are; of others, f_locals tells. Up to Python 3.12 that
        # is the same dict each time, and its version tells whether a name was bound anew.
        slots = stores = first_scope = version = None
        seen = -1
        shares = code.co_cellvars or code.co_freevars
        if plain_frames_are_known and code.co_flags & CO_OPTIMIZED and not shares:
            slots = local_slots(frame, code)
            stores = stores_of(code)
        else:
            is_module = code.co_name == '<module>' and not code.co_flags & CO_OPTIMIZED
            first_scope = frame.f_globals if is_module else frame.f_locals
            if peeking and type(first_scope) is dict:
                version = ctypes.c_uint64.from_address(id(first_scope) + DICT_VERSION)
            if is_module:
                known.update(self.initial)

        def rebind(name, value):
            """What to write for a name that may have another value; nothing where the text is the same."""
            old = watches.get(name)
            if old is not None:
                if old.kind is type(value):
                    return quoted(name) + old.change() if old.update(value) else ''
                del watches[name]
            if value is missing:
                return quoted(name) + 'null' if known.pop(name, missing) is not missing else ''
            if is_constant(value):
                known[name] = value
                return quoted(name) + quote(describe(value))
            known[name] = watches[name] = old = watch(value)
            return quoted(name) + quote(old.text)

        def compare(scope):
            """Compares all names with what is known; there may be new ones, and old ones may be gone."""
            changes = ''
            for name, value in scope.items():
                old = get(name, missing)
                if old is not value and (old.__class__ not in WATCHES or old.identity != id(value)):
                    changes += rebind(name, value)
            if len(known) != len(scope):
                for name in [name for name in known if name not in scope]:
                    changes += rebind(name, missing)
            return changes

        def record(frame, event, arg):
            nonlocal line, seen
            try:
                changes = ''
                if slots is not None:
                    # Only the line that has run can have bound a name anew.
                    for index, name in stores.get(line, nothing) if event == 'line' else stores[None]:
                        try:
                            value = slots[index]
                        except ValueError:
                            value = missing
                        old = get(name, missing)
                        if old is not value:
                            if type(value) is int is type(old) and -1000000000 < value < 1000000000:
                                known[name] = value
                                changes = f'{changes}{names[name]}"{value}"'
                            else:
                                changes += rebind(name, value)
                else:
                    scope = first_scope if is_module else frame.f_locals
                    if scope is not first_scope or version is None:
                        scope = plain_scope(scope)
                        changes = compare(scope)
                    elif version.value != seen:
                        seen = version.value
                        changes = compare(scope)
                for name, old in watches.items():
                    # What Watch.is_same() asks, without the call.
                    if (
                        old.header.raw != old.head
                        or old.body.raw != old.bytes
                        or (old.children and not old.children_are_same())
                        or not peeking
                    ):
                        value = scope[name] if slots is None else slots[code.co_varnames.index(name)]
                        if type(value) is not old.kind:
                            known[name] = watches[name] = old = watch(value)
                            changes += quoted(name) + quote(old.text)
                        elif old.update(value):
                            changes += quoted(name) + old.change()
                if event == 'line':
                    line = frame.f_lineno or line
                    append(f'{line_prefix}{line}{changes}]')
                elif event == 'call':
                    name = self.thread_name()
                    thread = 'null' if name is None else quote(name)
                    line = frame.f_lineno or 0
                    append('[1,%d,%d,%s,%s%s]' % (number, line, quote(code.co_name), thread, changes))
                elif event == 'return':
                    self.open -= 1
                    last = not (resumable and suspends(frame))
                    line = frame.f_lineno or line
                    append('[2,%d,%d,%s,%d%s]' % (number, line, quote(describe(arg)), last, changes))
                elif event == 'edited':
                    line = frame.f_lineno or line
                    append(f'{line_prefix}{line}{changes}]')
                else:
                    line = frame.f_lineno or line
                    append('[3,%d,%d,%s%s]' % (number, line, quote(describe(arg[1])), changes))
                if len(events) >= self.room:
                    self.make_room()
            except MemoryError:
                self.reach_limit('memory')
            return record

        return record

    def editing(self, record):
        """A frame's trace function with which the main thread's events are counted, and edits made."""
        repeats = False

        def record_edited(frame, event, arg):
            nonlocal repeats
            if _thread.get_ident() != self.main_thread:
                record(frame, event, arg)
                return record_edited
            if repeats:
                repeats = False
                if event == 'line':
                    return record_edited
            at = self.main_events
            self.main_events += 1
            edit = self.edits.pop(at, None)
            if edit is None:
                record(frame, event, arg)
                return record_edited
            try:
                jumped = make_edit(frame, event, *edit)
            except EditRefused as refused:
                self.refuse_edit(at, str(refused))
            repeats = jumped and jumps_repeat
            record(frame, 'edited' if event == 'line' else event, arg)
            return record_edited

        return record_edited

    def refuse_edit(self, at, why):
        sys.settrace(None)
        self.write({'k': 'failed', 'reason': 'edit', 'message': why, 'line': at})
        os._exit(0)

    def make_room(self):
        self.write()
        if self.written >= self.max_events:
            self.reach_limit('events')

    def print(self, text, size):
        """Takes what the program writes to sys.stdout."""
        self.events.append('[4,%s]' % quote(text))
        self.max_events += 1  # What is written is no event.
        self.output_size += size
        if self.output_size > self.max_output:
            self.reach_limit('output')
        if len(self.events) >= self.room:
            self.make_room()

    def reach_limit(self, name):
        if name == 'memory':
            give_room()
        self.end('cut', name)

    def end(self, how, limit=None):
        """Writes the ending and leaves, without what the interpreter does at its end."""
        sys.settrace(None)
        if self.edits and how != 'cut':
            self.refuse_edit(min(self.edits), 'the program ends before')
        self.write({'k': 'end', 'how': how, 'notes': self.notes, 'limit': limit})
        os._exit(0)

    def is_empty(self):
        return not self.written and not self.events

    def drop(self):
        """Forgets everything, in a process that was forked: it is not followed."""
        self.events.clear()
        self.room = 1 << 62
        self.max_output = 1 << 62


# Flags of code objects: that of functions, and those of generators, coroutines and asynchronous generators.
CO_OPTIMIZED = 0x1
RESUMABLE = 0x20 | 0x80 | 0x200

# Names in JSON between commas, and a function that finds them or makes them.
quoted_names = {}


def quoted(name):
    text = quoted_names.get(name)
    if text is None:
        text = quoted_names[name] = ',%s,' % quote(name)
    return text


thread_attributes = threading.Thread.__dict__['__dict__'].__get__


def suspends(frame):
    """Whether a return event of a generator or coroutine is a suspension."""
    at = frame.f_lasti
    return at >= 0 and frame.f_code.co_code[at] in suspending


suspending = {
    opcode.opmap[name]
    for name in ('YIELD_VALUE', 'YIELD_FROM', 'SEND', 'ASYNC_GEN_WRAP')
    if name in opcode.opmap
}


# The layout of frames in CPython 3.11: the pointer to the frame's data in the frame object, and in the data the
# place of the local variables.
FRAME_DATA = 24
FIRST_LOCAL = 72


def local_slots(frame, code):
    """A function's local variables where the interpreter keeps them; one that is unbound raises ValueError.

    f_locals would make a copy at every event, which also keeps values alive that the program has let go.
    """
    data = ctypes.c_ssize_t.from_address(id(frame) + FRAME_DATA).value
    return (ctypes.py_object * len(code.co_varnames)).from_address(data + FIRST_LOCAL)


def frame_layout_is_known():
    """Tries out whether the layout above is that of this Python."""
    if not peeking or sys.version_info[:2] != (3, 11):
        return False

    def sample(first, second):
        third = object()
        frame = sys._getframe()
        data = ctypes.c_ssize_t.from_address(id(frame) + FRAME_DATA).value
        raw = memory(data + FIRST_LOCAL, 24).raw
        return raw == struct.pack('3q', id(first), id(second), id(third))

    return sample(object(), object())


plain_frames_are_known = frame_layout_is_known()

STORING = frozenset(opcode.opmap[name] for name in ('STORE_FAST', 'DELETE_FAST'))
stores_by_code = {}


def stores_of(code):
    """The local variables that each line may bind anew or unbind, as (index, name); those of all lines at None.

    What has no line of its own, such as the end of a handler, is counted to every line.
    """
    known = stores_by_code.get(id(code))
    if known is not None:
        return known[1]
    lines = {}
    anywhere = set()
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno
        if instruction.opcode in STORING:
            (anywhere if line is None else lines.setdefault(line, set())).add(instruction.arg)
        elif line is not None:
            lines.setdefault(line, set())
    stores = {
        line: tuple((index, code.co_varnames[index]) for index in sorted(indices | anywhere))
        for line, indices in lines.items()
    }
    stores[None] = tuple(enumerate(code.co_varnames))
    stores_by_code[id(code)] = code, stores  # The code is kept, so that its id stays its own.
    return stores


def plain_scope(scope):
    """A frame's names as an exact dict; what a class body's own kind of mapping holds is not asked for."""
    if type(scope) is dict:
        return scope
    if issubclass(type(scope), dict):
        return dict(dict.items(scope))
    if type(scope).__module__ == 'builtins':  # The view of a frame that Python 3.13 and later give.
        return dict(scope)
    return {}


def write_all(data):
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(events_fd, view) :]
    except OSError:
        os._exit(1)  # Nobody reads any more.


class Output(io.BufferedIOBase):
    """What sys.stdout writes to."""

    def __init__(self):
        self.taker = None
        self.decode = codecs.getincrementaldecoder('utf-8')('surrogatepass').decode
        self.mode = 'wb'
        self.name = '<stdout>'

    def writable(self):
        return True

    def fileno(self):
        return 1

    def write(self, data):
        if self.closed:
            raise ValueError('write to closed file')
        data = bytes(data)
        text = self.decode(data)
        if text and self.taker is not None:
            self.taker(text, len(data))
        return len(data)


# ---------------------------------------------------------------------------------------------------------
# Edits


class EditRefused(Exception):
    """Why an edit cannot be made, in words that follow a colon."""


def read_edits(edits):
    """The edits of a job by their event: the values of locals, and the lines that a jump may mean, or None."""
    read = {}
    for edit in edits:
        values = {}
        for name, text in edit['locals'].items():
            try:
                values[name] = ast.literal_eval(text)
            except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
                fail('edit', '%s would be %s, which is no Python literal' % (name, text[:200]), edit['at'])
        read[edit['at']] = values, edit['lines']
    return read


def make_edit(frame, event, values, lines):
    """Edits a frame at an event that is about to be told; whether execution goes on from another line."""
    if event != 'line' and (event != 'call' or lines is not None):
        raise EditRefused('%s %s event cannot be edited' % ('an' if event == 'exception' else 'a', event))
    if values:
        set_locals(frame, values)
    if lines is None:
        return False
    before = frame.f_lineno
    jump(frame, lines)
    return frame.f_lineno != before


def set_locals(frame, values):
    code = frame.f_code
    is_function = code.co_flags & CO_OPTIMIZED
    for name in values:
        variables = code.co_varnames + code.co_cellvars + code.co_freevars
        if not name.isidentifier() or (is_function and name not in variables):
            raise EditRefused('%s is no variable of %s' % (name, code.co_name))
    # Up to Python 3.12 this is a copy of a function's variables, made anew each time that it is asked for.
    scope = frame.f_locals
    for name, value in values.items():
        scope[name] = value
    if is_function and sys.version_info < (3, 13):
        if ctypes is None:
            raise EditRefused('this Python has no ctypes, which setting a local needs')
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


# Instructions that prepare a frame: execution cannot go back to a line that has only these.
PREPARING = frozenset(
    opcode.opmap[name]
    for name in ('RESUME', 'MAKE_CELL', 'COPY_FREE_VARS', 'RETURN_GENERATOR')
    if name in opcode.opmap
)


def jump(frame, lines):
    """Lets execution go on from one of some lines: where it is, or the only one that belongs to the code."""
    code = frame.f_code
    if frame.f_lineno in lines:
        return
    own = {
        line for offset, line in dis.findlinestarts(code) if line and code.co_code[offset] not in PREPARING
    }
    fitting = sorted(own.intersection(lines))
    if not fitting:
        shown = ' or '.join('%d' % line for line in lines[:8])
        raise EditRefused('execution of %s cannot go on from line %s' % (code.co_name, shown))
    if len(fitting) > 1:
        shown = ', '.join('%d' % line for line in fitting[:8])
        raise EditRefused('which of the lines %s is meant cannot be told' % shown)
    try:
        frame.f_lineno = fitting[0]
    except ValueError as error:
        raise EditRefused('Python says: %s' % error) from None


def try_out_jump():
    """Whether this Python tells the line that is jumped to again, by an event of its own."""
    events = 0

    def sample():
        value = 1
        value = 2
        value = 3
        return value

    def trace(frame, event, arg):
        nonlocal events
        if event == 'line':
            events += 1
            if events == 1:
                frame.f_lineno += 2  # What returns the value has an event of its own.
        return trace

    sys.settrace(trace)
    sample()
    sys.settrace(None)
    return events > 2


jumps_repeat = False

# ---------------------------------------------------------------------------------------------------------
# Being asked for what is held back
#
# A program that stays in C code, as in sum(range(10 ** 12)), lets no other thread run and no signal handler of
# Python's: the events before would be lost with it. Before it is ended, it is sent a signal, at which C's own
# handler writes them, in the middle of whatever runs. That can go wrong, in a process that is ended anyway.

running = None
held_handler = None


def listen():
    """Makes a signal write the events that are held back; returns its number, or None where that cannot be."""
    global held_handler
    number = getattr(_signal, 'SIGRTMAX', None)
    if ctypes is None or number is None:
        return None

    def write_held(number):
        if running is not None:
            running.write_held()

    try:
        held_handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(write_held)
        signal = ctypes.CDLL(None).signal
        signal.argtypes = ctypes.c_int, ctypes.c_void_p
        signal.restype = ctypes.c_void_p
        signal(number - 1, ctypes.cast(held_handler, ctypes.c_void_p))
    except (AttributeError, OSError, MemoryError):
        return None
    return number - 1


# ---------------------------------------------------------------------------------------------------------
# Running the program


def fail(reason, message, line=None):
    """Says why the program could not be run, and leaves."""
    report = {'k': 'failed', 'reason': reason, 'message': message, 'line': line}
    write_all((json.dumps(report) + '\n').encode('ascii'))
    os._exit(0)


def keep_events_apart():
    """Moves the pipe of the events out of the program's way, and out of the processes that it starts."""
    global events_fd
    try:
        import fcntl

        events_fd = fcntl.fcntl(EVENTS_FD, fcntl.F_DUPFD_CLOEXEC, 200)
        os.close(EVENTS_FD)
    except (ImportError, OSError):
        os.set_inheritable(EVENTS_FD, False)


def limit_resources(limits):
    """Limits memory and processes where the system can. Not a wall: it holds what goes wrong, not an attack."""
    if resource is None:
        return
    memory_size = limits['memory']
    set_limit('RLIMIT_CORE', 0)
    # Private memory. What is shared between processes counts for the address space only, which libraries use
    # freely.
    set_limit('RLIMIT_DATA', memory_size)
    set_limit('RLIMIT_AS', memory_size + (4 << 30))
    if sys.platform == 'linux' and os.getuid() != 0:
        # Counted are all threads of the user. The superuser's are not limited.
        set_limit('RLIMIT_NPROC', count_threads_of_user() + limits['processes'] + 64)


def set_limit(name, most):
    try:
        number = getattr(resource, name)
        _, hard = resource.getrlimit(number)
        resource.setrlimit(number, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (AttributeError, ValueError, OSError):
        pass


def give_room():
    """Lifts the limit on memory, so that the events that there are can be written."""
    for name in ('RLIMIT_DATA', 'RLIMIT_AS'):
        try:
            number = getattr(resource, name)
            _, hard = resource.getrlimit(number)
            resource.setrlimit(number, (hard, hard))
        except (AttributeError, ValueError, OSError):
            pass


def count_threads_of_user():
    count = 0
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                if os.stat('/proc/' + name).st_uid == os.getuid():
                    count += len(os.listdir('/proc/%s/task' % name))
            except OSError:
                pass
    return count


def limit_processes(recorder, output, most):
    """Lets the program start so many processes, and the processes forked from it none."""
    left = most

    def hook(event, args):
        nonlocal left
        if event in ('os.fork', 'os.forkpty', 'os.posix_spawn', 'os.system', 'subprocess.Popen'):
            if left <= 0:
                recorder.note('It was kept from starting more than %d processes (limit "processes").' % most)
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            left -= 1

    def in_child():
        nonlocal left
        left = 0
        sys.settrace(None)
        threading.settrace(None)
        os.close(events_fd)
        recorder.drop()
        output.taker = write_out

    sys.addaudithook(hook)
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(after_in_child=in_child)


def write_out(text, size):
    """Writes to the real standard output, as a process that was forked does."""
    os.write(1, text.encode('utf-8', 'surrogatepass'))


class RecursionLimit:
    """Keeps the recursion limit for the program, and room beyond it for the trace functions.

    A trace function that fails is removed by the interpreter, so it must not meet the limit itself. The real
    limit is higher than the one that the program sees, and the program is stopped at its own: the trace
    function raises the error when a function is entered too deep. That removes it too, but a profile function
    puts it back before any other event.
    """

    ROOM = 100
    # Frames of ours below the program's, and above it when the depth is tried.
    OWN = 7
    # Fewer open frames of the program cannot come near any sensible limit.
    SHALLOW = 40

    def __init__(self):
        self.set_real = sys.setrecursionlimit
        self.limit = sys.getrecursionlimit()
        self.set_real(self.limit + self.ROOM)

        def setrecursionlimit(limit, /):
            if type(limit) is not int or not 0 < limit < 1 << 30:
                self.set_real(limit)  # Which raises the error.
            self.set_real(limit + self.ROOM)
            self.limit = limit

        def getrecursionlimit():
            return self.limit

        sys.setrecursionlimit, sys.getrecursionlimit = setrecursionlimit, getrecursionlimit

    def check(self, entered):
        """Raises the program's RecursionError, where it has come deeper than it may with a frame."""
        try:
            self.set_real(self.limit + self.OWN)
        except RecursionError:
            pass
        else:
            self.set_real(self.limit + self.ROOM)
            return
        trace, before = sys.gettrace(), sys.getprofile()
        error = RecursionError('maximum recursion depth exceeded')

        def put_back(frame, event, arg):
            sys.setprofile(before)
            sys.settrace(trace)
            # Up to Python 3.10 the first event is that of the caller, which is left by then.
            if frame is not entered and event == 'return' and frame.f_trace is not None:
                frame.f_trace(frame, 'exception', (RecursionError, error, None))
                frame.f_trace(frame, event, arg)

        sys.setprofile(put_back)
        raise error


def let_program_shadow(folder):
    """Forgets modules imported here of which the program's folder has its own, as a plain run would find."""
    for name in list(sys.modules):
        if '.' not in name and name not in sys.builtin_module_names and name not in ('__main__', 'os', 'site'):
            if os.path.isfile(os.path.join(folder, name + '.py')):
                del sys.modules[name]


def module_for(name, path):
    """A module for the program, as the interpreter would make it."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    module.__dict__.update(
        __file__=path,
        __builtins__=sys.modules['builtins'],
        __annotations__={},
        __cached__=None,
    )
    return module


def line_in(traceback, path):
    """The last line of a file that a traceback names."""
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def finish(recorder, how):
    """Waits for the program's threads as the interpreter does, and ends the recording."""
    try:
        threading._shutdown()
    except BaseException:  # Whatever the program's threads leave behind: it is over.
        pass
    running = [thread for thread in threading._active.values() if thread is not threading.main_thread()]
    if running:
        recorder.note('%d daemon threads were still running when the program ended.' % len(running))
    elif _thread._count() > 1 + len(running):
        recorder.note('Threads that the threading module did not start are not shown.')
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass
    recorder.end(how)


def main():
    global program_module, jumps_repeat, running
    job = json.loads(sys.stdin.buffer.read())
    path, mode, limits = job['path'], job['mode'], job['limits']
    os.environ.pop('PYTHONHASHSEED', None)
    keep_events_apart()
    start = {'k': 'start', 'version': sys.version.split()[0], 'heldSignal': listen()}
    write_all((json.dumps(start) + '\n').encode('ascii'))
    try:
        code = compile(job['source'], path, 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        fail('syntax', str(getattr(error, 'msg', None) or error), getattr(error, 'lineno', None))
    try:
        entry = compile(job['entry'].strip(), '<entry>', 'eval', dont_inherit=True) if mode == 'entry' else None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        fail('entrySyntax', str(getattr(error, 'msg', None) or error))
    arguments = {}
    for name, text in job['arguments'].items():
        try:
            arguments[name] = ast.literal_eval(text)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            fail('arguments', '%s is not a literal: %s' % (name, text[:200]))

    edits = read_edits(job['edits'])
    jumps_repeat = any(lines is not None for _, lines in edits.values()) and try_out_jump()

    recorder = running = Recorder(path, limits, edits)
    output = Output()
    sys.stdout = io.TextIOWrapper(
        output, encoding='utf-8', errors='surrogatepass', newline='', write_through=True
    )
    sys.argv = [path] + job['args']
    program_module = '__main__' if job['main'] else '__program__'
    scope = module_for(program_module, path).__dict__
    folder = os.path.dirname(path)
    let_program_shadow(folder)
    sys.path.insert(0, folder)
    recorder.recursion_limit = RecursionLimit()
    limit_processes(recorder, output, limits['processes'])
    limit_resources(limits)

    function = None
    if mode != 'script':
        try:
            exec(code, scope)
        except BaseException as error:
            fail('setup', describe(error), line_in(error.__traceback__, path))
        function = scope.get(job['function'])
        if mode == 'function' and type(function) is not types.FunctionType:
            fail('function', job['function'])
    recorder.initial = dict(scope)
    output.taker = recorder.print
    how, raised = 'returned', None
    recorder.start()
    try:
        if mode == 'script':
            exec(code, scope)
        elif mode == 'entry':
            eval(entry, scope)
        else:
            function(**arguments)
    except SystemExit as error:
        how, raised = 'exited', error
    except BaseException as error:
        how, raised = 'raised', error
    recorder.stop()
    if recorder.is_empty():
        if raised is not None:
            fail('entry', describe(raised))
        recorder.note('The call entered no function of the file: there is nothing to show.')
    if how == 'exited':
        code = raised.code
        shown = '%d' % (code or 0) if code is None or type(code) is int else '1, and says %s' % describe(code)
        recorder.note('The program exited with code %s.' % shown)
    if type(raised) is MemoryError:
        recorder.reach_limit('memory')
    raised = None
    finish(recorder, how)


if __name__ == '__main__':
    main()
