from functools import reduce, wraps


def logged(fn):
    def wrapper(*args):
        return fn(*args)
    return wrapper


def counted(fn):
    calls = 0

    def wrapper(*args):
        nonlocal calls
        calls += 1
        return fn(*args)
    return wrapper


def outer():
    def helper(x):
        return x + 1
    return helper(1)


def other():
    def helper(x):
        return x + 2
    return helper(1)


@logged
@counted
def work(x):
    return x


def key(pair): return pair[1]


fns = [lambda x: x, lambda x: x + 1, lambda y: y, lambda: 0]
results = [fns[0](1), fns[1](1), fns[2](1), fns[3]()]
work(work(1))
outer()
other()
ordered = sorted([(1, 'b'), (2, 'a')], key=key)
product = reduce(lambda a, b: a * b, [1, 2, 3])
table = {k: [v for v in range(k)] for k in range(3)}
nested = [[i * j for i in range(2)] for j in range(2)]
