"""A shopping cart. The second customer bought a pen, and is asked to pay for more than that. Why?"""


def add(name, price, quantity=1, cart=[]):
    cart.append((name, price, quantity))
    return cart


def checkout(cart, discounts):
    total = 0
    for name, price, quantity in cart:
        amount = price * quantity
        percent = discounts.get(name, 0)
        total += amount - amount * percent // 100
    return total


discounts = {"notebook": 10, "lamp": 25}

first = add("notebook", 400, 2)
first = add("lamp", 3600, cart=first)
print("first customer:", checkout(first, discounts))

second = add("pen", 150)
print("second customer:", checkout(second, discounts))
