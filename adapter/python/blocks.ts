/**
 * Basic blocks of instructions, of which only the line and the effect on control flow are kept. Laying them out
 * as CPython 3.11's compiler and assembler do makes it known where line events can follow each other.
 */

/** The line of an instruction that has none, such as the jump back at the end of a loop's body. */
export const NO_LINE = -1;

/** Exits of up to this many instructions are copied to the jumps that lead to them. */
const MAX_COPY_SIZE = 4;
/** A chain of jumps that is longer leads round in circles. */
const MAX_HOPS = 1000;

export type Operation =
  /** The call event; what is executed next gives a line event. */
  | 'resume'
  /** May raise. */
  | 'plain'
  /** Cannot raise. */
  | 'quiet'
  | 'nop'
  | 'jump'
  /** Goes to the target or on; may raise. */
  | 'branch'
  /** Ends the frame, or suspends it (`yield`). */
  | 'return'
  | 'yield'
  | 'raise'
  /** Begins and ends the range in which exceptions go to the target. */
  | 'setup'
  | 'popHandler';

export interface Instruction {
  operation: Operation;
  line: number;
  target: Block | null;
  /** How many instructions of CPython it stands for, where that matters. */
  size: number;
  /**
   * On a branch that jumps if the value is this; `keeps` where the value then stays for the target (`and`,
   * `or`). Null for other branches.
   */
  readonly test: { readonly when: boolean; readonly keeps: boolean } | null;
}

export class Block {
  instructions: Instruction[] = [];
  next: Block | null = null;
  /** How many blocks go on here; 0 while it is not known to be reached. */
  predecessors = 0;
  /** Whether it is reached without an exception. */
  warm = false;

  constructor(
    /** Numbers the blocks in the order in which they were made. */
    readonly serial: number,
  ) {}

  get last(): Instruction | null {
    return this.instructions.at(-1) ?? null;
  }

  get exits(): boolean {
    const operation = this.last?.operation;
    return operation === 'return' || operation === 'raise';
  }

  get fallsThrough(): boolean {
    return !this.exits && this.last?.operation !== 'jump';
  }
}

/** Thrown where a body is too large or too deep to be laid out; CPython would refuse it or take forever. */
export class TooComplex extends Error {}

/** Appends instructions, as CPython's compiler does while it walks the syntax tree. */
export class BlockBuilder {
  readonly entry = new Block(0);
  private current = this.entry;
  private blocks = 1;
  private count = 0;
  /** The line that the next instruction gets. */
  line = NO_LINE;

  /**
   * @param callLine the line of the call event
   * @param limit how many instructions there may be
   */
  constructor(
    callLine: number,
    private readonly limit: number,
  ) {
    this.append({ operation: 'resume', line: callLine, target: null, size: 1, test: null });
  }

  emit(operation: Operation, line = this.line, size = 1): void {
    const last = this.current.last;
    // A run of instructions on one line is one to us.
    const joins =
      operation === 'quiet'
        ? last?.operation === 'quiet' || last?.operation === 'plain'
        : operation === 'plain' && last?.operation === 'plain';
    if (joins && last?.line === line) {
      last.size += size;
      return;
    }
    this.append({ operation, line, target: null, size, test: null });
    if (operation === 'return' || operation === 'raise') this.use(this.block());
  }

  jump(
    operation: 'jump' | 'branch' | 'setup',
    target: Block,
    line = this.line,
    test: Instruction['test'] = null,
  ): void {
    this.append({ operation, line, target, size: 1, test });
    this.use(this.block());
  }

  /** A new block, to be used later. */
  block(): Block {
    return new Block(this.blocks++);
  }

  /** Goes on in a block, which the current one falls through to. */
  use(block: Block): void {
    this.current.next = block;
    this.current = block;
  }

  /** Ends the body with the implicit `return None`, where control can get there. */
  finish(): void {
    this.append({ operation: 'quiet', line: NO_LINE, target: null, size: 1, test: null });
    this.append({ operation: 'return', line: NO_LINE, target: null, size: 1, test: null });
  }

  private append(instruction: Instruction): void {
    if (++this.count > this.limit) throw new TooComplex('Too many instructions.');
    this.current.instructions.push(instruction);
  }
}

function* chain(entry: Block): Generator<Block> {
  for (let block: Block | null = entry; block !== null; block = block.next) yield block;
}

function skipEmpty(block: Block): Block {
  let found = block;
  while (found.instructions.length === 0 && found.next !== null) found = found.next;
  return found;
}

function dropEmpty(entry: Block): void {
  for (const block of chain(entry)) {
    while (block.next !== null && block.next.instructions.length === 0) block.next = block.next.next;
    for (const instruction of block.instructions) {
      if (instruction.target !== null) instruction.target = skipEmpty(instruction.target);
    }
  }
}

/**
 * Orders the passes of the assembler that decide which instructions stay, and on which lines.
 *
 * @param firstLine the line of the code object, for a return that has no other
 */
export function assemble(entry: Block, firstLine: number): void {
  for (const block of chain(entry)) {
    for (const instruction of block.instructions) {
      if (instruction.target !== null) instruction.target = skipEmpty(instruction.target);
    }
  }
  const youngestFirst = [...chain(entry)].sort((a, b) => b.serial - a.serial);
  for (const block of youngestFirst) inlineExit(block);
  for (const block of chain(entry)) {
    threadBranch(block);
    threadJump(block);
  }
  for (const block of chain(entry)) removeNops(block);
  // Again: an exit may have become one by now.
  for (const block of youngestFirst) inlineExit(block);
  markReachable(entry);
  for (const block of chain(entry)) if (block.predecessors === 0) block.instructions = [];
  for (const block of chain(entry)) removeNops(block);
  dropEmpty(entry);
  duplicateExits(entry);
  propagateLines(entry);
  // A return that still has no line takes that of the code laid out before it.
  let line = firstLine;
  for (const { last, instructions } of chain(entry)) {
    if (last === null) continue;
    if (last.line !== NO_LINE) ({ line } = last);
    else if (last.operation === 'return') for (const instruction of instructions) instruction.line = line;
  }
  markWarm(entry);
}

