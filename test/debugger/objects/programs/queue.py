class Queue:
    def __init__(self, capacity):
        self.items = []
        self.capacity = capacity
        self.taken = 0

    def put(self, item):
        if len(self.items) >= self.capacity:
            raise OverflowError("full")
        self.items.append(item)

    def take(self):
        item = self.items.pop(0)
        self.taken += 1
        return item


def run():
    queue = Queue(2)
    queue.put("a")
    queue.put("b")
    try:
        queue.put("c")
    except OverflowError:
        pass
    first = queue.take()
    queue.put(first + "!")
    alias = queue.items
    alias.append("sneaked")
    return queue.taken


run()
