# Small functions that go every way; each is called with values that take its branches.
import asyncio
import contextlib


def nested_finally(n):
    log = []
    try:
        try:
            log.append(1 // n)
        finally:
            log.append("inner")
            if n > 1:
                return log
    except ZeroDivisionError as error:
        log.append(
            str(error)
        )
    else:
        log.append("else")
    finally:
        try:
            log.append(len(log))
        finally:
            log = log[:]
    return log


def swallow():
    try:
        raise KeyError("k")
    finally:
        return "swallowed"


def loops(items):
    total = 0
    for item in items:
        if item < 0:
            continue
        if item > 100:
            break
        total += item
    else:
        total = -total
    while total > 3: total -= 2
    while total > 0:
        total -= 1
        if total == 2:
            break
    else:
        total = None
    for _ in range(2): pass
    return total


@contextlib.contextmanager
def guard(hides):
    try:
        yield hides
    except ValueError:
        if not hides:
            raise


def managers(hides):
    with guard(hides) as first, \
            guard(
                True
            ):
        if not first:
            return "left"
        raise ValueError
    with (
        guard(True) as second,
        guard(True),
    ):
        second = int("x")
    return second


def matching(value):
    match value:
        case 0 | 1:
            return "small"
        case [x, *rest] if x > len(
            rest
        ):
            return rest
        case {
            "key": str() as text,
            **others,
        }:
            return text, others
        case (
            complex(real=0)
            | None
        ):
            return "nothing"
        case _:
            pass
    return value


def conditions(a, b, c):
    if (a and
            b or
            not c):
        result = 1
    elif 0 < a < b:
        result = 2
    elif a if b else c:
        result = 3
    else:
        result = 4
    return (
        result
        if result > 2
        else -result
    )


def calls(f, *args, **options):
    return f(
        *args,
        [
            x * 2
            for x in args
            if x
        ],
        sum(y
            for row in [args, args]
            for y in row),
        key=lambda v: (
            v,
            options
        ),
        **options
    )


def decorate(*given):
    if callable(given[0]): return given[0]
    return lambda function: function


@decorate
@decorate(
    1,
    2)
def decorated(a, b=(
        3), *, c: int = 4):
    """A docstring."""
    global LAST
    later: int
    LAST = a
    return a, b, c


def generator(n):
    try:
        while n:
            got = yield n
            n = n - 1 if got is None else got
        yield from range(
            2)
    finally:
        n = None


async def waits(n):
    async with Box() as box:
        async for i in box:
            if i > n:
                break
            await asyncio.sleep(0)
        else:
            n = -1
    return [n
            async for i in Box()
            if i]


class Box:
    """A class with a body of its own."""
    kind: str = "box"
    shared = []
    if kind:
        shared.append(kind)

    async def __aenter__(self): return self

    async def __aexit__(self, *exc): return False

    async def __aiter__(self):
        for i in range(3):
            yield i

    def __hidden(self, __x=1):
        return super().__init__(), __x

    def show(self):
        self.size = [1, 2,
                     3]
        self.size[
            0] += 5
        del self.size[1:
                      2]
        assert self.size, (
            "empty")
        return self.__hidden()


def groups(kind):
    try:
        raise ExceptionGroup("both", [ValueError(1), kind(2)])
    except* ValueError as group:
        found = len(group.exceptions)
    except* OSError:
        found = 0
    return found


def outer(n):
    count = 0
    names = {(last := k): (lambda: k + n)() for k in range(n)}

    def inner(step):
        nonlocal count
        count += step
        return count, last

    try:
        inner(
            "x"
        )
    except (TypeError,
            ValueError):
        raise RuntimeError(
            "no"
        ) from None
    return inner, names


def attempt(function, *args, **options):
    try:
        return function(*args, **options)
    except Exception as error:
        return repr(error)


for n in (0, 1, 2):
    nested_finally(n)
swallow()
for items in ([1, -2, 3], [1, 200], [], [5, 9]):
    loops(items)
for hides in (True, False, 0):
    attempt(managers, hides)
for value in (0, 1, [5, 1], [1, 2, 3], {"key": "k", "b": 2}, {"key": 1}, None, 2j, "other"):
    matching(value)
for a in (0, 1, 2):
    for b in (0, 3):
        for c in (0, 1):
            conditions(a, b, c)
attempt(calls, lambda *args, key: key(args), 1, 0, 2)
decorated(1, c=2)
list(generator(2))
g = generator(3); next(g); g.send(1); g.close()
asyncio.run(waits(0)); asyncio.run(waits(5))
attempt(Box().show)
for kind in (OSError, ValueError, KeyError):
    attempt(groups, kind)
attempt(outer, 2)
