"""What CPython 3.11's bytecode says of the control flow of source files, as JSON lines on standard output.

A line event comes before an instruction whose line differs from the one executed before it, or that lies behind a
jump backwards. For each code object: the lines of its first line event, the lines that can follow each line, and
the lines from which it can return.
"""

import dis
import json
import sys
import types

# Instructions that raise nothing: neither by themselves nor by code of the program that they call.
QUIET = set(
    "EXTENDED_ARG LOAD_CONST NOP POP_TOP COPY SWAP STORE_FAST PUSH_NULL RESUME JUMP_FORWARD JUMP_BACKWARD "
    "JUMP_BACKWARD_NO_INTERRUPT RETURN_VALUE POP_EXCEPT PUSH_EXC_INFO LOAD_CLOSURE MAKE_FUNCTION KW_NAMES PRECALL "
    "LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR IS_OP STORE_NAME STORE_GLOBAL STORE_DEREF SETUP_ANNOTATIONS "
    "BUILD_TUPLE BUILD_LIST BUILD_STRING BUILD_CONST_KEY_MAP LIST_APPEND BUILD_SLICE MAKE_CELL COPY_FREE_VARS "
    "RETURN_GENERATOR LIST_TO_TUPLE MATCH_MAPPING MATCH_SEQUENCE POP_JUMP_FORWARD_IF_NONE "
    "POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE".split()
)
JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}


def can_raise(instructions, index):
    instruction = instructions[index]
    name = instruction.opname
    before = instructions[index - 1] if index else None
    if name in ("BUILD_MAP", "BUILD_SET") and instruction.arg == 0:
        return False
    if name in ("LIST_EXTEND", "SET_UPDATE") and before.opname == "LOAD_CONST":
        return False
    if name.startswith("DELETE_") and before.opname.startswith("STORE_") and before.argval == instruction.argval:
        return False
    return name not in QUIET


class Flow:
    def __init__(self, code):
        self.instructions = list(dis.get_instructions(code))
        lines = {}
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2):
                lines[offset] = line
        self.lines = [lines.get(instruction.offset) for instruction in self.instructions]
        index_of = {instruction.offset: index for index, instruction in enumerate(self.instructions)}
        handlers = dis._parse_exception_table(code)
        self.edges = []
        self.start = next(i for i, instruction in enumerate(self.instructions) if instruction.opname == "RESUME")
        for index, instruction in enumerate(self.instructions):
            edges = []
            if instruction.opname in JUMPS:
                edges.append(index_of[instruction.argval])
            elif instruction.opname not in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE"):
                edges.append(index + 1)
                if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
                    edges.append(index_of[instruction.argval])
            if can_raise(self.instructions, index):
                for entry in handlers:
                    if entry.start <= instruction.offset < entry.end:
                        edges.append(index_of[entry.target])
                        break
            self.edges.append(edges)

    def fires(self, before, after):
        line = self.lines[after]
        if line is None:
            return False
        if before == self.start or line != self.lines[before]:
            return True
        return after < before and self.instructions[after].opname != "SEND"

    def landings(self):
        found = {}
        seen = {self.start}
        pending = [self.start]
        while pending:
            index = pending.pop()
            for after in self.edges[index]:
                if self.fires(index, after):
                    found.setdefault(self.lines[after], set()).add(after)
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        return found

    def explore(self, landed):
        lines = set()
        seen = set(landed)
        pending = list(landed)
        returns = False
        while pending:
            index = pending.pop()
            returns = returns or self.instructions[index].opname in ("RETURN_VALUE", "YIELD_VALUE")
            for after in self.edges[index]:
                if self.fires(index, after):
                    lines.add(self.lines[after])
                elif after not in seen:
                    seen.add(after)
                    pending.append(after)
        return sorted(lines), returns


def describe(code):
    flow = Flow(code)
    successors = {}
    returning = []
    for line, landed in flow.landings().items():
        successors[line], returns = flow.explore(landed)
        if returns:
            returning.append(line)
    entry, _ = flow.explore([flow.start])
    parameters = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    optimized = bool(code.co_flags & 2)
    return {
        "name": code.co_name,
        "qualifiedName": code.co_qualname,
        "callLine": 0 if code.co_name == "<module>" else code.co_firstlineno,
        "parameters": list(code.co_varnames[:parameters]),
        "names": sorted({*code.co_varnames, *code.co_cellvars, *code.co_freevars}) if optimized else None,
        "freeNames": sorted(code.co_freevars) if optimized else None,
        "isGenerator": bool(code.co_flags & 0x220),
        "isAsync": bool(code.co_flags & 0x280),
        "entryLines": entry,
        "coLines": sorted({line for _, _, line in code.co_lines() if line}),
        "successors": successors,
        "returning": sorted(returning),
    }


def walk(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from walk(constant)


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        module = compile(file.read(), path, "exec", dont_inherit=True)
    print(json.dumps({"path": path, "units": [describe(code) for code in walk(module)]}))
