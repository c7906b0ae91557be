class Counter:
    made = 0
    all = []

    def __init__(self, start):
        self.count = start
        self.limit = None
        Counter.made += 1
        self.number = Counter.made
        Counter.all.append(self)

    def up(self, by=1):
        self.count += by
        self.limit = self.limit or self.count * 2
        return self.count

    def up_twice(self):
        return self.up() + self.up(by=2)


def swap(one, other):
    one.count, other.count = other.count, one.count


a = Counter(1)
b = Counter(10)
x = a.up_twice()
swap(a, b)
for counter in [a, b]:
    counter.up()
c = b if a.count > 100 else a
c.count = -1
print(Counter.made, a.count, b.count)
