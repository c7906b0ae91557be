import asyncio


class Turn:
    def __await__(self):
        yield


async def step(name, log):
    for i in range(2):
        log.append((name, i))
        await Turn()
    return name


async def numbers(n):
    for i in range(n):
        await Turn()
        yield i


async def both():
    log = []
    a = step('a', log)
    b = step('b', log)
    names = [await a, await b]
    async for number in numbers(2):
        log.append(number)
    squares = [n * n async for n in numbers(2)]
    return names, log, squares


def drive(coroutine):
    while True:
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value


print(drive(both()))
