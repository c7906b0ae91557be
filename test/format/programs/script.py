"""A script whose statements need care to become a function's body."""
import math

total: float = 0
names: dict[str, int] = {'a': 1}
limit: int
list = list('ab')
text = """first
  second
\tthird"""
joined = 'one \
two'; after: int = 3; tail: str = 'x'


def add(x):
    global total
    total += x
    return limit_of(x)


def limit_of(x):
    return min(x, len(names))


class Counter:
    base = after

    @property
    def double(self):
        return self.base * 2

    @property
    def triple(self):
        return self.base * 3


for n in range(2):
    add(n)
    square = lambda v, n=n: v * n; cube = lambda v: v ** 3
result = [square(k) + cube(k)
          for k in range(2)
          if (kept := k) >= 0]
if total:
    pass
else:
    never = 1
counter = Counter()
values = counter.double, counter.triple
math = math.floor(2.5)
try:
    int('x')
except ValueError as problem:
    shown = str(problem)
del joined
while total > 0:
    total -= 1
print(text, kept)
