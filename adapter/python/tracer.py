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

 - a container shows at most 200 items, and no further item once its items' texts have come to 2,000
   characters (half of that in a container inside it, a quarter in the next, and so on);
 - a string shows at most 1,000 characters, an integer 1,000 digits;
 - a container inside eight others shows no items;
 - a container inside itself is `[...]`, `{...}`, `(...)`, as in a repr.

The events
----------
One JSON value a line. An object is a message: the start, the end, or why the program could not be run. An
array is an event: `[kind, frame, line, changes, removed, output, text, more]`, where trailing parts that say
nothing are left out.

 - kind: 0 line, 1 call, 2 return, 3 exception;
 - frame: a number; a generator that is resumed comes with the number that it had;
 - changes: names and values in turn, of the locals that differ from the frame's event before. A value is its
   whole text, or `[n, rest]`: the first n characters of the text before, and the rest;
 - removed: the names that are gone;
 - output: what the program wrote to sys.stdout since the event before, or null;
 - text: a call's function name, a return's value, an exception;
 - more: a call's thread name (null: the main thread); whether a return only suspends a generator.
"""

# The program's folder gets on sys.path only when everything that is needed here has been imported, so that no
# file of the program is taken for a module of the standard library. `python -I` would see to that, but it also
# ignores PYTHONHASHSEED, which makes two runs agree on the order of sets. So what -I does is done by hand: -s
# leaves out the user's site-packages, the starter passes no other PYTHON variable, and this line takes out the
# folder of this file.
import sys

del sys.path[0]

import _thread  # noqa: E402
import ast  # noqa: E402
import atexit  # noqa: E402
import collections  # noqa: E402
import errno  # noqa: E402
import io  # noqa: E402
import itertools  # noqa: E402
import json  # noqa: E402
import operator  # noqa: E402
import os  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import types  # noqa: E402
from itertools import islice  # noqa: E402
from json.encoder import encode_basestring_ascii as quote  # noqa: E402

try:
    import resource
except ImportError:  # Windows
    resource = None

EVENTS_FD = 3

MAX_ITEMS = 200
MAX_CHARACTERS = 2000
MAX_STRING = 1000
MAX_DIGITS = 1000
MAX_DIGIT_BITS = 14000
MAX_NESTING = 8

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
changing_types = {
    id(kind)
    for kind in [
        bytearray,
        collections.OrderedDict,
        collections.Counter,
        collections.defaultdict,
        collections.deque,
        slice,
        type({}.keys()),
        type({}.values()),
        type({}.items()),
        types.MethodType,
        types.GeneratorType,
        types.CoroutineType,
        types.AsyncGeneratorType,
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
    """Knows the text of a value that can change; `kind` is the value's type."""

    __slots__ = ('kind', 'text')

    def __init__(self, value):
        self.kind = type(value)
        self.text = describe(value)

    def update(self, value):
        """Looks at a value of the same type again: whether the text is another one now."""
        text = describe(value)
        if text == self.text:
            return False
        self.text = text
        return True

    def change(self):
        """The newest change, in JSON."""
        return quote(self.text)


class ObjectWatch(Watch):
    """An object whose text names its type only."""

    __slots__ = ()

    def update(self, value):
        return False


def watch(value):
    kind = type(value)
    if id(kind) in changing_types or id(kind) in describers or issubclass(kind, BaseException):
        return Watch(value)
    return ObjectWatch(value)


# ---------------------------------------------------------------------------------------------------------
# Recording events

missing = object()


