/** Builtins that change nothing of the program's but what its own code, which is seen, does. */
export const pureBuiltins: ReadonlySet<string> = new Set(
  (
    'abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float format frozenset ' +
    'getattr hasattr hash hex id input int isinstance issubclass iter len list map max min next object oct ord pow ' +
    'print range repr reversed round set slice sorted str sum super tuple type zip open staticmethod classmethod ' +
    'property deque defaultdict Counter OrderedDict Exception ValueError TypeError KeyError IndexError RuntimeError ' +
    'StopIteration AttributeError NotImplementedError ZeroDivisionError AssertionError OverflowError OSError'
  ).split(' '),
);

/** Builtins that can change anything. */
export const wildBuiltins: ReadonlySet<string> = new Set(
  'setattr delattr exec eval vars globals locals __import__ compile breakpoint'.split(' '),
);

/** Those of them that can bind names of the module. */
export const bindingBuiltins: ReadonlySet<string> = new Set(
  'exec eval globals __import__ breakpoint'.split(' '),
);

/** Modules whose functions change at most the containers that they are given. */
export const pureModules: ReadonlySet<string> = new Set(
  (
    'math cmath random copy itertools functools operator string time datetime json re collections typing decimal ' +
    'fractions statistics enum abc dataclasses heapq bisect textwrap os sys uuid hashlib logging'
  ).split(' '),
);

/** Methods that change the container they are called on. */
export const changingMethods: ReadonlySet<string> = new Set(
  (
    'append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate add discard ' +
    'update setdefault difference_update intersection_update symmetric_difference_update subtract move_to_end ' +
    '__setitem__ __delitem__ __iadd__'
  ).split(' '),
);

/** Methods of builtin types that change nothing. */
export const readingMethods: ReadonlySet<string> = new Set(
  (
    'get items keys values copy count index union intersection difference symmetric_difference issubset issuperset ' +
    'isdisjoint most_common elements join split rsplit splitlines strip lstrip rstrip replace format format_map lower ' +
    'upper title capitalize casefold swapcase startswith endswith find rfind rindex center ljust rjust zfill encode ' +
    'decode isdigit isalpha isalnum isnumeric isdecimal isspace islower isupper istitle isidentifier isprintable ' +
    'partition rpartition removeprefix removesuffix translate expandtabs bit_length bit_count is_integer hex ' +
    'as_integer_ratio to_bytes conjugate send throw close __next__ __iter__ __len__ __repr__ __str__'
  ).split(' '),
);
