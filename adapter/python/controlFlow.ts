import { assemble, NO_LINE, removeHandlerMarks, type Block, type Instruction } from './blocks';

/** Where line events can follow each other within one code object, as CPython 3.11 gives them. */
export interface ControlFlow {
  /** All lines on which a line event can occur. */
  readonly lines: ReadonlySet<number>;
  /** The lines of the first line event after the call event: one, as a rule. */
  readonly entryLines: readonly number[];
  /** The lines that can follow, those of the normal flow first. */
  successors(line: number): readonly number[];
  /** Whether the frame can return, or suspend itself, before another line event. */
  canReturnFrom(line: number): boolean;
  /** The same, or be left by an exception. */
  canLeaveFrom(line: number): boolean;
}

interface Edges {
  readonly normal: readonly number[];
  readonly handler: number;
}

interface Following {
  readonly lines: readonly number[];
  readonly returns: boolean;
  readonly leaves: boolean;
}

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly isRaised: boolean;
}

const NO_HANDLER = -1;
const MAY_RAISE: ReadonlySet<Instruction['operation']> = new Set(['plain', 'branch', 'yield', 'raise']);

/**
 * The control flow of laid out blocks.
 *
 * A line event comes before an instruction that has another line than the one executed before it, or that lies
 * behind a jump backwards.
 *
 * @param firstLine the line of the code object
 * @param suspends whether it is a generator's or a coroutine's, the blocks of which stay in their order
 */
export function controlFlowOf(entry: Block, firstLine: number, suspends: boolean): ControlFlow {
  assemble(entry, firstLine);
  const handlers = labelHandlers(entry);
  removeHandlerMarks(entry);
  return new InstructionGraph(entry, handlers, suspends);
}

/** The control flow of a body that could not be laid out: any of its lines can follow any other. */
export function unknownControlFlow(lines: readonly number[]): ControlFlow {
  const all = [...new Set(lines)].sort((a, b) => a - b);
  return {
    lines: new Set(all),
    entryLines: all,
    successors: (line) => [...all.filter((other) => other > line), ...all.filter((other) => other <= line)],
    canReturnFrom: () => true,
    canLeaveFrom: () => true,
  };
}

/** The handler of each instruction that may raise. */
function labelHandlers(entry: Block): Map<Instruction, Block> {
  const handlers = new Map<Instruction, Block>();
  const seen = new Set<Block>([entry]);
  const pending: { readonly block: Block; readonly stack: readonly Block[] }[] = [
    { block: entry, stack: [] },
  ];
  const visit = (block: Block, stack: readonly Block[]) => {
    if (seen.has(block)) return;
    seen.add(block);
    pending.push({ block, stack });
  };
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    let { stack } = item;
    for (const instruction of item.block.instructions) {
      const { operation, target } = instruction;
      const handler = stack.at(-1);
      if (handler !== undefined && MAY_RAISE.has(operation)) handlers.set(instruction, handler);
      if (operation === 'setup' && target !== null) {
        // The handler runs outside of the range that it guards.
        visit(target, stack);
        stack = [...stack, target];
      } else if (operation === 'popHandler') {
        stack = stack.slice(0, -1);
      } else if (target !== null) {
        visit(target, stack);
      }
    }
    if (item.block.next !== null && item.block.fallsThrough) visit(item.block.next, stack);
  }
  return handlers;
}

class InstructionGraph implements ControlFlow {
  readonly lines: ReadonlySet<number>;
  readonly entryLines: readonly number[];
  private readonly instructions: Instruction[] = [];
  private readonly edges: Edges[] = [];
  /** The instructions before which a line event can come, by line. */
  private readonly landings: ReadonlyMap<number, readonly number[]>;
  private readonly following = new Map<number, Following>();

  constructor(entry: Block, handlers: ReadonlyMap<Instruction, Block>, suspends: boolean) {
    const blocks: Block[] = [];
    for (let block: Block | null = entry; block !== null; block = block.next) {
      if (block.instructions.length > 0) blocks.push(block);
    }
    // CPython moves what only exceptions reach behind the rest.
    const ordered = suspends
      ? blocks
      : [...blocks.filter((block) => block.warm), ...blocks.filter((block) => !block.warm)];
    const starts = new Map<Block, number>();
    for (const block of ordered) {
      starts.set(block, this.instructions.length);
      this.instructions.push(...block.instructions);
    }
    const startOf = (block: Block | null): number | null => {
      let found = block;
      while (found !== null && found.instructions.length === 0) found = found.next;
      return found === null ? null : (starts.get(found) ?? null);
    };
    for (const block of ordered) {
      const last = block.instructions.length - 1;
      const start = starts.get(block) ?? 0;
      for (const [offset, instruction] of block.instructions.entries()) {
        const normal: number[] = [];
        if (offset < last) normal.push(start + offset + 1);
        else if (block.fallsThrough) {
          const next = startOf(block.next);
          if (next !== null) normal.push(next);
        }
        const target = startOf(instruction.target);
        if (target !== null) normal.push(target);
        const handler = startOf(handlers.get(instruction) ?? null);
        this.edges.push({ normal, handler: handler ?? NO_HANDLER });
      }
    }
    this.landings = this.findLandings();
    this.lines = new Set([...this.landings.keys()].sort((a, b) => a - b));
    this.entryLines = this.explore([0]).lines;
  }