class Recorder:
    """Takes the events of the program's file and writes them to the pipe in batches."""

    # So many events are kept before they are written at the latest. Writing lets other threads of the program
    # run: the fewer writes, the less the program's own order is disturbed.
    BATCH = 1000
    # A helper thread writes what there is at this pace, in seconds, so that what a waiting program did last
    # is seen.
    PACE = 0.01

    def __init__(self, path, limits):
        self.path = path
        self.max_events = limits['events']
        self.max_output = limits['output']
        self.events = []
        self.room = min(self.BATCH, self.max_events)
        self.written = 0
        self.output_size = 0
        self.numbers = itertools.count()
        self.main_thread = _thread.get_ident()
        self.lock = _thread.allocate_lock()
        self.parent = os.getppid()
        self.initial = {}
        self.last_line = 0
        self.ended = False
        self.output = Output()

    def start(self):
        _thread.start_new_thread(self.write_regularly, ())
        threading.settrace(self.enter)
        sys.settrace(self.enter)

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
                if message is not None:
                    return
                # The process is about to leave: no other thread goes on.
                time.sleep(60)
            events = self.events[:]
            del self.events[: len(events)]
            self.written += len(events)
            self.room = min(self.BATCH, self.max_events - self.written)
            if message is not None:
                self.ended = True
                events.append(json.dumps(message))
            if events:
                events.append('')
                write_all('\n'.join(events).encode('ascii'))

    def enter(self, frame, event, arg):
        """The trace function of all threads: sees the call events of every frame."""
        if frame.f_code.co_filename != self.path:
            return None
        record = frame.f_trace
        if record is None:
            record = self.recording(frame)
        record(frame, event, arg)
        return record

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
        known = {}
        if code.co_name == '<module>':
            for name, value in self.initial.items():
                known[name] = value
        get = known.get
        events = self.events
        output = self.output
        resumable = code.co_flags & 0x2A0
        line = code.co_firstlineno

        def record(frame, event, arg):
            nonlocal line
            scope = frame.f_locals
            if type(scope) is not dict:
                scope = plain_scope(scope)
            changes = []
            removed = []
            for name, value in scope.items():
                old = get(name, missing)
                if old is value:
                    continue
                if isinstance(old, Watch) and old.kind is type(value):
                    if old.update(value):
                        changes.append(quote(name) + ',' + old.change())
                elif is_constant(value):
                    known[name] = value
                    changes.append(quote(name) + ',' + quote(describe(value)))
                else:
                    known[name] = old = watch(value)
                    changes.append(quote(name) + ',' + quote(old.text))
            if len(known) != len(scope):
                removed = [name for name in known if name not in scope]
                for name in removed:
                    del known[name]
            line = frame.f_lineno
            if line is None:
                line = last_line(code)
            self.last_line = line
            parts = [
                '[%d,%d,%d' % (kinds[event], number, line),
                '[%s]' % ','.join(changes),
                '[%s]' % ','.join(map(quote, removed)),
                quote(self.take_output()) if output.tell() else 'null',
            ]
            if event == 'call':
                parts.append(quote(code.co_name))
                name = self.thread_name()
                parts.append('null' if name is None else quote(name))
            elif event == 'return':
                parts.append(quote(describe(arg)))
                parts.append('true' if resumable and suspends(frame) else 'false')
            elif event == 'exception':
                parts.append(quote(describe(arg[1])))
            events.append(','.join(parts) + ']')
            if len(events) >= self.room:
                self.write()
                if self.written >= self.max_events:
                    self.reach_limit('events')
            return record

        return record

    def take_output(self):
        data = self.output.take()
        self.output_size += len(data)
        if self.output_size > self.max_output:
            self.reach_limit('output')
        return data.decode('utf-8', 'surrogatepass')

    def reach_limit(self, name):
        self.end('cut', [], name)

    def end(self, how, notes, limit=None):
        sys.settrace(None)
        data = self.output.take()
        output = data.decode('utf-8', 'surrogatepass')
        self.write({'k': 'end', 'how': how, 'notes': notes, 'limit': limit, 'output': output})
        os._exit(0)


kinds = {'line': 0, 'call': 1, 'return': 2, 'exception': 3}

thread_attributes = threading.Thread.__dict__['__dict__'].__get__


def suspends(frame):
    """Whether a return event of a generator or coroutine is a suspension."""
    at = frame.f_lasti
    return at >= 0 and frame.f_code.co_code[at] in suspending


