import { type Block, NO_LINE, TooComplex, type BlockBuilder } from './blocks';
import type { ExpressionCompiler } from './compileExpressions';
import type { SyntaxNode } from './syntaxTree';

const MAX_DEPTH = 200;

/** What the machine's stack holds while a pattern is matched: it says which clean-up a mismatch jumps to. */
interface PatternContext {
  /** How many names were captured so far; they are stored after the whole pattern matched. */
  stores: number;
  /** The clean-ups by the number of values that they pop. */
  failures: Block[];
  /** How many values lie on the stack for the pattern's own use. */
  onTop: number;
}

/** The pattern inside wrappers and parentheses. */
function unwrapPattern(node: SyntaxNode): SyntaxNode {
  let inner = node;
  for (;;) {
    const [part, ...others] = inner.parts;
    const grouped =
      inner.type === 'tuple_pattern' && others.length === 0 && part !== undefined && !inner.has(',');
    const wraps = inner.type === 'case_pattern' && part !== undefined && !inner.has('-');
    if (!grouped && !wraps) return inner;
    if (grouped && unwrapPattern(part).type === 'splat_pattern') return inner;
    inner = part;
  }
}

function isWildcard(node: SyntaxNode): boolean {
  const pattern = unwrapPattern(node);
  return pattern.type === 'case_pattern' && pattern.has('_');
}

function isWildcardStar(node: SyntaxNode): boolean {
  const pattern = unwrapPattern(node);
  return pattern.type === 'splat_pattern' && pattern.has('_');
}

/** Emits the instructions of `match` statements. */
export class PatternCompiler {
  private depth = 0;

  constructor(
    private readonly builder: BlockBuilder,
    private readonly expressions: ExpressionCompiler,
    private readonly compileBlock: (block: SyntaxNode) => void,
  ) {}

  statement(node: SyntaxNode): void {
    const { builder } = this;
    const subjects = node.all('subject');
    const [subject] = subjects;
    if (subjects.length > 1) {
      this.expressions.evaluateAll(subjects);
      builder.emit('plain', subject?.line);
    } else if (subject !== undefined) {
      this.expressions.evaluate(subject);
    }
    const clauses = node.child('body')?.parts.filter((part) => part.type === 'case_clause') ?? [];
    const end = builder.block();
    for (const [index, clause] of clauses.entries()) {
      const isLast = index === clauses.length - 1;
      this.clause(clause, clauses.length, isLast, end);
    }
    builder.use(end);
  }

  private clause(clause: SyntaxNode, count: number, isLast: boolean, end: Block): void {
    const { builder } = this;
    const patterns = clause.parts.filter((part) => part.type === 'case_pattern');
    const [first] = patterns;
    const guard = clause.child('guard')?.parts[0] ?? null;
    const body = clause.child('consequence');
    if (first === undefined) return;
    const open = patterns.length > 1 || clause.has(',');
    const line = unwrapPattern(first).line;
    builder.line = open ? first.line : line;
    if (isLast && count > 1 && !open && isWildcard(first)) {
      builder.emit('nop');
      if (guard !== null) this.expressions.jumpIf(guard, end, false);
      if (body !== null) this.compileBlock(body);
      return;
    }
    if (!isLast) builder.emit('quiet');
    const context: PatternContext = { stores: 0, failures: [], onTop: 0 };
    if (open) this.sequence(patterns, context);
    else this.pattern(first, context);
    if (context.stores > 0) builder.emit('quiet');
    if (guard !== null) this.expressions.jumpIf(guard, this.failure(context, 0), false);
    if (!isLast) builder.emit('quiet');
    if (body !== null) this.compileBlock(body);
    builder.jump('jump', end, NO_LINE);
    builder.line = line;
    this.emitFailures(context);
  }

  private failure(context: PatternContext, pops: number): Block {
    while (context.failures.length <= pops) context.failures.push(this.builder.block());
    const block = context.failures[pops];
    if (block === undefined) throw new TooComplex('A pattern has no way to fail.');
    return block;
  }

  private fail(context: PatternContext, operation: 'branch' | 'jump' = 'branch'): void {
    this.builder.jump(operation, this.failure(context, context.onTop + context.stores));
  }

  private emitFailures(context: PatternContext): void {
    for (const block of context.failures.slice(1).reverse()) {
      this.builder.use(block);
      this.builder.emit('quiet');
    }
    const last = context.failures[0];
    this.builder.use(last ?? this.builder.block());
  }

  private capture(context: PatternContext): void {
    this.builder.emit('quiet');
    context.stores++;
  }

  private pattern(wrapped: SyntaxNode, context: PatternContext): void {
    const node = unwrapPattern(wrapped);
    const { builder } = this;
    if (++this.depth > MAX_DEPTH) throw new TooComplex('Patterns nest too deep.');
    // What follows a part of a pattern keeps its line, as in the compiler.
    builder.line = node.line;
    switch (node.type) {
      case 'dotted_name':
        if (node.parts.length === 1) this.capture(context);
        else this.value(node, context);
        break;
      case 'identifier':
        this.capture(context);
        break;
      case 'as_pattern':
        this.asPattern(node, context);
        break;
      case 'union_pattern':
        this.union(node, context);
        break;
      case 'list_pattern':
      case 'tuple_pattern':
        this.sequence(node.parts, context);
        break;
      case 'splat_pattern':
        if (node.has('_')) builder.emit('quiet');
        else this.capture(context);
        break;
      case 'dict_pattern':
        this.mapping(node, context);
        break;
      case 'class_pattern':
        this.classPattern(node, context);
        break;
      case 'case_pattern':
        if (node.has('_')) builder.emit('quiet');
        else this.value(node, context);
        break;
      default:
        this.value(node, context);
    }
    this.depth--;
  }

