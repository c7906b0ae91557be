class Shape:
    def __init__(self, name):
        self.name = name

    @property
    def area(self):
        return 0

    def __lt__(self, other):
        return self.area < other.area


class Square(Shape):
    def __init__(self, name):
        super().__init__(name)
        self.side = 2

    @property
    def area(self):
        return self.side ** 2

    @staticmethod
    def unit():
        return Square('unit')

    @classmethod
    def make(cls, name):
        return cls(name)


class Circle(Shape):
    def __init__(self, name):
        super().__init__(name)
        self.radius = 1

    @property
    def area(self):
        return 3

    @classmethod
    def make(cls, name):
        return cls(name)


class Box:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return True


class Bag:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __call__(self):
        return len(self)


def run():
    shapes = [Square('s'), Circle('c'), Shape('p')]
    areas = [shape.area for shape in shapes]
    smaller = shapes[1] < shapes[0]
    made = [Circle.make('d'), Square.make('t'), Square.unit()]
    box, bag = Box([1, 2]), Bag([3])
    sizes = len(box), len(bag), bag()
    with box as inside:
        raise ValueError('swallowed')
    ordered = sorted(shapes)
    return areas, smaller, sizes, [s.name for s in ordered]


if __name__ == '__main__':
    print(run())