import opcode  # noqa: E402

suspending = {
    opcode.opmap[name] for name in ('YIELD_VALUE', 'YIELD_FROM', 'SEND', 'ASYNC_GEN_WRAP') if name in opcode.opmap
}


def last_line(code):
    return code.co_firstlineno


def plain_scope(scope):
    """A frame's names as an exact dict; what a class body's own kind of mapping holds is not asked for."""
    if issubclass(type(scope), dict):
        return dict(dict.items(scope))
    if type(scope).__module__ == 'builtins':  # The view of a frame that Python 3.13 and later give.
        return dict(scope)
    return {}


def write_all(data):
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(EVENTS_FD, view) :]
    except OSError:
        os._exit(1)  # Nobody reads any more.


class Output(io.BytesIO):
    """What the program has written to sys.stdout since it was last asked for."""

    def fileno(self):
        return 1

    def take(self):
        data = self.getvalue()
        self.seek(0)
        self.truncate()
        return data


# ---------------------------------------------------------------------------------------------------------
# Running the program


def fail(reason, message, line=None):
    report = {'k': 'failed', 'reason': reason, 'message': message, 'line': line}
    write_all((json.dumps(report) + '\n').encode('ascii'))
    os._exit(0)


def limit_resources(limits):
    if resource is None:
        return
    size = limits['memory']
    for name, most in (('RLIMIT_DATA', size), ('RLIMIT_AS', size + (4 << 30)), ('RLIMIT_CORE', 0)):
        try:
            resource.setrlimit(getattr(resource, name), (most, most))
        except (AttributeError, ValueError, OSError):
            pass


def main():
    global program_module
    job = json.loads(sys.stdin.buffer.read())
    os.environ.pop('PYTHONHASHSEED', None)
    os.set_inheritable(EVENTS_FD, False)
    limit_resources(job['limits'])
    write_all((json.dumps({'k': 'start', 'version': sys.version.split()[0]}) + '\n').encode('ascii'))

    path = job['path']
    mode = job['mode']
    name = '__main__' if job['main'] else '__program__'
    program_module = name
    try:
        code = compile(job['source'], path, 'exec', dont_inherit=True)
        entry = compile(job['entry'], '<entry>', 'eval', dont_inherit=True) if mode == 'entry' else None
    except (SyntaxError, ValueError) as error:
        fail('syntax', message=str(getattr(error, 'msg', error)), line=getattr(error, 'lineno', None))

    recorder = Recorder(path, job['limits'])
    sys.stdout = io.TextIOWrapper(
        recorder.output, encoding='utf-8', errors='surrogatepass', newline='', write_through=True
    )
    sys.argv = [path] + job['args']
    module = types.ModuleType(name)
    sys.modules[name] = module
    scope = module.__dict__
    scope.update(__file__=path, __builtins__=sys.modules['builtins'], __annotations__={}, __cached__=None)
    sys.path.insert(0, os.path.dirname(path))
    sys.setrecursionlimit(sys.getrecursionlimit() + 100)

    if mode != 'script':
        try:
            exec(code, scope)
        except BaseException as error:
            fail('setup', message=describe(error), line=line_in(error.__traceback__, path))
        recorder.output.take()
        if mode == 'function':
            function = scope.get(job['function'])
            arguments = {key: ast.literal_eval(text) for key, text in job['arguments'].items()}
    recorder.initial = dict(scope)
    how, notes = 'returned', []
    try:
        recorder.start()
        if mode == 'script':
            exec(code, scope)
        elif mode == 'entry':
            eval(entry, scope)
        else:
            function(**arguments)
        lost = sys.gettrace() is None
    except SystemExit as error:
        lost = sys.gettrace() is None
        how = 'exited'
        notes.append('The program exited with %s.' % describe(error.code))
    except BaseException as error:
        lost = sys.gettrace() is None
        how = 'raised'
    recorder.end(how, notes)


def line_in(traceback, path):
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


main()
