class Shape:
    sides = 0

    def __init__(self, name):
        self.name = name
        self.tags = set()

    def describe(self):
        self.tags.add("seen")
        return f"{self.name}: {self.area()}"

    def area(self):
        return 0


class Rectangle(Shape):
    sides = 4

    def __init__(self, width, height):
        super().__init__("rectangle")
        self.width, self.height = width, height

    def area(self):
        return self.width * self.height


class Square(Rectangle):
    def __init__(self, side):
        Rectangle.__init__(self, side, side)
        self.name = "square"

    def grow(self, by):
        self.width += by
        self.height += by
        return self


shapes = [Rectangle(2, 3), Square(4), Shape("none")]
for shape in shapes:
    text = shape.describe()
square = shapes[1]
square.grow(1).grow(2)
print(square.area(), square.sides)
