def deep(n):
    if n == 0:
        raise ValueError('bottom')
    return deep(n - 1)


def handled(n):
    try:
        return deep(n)
    except ValueError:
        return 'handled'


def tidy(n):
    try:
        return deep(n)
    finally:
        cleaned = n


def each(items):
    for item in items:
        try:
            yield 10 // item
        except ZeroDivisionError:
            yield None


def recursive(n):
    try:
        if n == 0:
            return [][n]
        return recursive(n - 1)
    except IndexError:
        if n < 2:
            raise
        return n


handled(2)
try:
    tidy(1)
except ValueError as problem:
    caught = repr(problem)
values = list(each([1, 0, 2]))
depth = recursive(3)
missing = next(iter([]), 'none')
assert missing == 'none'
tidy(0)