  successors(line: number): readonly number[] {
    return this.follow(line).lines;
  }

  canReturnFrom(line: number): boolean {
    return this.follow(line).returns;
  }

  canLeaveFrom(line: number): boolean {
    return this.follow(line).leaves;
  }

  private lineOf(index: number): number {
    return this.instructions[index]?.line ?? NO_LINE;
  }

  /** Whether going from one instruction to another gives a line event. */
  private fires(from: number, to: number): boolean {
    const line = this.lineOf(to);
    return (
      line !== NO_LINE &&
      (this.instructions[from]?.operation === 'resume' || line !== this.lineOf(from) || to < from)
    );
  }

  /** Finds where line events can come; code that nothing reaches counts only for lines without other code. */
  private findLandings(): ReadonlyMap<number, number[]> {
    const reached = this.reachable();
    const landings = new Map<number, Set<number>>();
    const unreached = new Map<number, Set<number>>();
    for (const [from, { normal, handler }] of this.edges.entries()) {
      const found = reached.has(from) ? landings : unreached;
      for (const to of handler === NO_HANDLER ? normal : [...normal, handler]) {
        if (!this.fires(from, to)) continue;
        const line = this.lineOf(to);
        const known = found.get(line);
        if (known === undefined) found.set(line, new Set([to]));
        else known.add(to);
      }
    }
    return new Map([...unreached, ...landings].map(([line, indices]) => [line, [...indices]]));
  }

  private reachable(): ReadonlySet<number> {
    const reached = new Set<number>([0]);
    const pending = [0];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const edges = this.edges[index];
      if (edges === undefined) continue;
      for (const next of edges.handler === NO_HANDLER ? edges.normal : [...edges.normal, edges.handler]) {
        if (reached.has(next)) continue;
        reached.add(next);
        pending.push(next);
      }
    }
    return reached;
  }

  private follow(line: number): Following {
    let following = this.following.get(line);
    if (following === undefined) {
      following = this.explore(this.landings.get(line) ?? []);
      this.following.set(line, following);
    }
    return following;
  }

  /** The line events that can come next after those before some instructions. */
  private explore(landed: readonly number[]): Following {
    const lines = new Set<number>();
    const raised = new Set<number>();
    const seen = new Set<number>();
    const ends = { returns: false, leaves: false };
    // Depth first, so that the lines come in the order of the flow; what exceptions reach comes last.
    const pending: Edge[] = [];
    const handlers: Edge[] = [];
    const leave = (index: number, isRaised: boolean) => {
      seen.add(index);
      const edges = this.edges[index];
      const operation = this.instructions[index]?.operation;
      if (edges === undefined || operation === undefined) return;
      if (operation === 'return' || operation === 'yield') ends.returns = true;
      const loops = edges.normal.length > 1 && (edges.normal[1] ?? 0) < index;
      const ordered = loops ? edges.normal : edges.normal.toReversed();
      pending.push(...ordered.map((to) => ({ from: index, to, isRaised })));
      if (!MAY_RAISE.has(operation)) return;
      if (edges.handler === NO_HANDLER) ends.leaves = true;
      else handlers.push({ from: index, to: edges.handler, isRaised: true });
    };
    const follow = (edge: Edge) => {
      if (this.fires(edge.from, edge.to)) (edge.isRaised ? raised : lines).add(this.lineOf(edge.to));
      else if (!seen.has(edge.to)) leave(edge.to, edge.isRaised);
    };
    for (const index of landed) {
      if (!seen.has(index)) leave(index, false);
      for (let edge = pending.pop(); edge !== undefined; edge = pending.pop()) follow(edge);
    }
    for (let edge = handlers.pop(); edge !== undefined; edge = pending.pop() ?? handlers.pop()) follow(edge);
    for (const line of raised) lines.add(line);
    return { lines: [...lines], returns: ends.returns, leaves: ends.leaves || ends.returns };
  }
}
