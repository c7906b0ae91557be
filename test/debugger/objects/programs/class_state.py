from dataclasses import dataclass, field
from enum import Enum


class Color(Enum):
    RED = "r"
    GREEN = "g"
    ALSO_RED = "r"


class Base:
    count = 0
    log = []
    kind = "base"

    def __init__(self, name):
        self.name = name
        self.kind_seen = self.kind
        Base.count += 1
        type(self).count += 1
        self.__class__.kind = name
        self.log.append(name)
        self.count_seen = self.count
        self.color = Color.RED

    @classmethod
    def make(cls, name):
        made = cls(name)
        cls.kind = "made"
        made.kind_now = cls.kind
        return made

    def rename(self):
        self.kind = "own"
        Base.kind = "changed"
        self.kind_seen = self.kind
        self.color = Color.ALSO_RED


class Child(Base):
    count = 100

    def __init__(self, name, size=3):
        super().__init__(name)
        self.size = size
        Child.log = self.log + [size]
        self.logged = Child.log


@dataclass
class Point:
    x: int = 0
    y: int = 0
    tags: list = field(default_factory=list)
    total: int = field(init=False, default=-1)


@dataclass
class Area(Point):
    corner: Point = None
    width: int = 1

    def __post_init__(self):
        self.size = self.width * 2
        self.tags.append("new")
        self.x += 1

    def move(self, by):
        self.corner = Point(self.x + by, y=by)
        return Area(x=by, corner=Point(1, 2), width=self.width)


def store(known, *more):
    for index, point in enumerate(known):
        point.x = index
    for name, point in {"a": known[0], "b": more[0]}.items():
        point.y = name
    for point in {"c": known[-1]}.values():
        point.tags.append(1)
    return point


one = Base("one")
two = Child("two")
three = Child.make("three")
four = Base.make("four")
two.rename()
counts = [Base.count, Child.count, two.count, one.kind, three.kind]
five = Child("five", size=Base.count + Child.count)
p = Point(1)
q = Point(y=2, tags=[3])
area = Area(width=4)
moved = area.move(5)
last = store([Point(), p, q], Point(tags=["t"]), area)
points = [p, q]
for point in points:
    if point is p:
        points.append(Point(9))
    point.x += 1
    if len(points) > 3:
        break
for point in points:
    global_name = 1
for empty in []:
    pass
for point in [p]: pass
for point, number in [(p, 1), (q, 2)]:
    point.y = number
del Base.kind
six = Child("six")
print(counts, five.size, last, Base.count)
