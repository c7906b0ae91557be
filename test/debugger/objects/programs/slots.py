class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def scale(self, factor):
        self.x *= factor
        self.y *= factor


class Named(Vector):
    __slots__ = ("name", "__secret")

    def __init__(self, name, x, y):
        super().__init__(x, y)
        self.name = name
        self.__secret = name[::-1]

    def forget(self):
        del self.name


a = Vector(1, 2)
b = Named("b", 3, 4)
c = a + b
c.scale(10)
b.forget()
b.x, b.y = b.y, b.x
print(c.x, c.y)
