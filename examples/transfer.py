"""Transfers between accounts. One is refused, and afterwards money is missing. Where did it go?"""


class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance

    def __repr__(self):
        return f"Account({self.owner!r}, {self.balance})"

    def change(self, amount):
        balance = self.balance + amount
        self.balance = balance
        if balance < 0:
            raise InsufficientFunds(f"{self.owner} is {-balance} short")


def transfer(source, target, amount):
    source.change(-amount)
    target.change(amount)


def run(transfers):
    refused = []
    for source, target, amount in transfers:
        try:
            transfer(source, target, amount)
        except InsufficientFunds as problem:
            refused.append(str(problem))
    return refused


ada = Account("Ada", 100)
bob = Account("Bob", 20)
before = ada.balance + bob.balance
refused = run([(ada, bob, 30), (bob, ada, 80)])
after = ada.balance + bob.balance
print(refused, before, after)
