class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class LinkedList:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, value):
        self.head = Node(value, self.head)
        self.size += 1

    def reverse(self):
        before = None
        node = self.head
        while node is not None:
            after = node.next
            node.next = before
            before = node
            node = after
        self.head = before

    def total(self):
        total = 0
        node = self.head
        while node:
            total += node.value
            node = node.next
        return total


numbers = LinkedList()
for value in (3, 1, 2):
    numbers.push(value)
numbers.reverse()
print(numbers.total(), numbers.head.value)
