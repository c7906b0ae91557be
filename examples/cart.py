"""A shopping cart. The second customer bought a pen, and is asked to pay for more than that. Why?"""


class Item:
    def __init__(self, name, price, quantity=1):
        self.name = name
        self.price = price
        self.quantity = quantity

    def __repr__(self):
        return f"Item({self.name!r}, {self.price}, {self.quantity})"


def add(name, price, quantity=1, cart=[]):
    item = Item(name, price, quantity)
    cart.append(item)
    return cart


def total(cart, discounts):
    amount = 0
    for item in cart:
        line = item.price * item.quantity
        percent = discounts.get(item.name, 0)
        amount += line - line * percent // 100
    return amount


discounts = {"notebook": 10, "lamp": 25}

first = add("notebook", 400, 2)
first = add("lamp", 3600, cart=first)
print("first customer:", total(first, discounts))

second = add("pen", 150)
print("second customer:", total(second, discounts))
