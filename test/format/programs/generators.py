def count(n):
    for i in range(n):
        yield i


def walk(node):
    if node is None:
        return
    left, value, right = node
    for x in walk(left):
        yield x
    yield value
    yield from walk(right)


def one(): yield 1


def echo():
    got = None
    while got != 'stop':
        got = yield got


def closing():
    try:
        yield 1
        yield 2
    finally:
        done = True


pairs = list(zip(count(3), count(3)))
tree = ((None, 1, None), 2, ((None, 3, None), 4, None))
flat = list(walk(tree))
ones = [x + y for x, y in zip(one(), one())]
talk = echo()
next(talk)
talk.send('a')
heard = talk.send('b')
it = closing()
first = next(it)
it.close()
lazy = (a * b for a in count(2) for b in (10, 20))
total = sum(lazy)
nones = list(print for x in count(2))
outer = (x for x in (y for y in (z for z in range(3)) if y) if x)
last = max(outer)
a, b = count(2), count(3)
mixed = [next(a), next(b), next(b), next(a)]