  private value(node: SyntaxNode, context: PatternContext): void {
    const singleton = ['none', 'true', 'false'].includes(node.type);
    if (node.type === 'dotted_name') this.dottedName(node);
    else this.builder.emit('quiet');
    if (!singleton) this.builder.emit('plain');
    this.fail(context);
  }

  private dottedName(node: SyntaxNode): void {
    for (const part of node.parts) this.builder.emit('plain', part.line);
  }

  private asPattern(node: SyntaxNode, context: PatternContext): void {
    const [inner, name] = node.parts;
    context.onTop++;
    this.builder.emit('quiet');
    if (inner !== undefined) this.pattern(inner, context);
    context.onTop--;
    if (name !== undefined) this.capture(context);
  }

  /** Alternatives, which the grammar keeps flat with a sign before negative numbers. */
  private union(node: SyntaxNode, context: PatternContext): void {
    const { builder } = this;
    const end = builder.block();
    let stores = 0;
    let signed: SyntaxNode | null = null;
    for (const alternative of node.children) {
      if (alternative.type === '|') continue;
      if (alternative.type === '-') {
        signed = alternative;
        continue;
      }
      const own: PatternContext = { stores: 0, failures: [], onTop: 0 };
      builder.line = (signed ?? alternative).line;
      builder.emit('quiet');
      if (alternative.type === '_') builder.emit('quiet');
      else if (signed !== null) this.value(alternative, own);
      else this.pattern(alternative, own);
      signed = null;
      ({ stores } = own);
      builder.jump('jump', end);
      this.emitFailures(own);
    }
    builder.emit('quiet');
    this.fail(context, 'jump');
    builder.use(end);
    context.stores += stores;
    builder.emit('quiet');
  }

  private sequence(patterns: readonly SyntaxNode[], context: PatternContext): void {
    const { builder } = this;
    const star = patterns.findIndex((part) => unwrapPattern(part).type === 'splat_pattern');
    const starPattern = patterns[star];
    const starWildcard = starPattern !== undefined && isWildcardStar(starPattern);
    const onlyWildcards = patterns.every((part) => isWildcard(part) || isWildcardStar(part));
    context.onTop++;
    builder.emit('quiet');
    this.fail(context);
    if (star < 0 || patterns.length > 1) {
      builder.emit('plain');
      this.fail(context);
    }
    context.onTop--;
    if (onlyWildcards) {
      builder.emit('quiet');
    } else if (starWildcard) {
      context.onTop++;
      for (const part of patterns) {
        if (isWildcard(part) || part === starPattern) continue;
        builder.emit('plain');
        this.pattern(part, context);
      }
      context.onTop--;
      builder.emit('quiet');
    } else {
      builder.emit('plain');
      context.onTop += patterns.length;
      for (const part of patterns) {
        context.onTop--;
        this.pattern(part, context);
      }
    }
  }

  private mapping(node: SyntaxNode, context: PatternContext): void {
    const { builder } = this;
    const keys = node.all('key').filter((key) => key.type !== '-');
    const values = node.all('value');
    const rest = node.parts.some((part) => unwrapPattern(part).type === 'splat_pattern');
    context.onTop++;
    builder.emit('quiet');
    this.fail(context);
    if (keys.length === 0 && !rest) {
      context.onTop--;
      builder.emit('quiet');
      return;
    }
    if (keys.length > 0) {
      builder.emit('plain');
      this.fail(context);
    }
    for (const key of keys) {
      if (key.type === 'dotted_name') this.dottedName(key);
      else builder.emit('quiet', key.line);
    }
    builder.emit('plain');
    context.onTop += 2;
    this.fail(context);
    builder.emit('plain');
    context.onTop += values.length - 1;
    for (const value of values) {
      context.onTop--;
      this.pattern(value, context);
    }
    context.onTop -= 2;
    if (rest) {
      builder.emit('plain');
      this.capture(context);
    }
    context.onTop--;
    builder.emit('quiet');
  }

  private classPattern(node: SyntaxNode, context: PatternContext): void {
    const { builder } = this;
    const [name, ...given] = node.parts;
    if (name !== undefined) this.dottedName(name);
    builder.emit('plain');
    context.onTop++;
    this.fail(context);
    builder.emit('plain');
    context.onTop += given.length - 1;
    for (const argument of given) {
      const inner = unwrapPattern(argument);
      const value = inner.type === 'keyword_pattern' ? inner.children.at(-1) : argument;
      context.onTop--;
      if (value === undefined || isWildcard(value) || value.type === '_') {
        builder.emit('quiet');
        continue;
      }
      this.pattern(value, context);
    }
  }
}
