from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    price: float
    count: int = 1


@dataclass
class Order:
    customer: str
    items: list = field(default_factory=list)
    paid: bool = False

    def add(self, item):
        self.items.append(item)

    def total(self):
        total = 0
        for item in self.items:
            total += item.price * item.count
        return total

    def pay(self):
        self.paid = True


order = Order("Eve")
order.add(Item("pen", 1.5, count=4))
order.add(Item("ink", 7.25))
other = Order("Max", paid=True)
total = order.total()
order.pay()
order.items[0].count = 5
print(total, order.total())
