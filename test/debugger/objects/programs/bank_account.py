class InsufficientFunds(Exception):
    def __init__(self, missing):
        super().__init__(f"missing {missing}")
        self.missing = missing


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        self.balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(amount - self.balance)
        self.balance -= amount
        self.history.append(("withdraw", amount))


def transfer(source, target, amount):
    source.withdraw(amount)
    target.deposit(amount)


ann = Account("Ann", 100)
bob = Account("Bob")
transfer(ann, bob, 30)
try:
    transfer(bob, ann, 50)
except InsufficientFunds as error:
    missing = error.missing
bob.history.clear()
print(ann.balance, bob.balance, missing)