/** After the handlers are known: what is left of `try` is a nop with a line, or nothing. */
export function removeHandlerMarks(entry: Block): void {
  for (const block of chain(entry)) {
    for (const instruction of block.instructions) {
      if (instruction.operation !== 'setup' && instruction.operation !== 'popHandler') continue;
      instruction.operation = 'nop';
      instruction.target = null;
    }
  }
  for (const block of chain(entry)) {
    if (block.last?.operation === 'jump' && block.last.target === nextFilled(block)) {
      block.last.operation = 'nop';
      block.last.target = null;
    }
  }
  for (const block of chain(entry)) removeNops(block);
  dropEmpty(entry);
}

function nextFilled(block: Block): Block | null {
  return block.next === null ? null : skipEmpty(block.next);
}

/** A test whose outcome settles the test that it jumps to goes past that one. */
function threadBranch(block: Block): void {
  const branch = block.last;
  if (branch?.operation !== 'branch' || branch.test?.keeps !== true) return;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const target = branch.target;
    const reached = target?.instructions[0];
    if (target === null || reached?.operation !== 'branch' || reached.test === null) return;
    if (reached.line !== branch.line) return;
    const same = reached.test.when === branch.test.when;
    const next = same ? reached.target : target.next === null ? null : skipEmpty(target.next);
    if (next === null || next === target) return;
    branch.target = next;
    if (!same || !reached.test.keeps) return;
  }
}

/** A jump to a jump on the same line goes to where that one goes; so do two jumps without a line. */
function threadJump(block: Block): void {
  const jump = block.last;
  if (jump === null || (jump.operation !== 'jump' && jump.test === null)) return;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const reached = jump.target?.instructions[0];
    if (reached?.operation !== 'jump' || reached.line !== jump.line || reached.target === jump.target) return;
    jump.target = reached.target;
  }
}

/** A jump to an exit that has no line of its own becomes that exit, on the jump's line. */
function inlineExit(block: Block): void {
  const jump = block.last;
  if (jump?.operation !== 'jump' || jump.target?.exits !== true) return;
  if (jump.target.instructions[0]?.line !== NO_LINE) return;
  if (jump.target.instructions.reduce((sum, { size }) => sum + size, 0) > MAX_COPY_SIZE) return;
  jump.operation = 'nop';
  const copied = jump.target.instructions;
  jump.target = null;
  block.instructions.push(...copied.map((instruction) => ({ ...instruction })));
}

function markReachable(entry: Block): void {
  entry.predecessors = 1;
  const pending = [entry];
  const reach = (block: Block) => {
    if (block.predecessors++ === 0) pending.push(block);
  };
  for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
    if (block.next !== null && block.fallsThrough) reach(block.next);
    for (const { target } of block.instructions) if (target !== null) reach(target);
  }
}

/** Finds the blocks that are reached without an exception; the others are laid out behind them. */
function markWarm(entry: Block): void {
  entry.warm = true;
  const warm = [entry];
  const warmUp = (block: Block | null) => {
    if (block === null || block.warm) return;
    block.warm = true;
    warm.push(block);
  };
  for (let block = warm.pop(); block !== undefined; block = warm.pop()) {
    if (block.fallsThrough) warmUp(block.next);
    for (const { operation, target } of block.instructions) if (operation !== 'setup') warmUp(target);
  }
}

/** Removes nops that give no line event: those without a line, and those beside an instruction of their line. */
function removeNops(block: Block): void {
  const kept: Instruction[] = [];
  const { instructions } = block;
  for (const [index, instruction] of instructions.entries()) {
    if (instruction.operation === 'nop') {
      const { line } = instruction;
      if (line === NO_LINE || kept.at(-1)?.line === line) continue;
      const following = instructions[index + 1];
      if (following !== undefined) {
        if (following.line === NO_LINE || following.line === line) {
          following.line = line;
          continue;
        }
      } else if (nextFilled(block)?.instructions[0]?.line === line) {
        continue;
      }
    }
    kept.push(instruction);
  }
  block.instructions = kept;
}

/** Each way into an exit without a line gets its own copy, which then takes the line of that way. */
function duplicateExits(entry: Block): void {
  for (const block of chain(entry)) {
    const jump = block.last;
    const target = jump?.target ?? null;
    if (jump === null || target === null || jump.operation === 'setup' || target.predecessors <= 1) continue;
    if (!target.exits || target.instructions.some(({ line }) => line !== NO_LINE)) continue;
    const copy = new Block(target.serial);
    copy.instructions = target.instructions.map((instruction) => ({ ...instruction }));
    const first = copy.instructions[0];
    if (first !== undefined) first.line = jump.line;
    copy.predecessors = 1;
    copy.next = target.next;
    target.next = copy;
    target.predecessors--;
    jump.target = copy;
  }
}

function propagateLines(entry: Block): void {
  const pass = (block: Block | null, line: number) => {
    const first = block?.instructions[0];
    if (block?.predecessors === 1 && first?.line === NO_LINE) first.line = line;
  };
  for (const block of chain(entry)) {
    let line = NO_LINE;
    for (const instruction of block.instructions) {
      if (instruction.line === NO_LINE) instruction.line = line;
      line = instruction.line;
    }
    if (block.fallsThrough) pass(block.next, line);
    const last = block.last;
    if (last !== null && last.operation !== 'setup') pass(last.target, line);
  }
}
