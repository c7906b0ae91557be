import operator
from functools import reduce


class Money:
    made = 0

    def __init__(self, amount):
        self.amount = amount
        Money.made += 1
        self.number = Money.made

    def __add__(self, other):
        self.last = other
        if isinstance(other, Money):
            return Money(self.amount + other.amount)
        return Money(self.amount + other)

    def __radd__(self, other):
        return Money(self.amount + other)

    def __mul__(self, factor):
        self.amount = self.amount * factor
        return self

    def __eq__(self, other):
        self.compared = other
        return self.amount == other.amount

    def __lt__(self, other):
        return self.amount < other.amount

    def __len__(self):
        self.measured = True
        return self.amount

    def __getitem__(self, index):
        self.index = index
        return index

    def __str__(self):
        self.shown = "yes"
        return "$" + str(self.amount)


class Tally:
    def __init__(self):
        self.n = 1
        self.items = [1]

    def bump(self):
        self.n += 10
        self.items.append(self.n)
        return self.n

    def read(self):
        first = self.n + self.bump()
        second = self.bump() + self.n
        third = self.items[-1] + self.bump()
        fourth = self.bump() * self.bump() - self.n
        self.sums = [first, second, third, fourth]
        self.n = self.n + self.bump()


a = Money(1)
b = Money(2)
c = a + b
d = a + b + c
e = b * 3 + a
f = 5 + a
g = sum([a, b], Money(0))
h = reduce(operator.add, [a, b, c])
same = a == b
order = sorted([c, a, b])
small = a < b and b < c
size = len(a) + len(b)
text = str(c) + f"{d}"
i = a[3]
k = (a + b) * 2
pair = [a + 1, b + 2]
chosen = (a if size > 1 else b) + c
total = Money(a.amount + len(b))
shown = f"{b}" + str(a)
said = print(a) or str(b)
true = (1 if a else 2) + len(b)
lists = [a] == [b] or a == c
found = a in [b, c] and a == b
flipped = 5 == a if False else a == b
named = {"m": a}["m"] + b
listed = [tally_of for tally_of in [1]]
tally = Tally()
also = [tally.items[-1], tally.bump(), tally.items[-1]]
also[0] = (tally.items[0], tally.bump(), tally.n)
tally.read()
print(a.amount, b.amount, c.amount, text, Money.made)
