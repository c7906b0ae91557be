import copy
from functools import reduce


class Box:
    def __init__(self, **given):
        self.values = [1, 2, 3]
        self.name = "box"
        self.extra = given.get("extra", 0)
        for key in given:
            setattr(self, key, given[key])


class Watched:
    def __init__(self):
        self.a = 1

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


def change(things, visit):
    for thing in things:
        visit(thing)


def double(box):
    box.values *= 2


def rename(box, name):
    box.name = name
    return box


box = Box()
change([box], double)
change([box], lambda at: at.values.append(9))
vars(box)["name"] = "renamed"
other = copy.copy(box)
other.values.sort(reverse=True)
box.__dict__.update(name="again")
named = reduce(rename, ["x", "y"], box)
named.extra = 5
watched = Watched()
watched.a = 4
pairs = {"one": box}
pairs["one"].name = "through a dict"
list(map(double, [box, other]))
extra = Box(extra=7, name="n")
print(box.values, box.name)
