from enum import Enum


class State(Enum):
    IDLE = 1
    RUNNING = 2
    DONE = 3


class Machine:
    moves = {"start": "running", "finish": "done"}

    def __init__(self):
        self.state = "idle"
        self.phase = State.IDLE
        self.log = {}
        self.steps = 0

    def fire(self, event):
        before = self.state
        self.state = self.moves.get(event, self.state)
        self.steps = self.steps + 1
        self.log[self.steps] = (before, self.state)
        if self.state == "running":
            self.phase = State.RUNNING
        elif self.state == "done":
            self.phase = State.DONE
        return self.state != before


machine = Machine()
for event in ["start", "unknown", "finish"]:
    changed = machine.fire(event)
machine.log.pop(2)
del machine.log[1]
print(machine.state, machine.log)
