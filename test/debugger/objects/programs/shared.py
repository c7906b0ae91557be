class Log:
    def __init__(self, lines):
        self.lines = lines
        self.count = len(lines)

    def write(self, line):
        self.lines.append(line)
        self.count = len(self.lines)

    def __len__(self):
        return self.count


class Service:
    def __init__(self, log, options=None):
        self.log = log
        self.options = options or {}
        self.names = [name.upper() for name in self.options]
        self.partner = None

    def run(self, *messages):
        for message in messages:
            self.log.write(message)
        return len(self.log)


def wire(one, other):
    one.partner = other
    other.partner = one


lines = []
log = Log(lines)
one = Service(log, {"a": 1})
two = Service(log)
wire(one, two)
count = one.run("x", "y") + two.run("z")
lines.append("behind")
one.partner.options["b"] = 2
one.options["c"] = one.partner.options["b"] + 1
two.partner.partner.names += ["N"]
while one.options:
    key, value = one.options.popitem()
matrix = [Service(log) for _ in range(2)]
matrix[0].options = {"m": 0}
print(count, lines)
