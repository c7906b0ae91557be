import { type Block, NO_LINE, TooComplex, type BlockBuilder } from './blocks';
import { unwrap, unwrapTarget, type Constants } from './constants';
import type { SyntaxNode } from './syntaxTree';

/** From this many items on, the compiler builds a collection step by step. */
const STACK_USE_GUIDELINE = 30;
/** Expressions nested deeper than this are one instruction to us; CPython refuses 200 brackets. */
const MAX_DEPTH = 400;
/** Operands of `%` that CPython turns into an f-string: flags, width, precision and conversion. */
const FORMAT_PART = /%(?:%|-?\d{0,3}(?:\.\d{1,3})?[sra])/y;

/** Nodes whose first operand stands at their own beginning, so that they nest to the left without end. */
const SPINE: ReadonlyMap<string, string> = new Map([
  ['binary_operator', 'left'],
  ['attribute', 'object'],
  ['call', 'function'],
  ['subscript', 'value'],
]);

/** The operands of `a and b and c`, which the grammar nests. */
export function booleanOperands(node: SyntaxNode): SyntaxNode[] {
  const operator = node.child('operator')?.type;
  const operands: SyntaxNode[] = [];
  let left: SyntaxNode = node;
  while (left.type === 'boolean_operator' && left.child('operator')?.type === operator) {
    const right = left.child('right');
    const inner = left.child('left');
    if (right === null || inner === null) break;
    operands.push(right);
    left = inner;
  }
  operands.push(left);
  return operands.reverse();
}

function memberOperator(node: SyntaxNode): boolean {
  const operators = node.all('operators');
  return operators.length === 1 && ['in', 'not in', 'is', 'is not'].includes(operators[0]?.type ?? '');
}

/** Emits the instructions of expressions and of the targets that take values. */
export class ExpressionCompiler {
  private depth = 0;

  constructor(
    private readonly builder: BlockBuilder,
    private readonly constants: Constants,
    private readonly text: string,
    /** The comprehensions whose code objects are coroutines. */
    private readonly asyncComprehensions: ReadonlySet<SyntaxNode>,
  ) {}

  /** Evaluates an expression; the line is the caller's again afterwards. */
  evaluate(wrapped: SyntaxNode): void {
    const node = unwrap(wrapped);
    const { builder } = this;
    const outer = builder.line;
    builder.line = node.line;
    this.depth++;
    if (this.constants.of(node) !== null) builder.emit('quiet');
    else if (this.depth > MAX_DEPTH) builder.emit('plain');
    else this.evaluateNode(node);
    this.depth--;
    builder.line = outer;
  }

  evaluateAll(nodes: readonly SyntaxNode[]): void {
    for (const node of nodes) this.evaluate(node);
  }

  private evaluateNode(node: SyntaxNode): void {
    const { builder } = this;
    switch (node.type) {
      case 'identifier':
        builder.emit('plain');
        return;
      case 'string':
      case 'concatenated_string':
        this.formatted(node);
        return;
      case 'binary_operator':
      case 'attribute':
      case 'call':
      case 'subscript':
        this.spine(node);
        return;
      case 'not_operator': {
        const argument = node.child('argument');
        if (argument === null) return;
        this.evaluate(argument);
        // `not a in b` becomes `a not in b`, which has the line of the comparison.
        if (!memberOperator(unwrap(argument))) builder.emit('plain');
        return;
      }
      case 'boolean_operator':
        this.boolean(node);
        return;
      case 'comparison_operator':
        this.comparison(node);
        return;
      case 'conditional_expression':
        this.conditional(node);
        return;
      case 'lambda':
        this.defaults(node.child('parameters'));
        builder.emit('quiet');
        return;
      case 'list_comprehension':
      case 'set_comprehension':
      case 'dictionary_comprehension':
      case 'generator_expression':
        this.comprehensionCall(node);
        return;
      case 'list':
      case 'set':
      case 'tuple':
      case 'expression_list':
      case 'pattern_list':
        this.collection(node.parts, 0, node.type === 'set' ? 'set' : node.type === 'list' ? 'list' : 'tuple');
        return;
      case 'dictionary':
        this.dictionary(node.parts);
        return;
      case 'await':
        this.evaluateAll(node.parts);
        this.awaitValue();
        return;
      case 'yield':
        this.yieldValue(node);
        return;
      case 'named_expression': {
        const value = node.child('value');
        const name = node.child('name');
        if (value !== null) this.evaluate(value);
        if (name !== null) this.store(name);
        return;
      }
      case 'slice':
        this.evaluateAll(node.parts);
        builder.emit('quiet');
        return;
      case 'list_splat':
      case 'list_splat_pattern':
      case 'parenthesized_list_splat':
      case 'type':
        this.evaluateAll(node.parts);
        return;
      default:
        this.evaluateAll(node.parts);
        builder.emit('plain');
    }
  }

  /** Gives the value on the stack to a target. */
  store(wrapped: SyntaxNode): void {
    this.useTarget(wrapped, 'store');
  }

  delete(wrapped: SyntaxNode): void {
    this.useTarget(wrapped, 'delete');
  }

  private useTarget(wrapped: SyntaxNode, use: 'store' | 'delete'): void {
    const node = unwrapTarget(wrapped);
    const { builder } = this;
    const outer = builder.line;
    if (++this.depth > MAX_DEPTH) throw new TooComplex('Targets nest too deep.');
    builder.line = node.line;
    switch (node.type) {
      case 'identifier':
        builder.emit(use === 'store' ? 'quiet' : 'plain');
        break;
      case 'attribute': {
        const object = node.child('object');
        if (object !== null) this.evaluate(object);
        builder.emit('plain', node.endLine);
        break;
      }
      case 'subscript':
        this.subscriptOperands(node);
        builder.emit('plain');
        break;
      case 'list_splat':
      case 'list_splat_pattern':
      case 'as_pattern_target':
        for (const part of node.parts) this.useTarget(part, use);
        break;
      default:
        if (use === 'store') builder.emit('plain');
        for (const part of node.parts) this.useTarget(part, use);
    }
    this.depth--;
    builder.line = outer;
  }

  subscriptOperands(node: SyntaxNode): void {
    const value = node.child('value');
    if (value !== null) this.evaluate(value);
    this.index(node);
  }

  private index(node: SyntaxNode): void {
    const indices = node.all('subscript');
    const first = indices[0];
    if (first === undefined) return;
    const last = indices.at(-1);
    const trailing = node.children.some((child) => child.type === ',' && child.start > (last?.start ?? 0));
    if (indices.length === 1 && !trailing && first.type !== 'list_splat') {
      this.evaluate(first);
      return;
    }
    const outer = this.builder.line;
    this.builder.line = first.line;
    if (indices.every((index) => this.constants.of(index) !== null)) this.builder.emit('quiet');
    else this.collection(indices, 0, 'tuple');
    this.builder.line = outer;
  }

  /** Attribute chains, calls, subscripts and operators, from the innermost operand outwards. */
  private spine(outermost: SyntaxNode): void {
    const pieces = this.formatPieces(outermost);
    if (pieces !== null) {
      this.percentFormat(outermost, pieces);
      return;
    }
    const spine: SyntaxNode[] = [];
    let operand: SyntaxNode = outermost;
    for (;;) {
      const role = SPINE.get(operand.type);
      if (role === undefined) break;
      if (
        operand !== outermost &&
        (this.constants.of(operand) !== null || this.formatPieces(operand) !== null)
      ) {
        break;
      }
      const inner: SyntaxNode | null = operand.child(role);
      if (inner === null) break;
      if (operand.type === 'call' && !this.isMethodCall(operand)) {
        // The place for `self` is kept before the function is evaluated.
        this.builder.emit('quiet', unwrap(inner).line);
      }
      spine.push(operand);
      operand = unwrap(inner);
    }
    if (spine.length === 0) return;
    this.evaluate(operand);
    for (const node of spine.reverse()) {
      this.builder.line = node.line;
      this.finishSpine(node);
    }
  }

  private finishSpine(node: SyntaxNode): void {
    const { builder } = this;
    switch (node.type) {
      case 'attribute':
        builder.emit('plain', node.endLine);
        return;
      case 'subscript':
        this.index(node);
        builder.emit('plain');
        return;
      case 'call': {
        const callee = node.child('function');
        // The call of a method stands on the line of the method's name.
        if (callee !== null && this.isMethodCall(node)) builder.line = unwrap(callee).endLine;
        this.call(this.callArguments(node), 0);
        return;
      }
      default: {
        const right = node.child('right');
        if (right !== null) this.evaluate(right);
        builder.emit('plain');
      }
    }
  }

  private callArguments(node: SyntaxNode): readonly SyntaxNode[] {
    const list = node.child('arguments');
    if (list === null) return [];
    return list.type === 'argument_list' ? list.parts : [list];
  }

  private isMethodCall(node: SyntaxNode): boolean {
    const callee = node.child('function');
    if (callee === null || unwrap(callee).type !== 'attribute') return false;
    const given = this.callArguments(node);
    const keywords = given.filter((argument) => argument.type === 'keyword_argument').length;
    if (given.length + (keywords > 0 ? 1 : 0) >= STACK_USE_GUIDELINE) return false;
    return given.every(
      (argument) =>
        argument.type !== 'list_splat' &&
        argument.type !== 'dictionary_splat' &&
        argument.type !== 'parenthesized_list_splat',
    );
  }

  /**
   * Evaluates a call's arguments and calls, on the current line.
   *
   * @param pushed how many arguments are on the stack already
   */
  call(given: readonly SyntaxNode[], pushed: number): void {
    const { builder } = this;
    const isKeyword = (node: SyntaxNode) =>
      node.type === 'keyword_argument' || node.type === 'dictionary_splat';
    const positional = given.filter((node) => !isKeyword(node));
    const keywords = given.filter(isKeyword);
    const value = (node: SyntaxNode) => {
      const inner = node.type === 'keyword_argument' ? node.child('value') : node.parts[0];
      if (inner !== null && inner !== undefined) this.evaluate(inner);
    };
    const starred = positional.some(isSplat);
    const simple =
      !starred &&
      keywords.every((node) => node.type === 'keyword_argument') &&
      positional.length + keywords.length * 2 <= STACK_USE_GUIDELINE;
    if (simple) {
      this.evaluateAll(positional);
      keywords.forEach(value);
      builder.emit('plain');
      return;
    }
    if (pushed === 0 && positional.length === 1 && starred) this.evaluateAll(positional);
    else this.collection(positional, pushed, 'tuple');
    this.keywordArguments(keywords, value);
    builder.emit('plain');
  }

  private keywordArguments(keywords: readonly SyntaxNode[], value: (node: SyntaxNode) => void): void {
    const { builder } = this;
    let seen: SyntaxNode[] = [];
    let merged = false;
    const flush = () => {
      if (seen.length === 0) return;
      const big = seen.length * 2 > STACK_USE_GUIDELINE;
      if (big) builder.emit('quiet');
      for (const keyword of seen) {
        if (big || seen.length === 1) builder.emit('quiet');
        value(keyword);
        if (big) builder.emit('plain');
      }
      builder.emit('quiet');
      if (merged) builder.emit('plain');
      merged = true;
      seen = [];
    };
    for (const keyword of keywords) {
      if (keyword.type === 'keyword_argument') {
        seen.push(keyword);
        continue;
      }
      flush();
      if (!merged) builder.emit('quiet');
      merged = true;
      value(keyword);
      builder.emit('plain');
    }
    flush();
  }

  /** A list, set or tuple display, or the positional arguments of a call. */
  private collection(items: readonly SyntaxNode[], pushed: number, kind: 'list' | 'set' | 'tuple'): void {
    const { builder } = this;
    if (items.length > 2 && items.every((item) => this.constants.of(item) !== null)) {
      builder.emit('quiet');
      return;
    }
    const big = items.length + pushed > STACK_USE_GUIDELINE;
    const starred = items.some(isSplat);
    let built = big;
    // Only the items of a set are hashed.
    const add = kind === 'set' ? 'plain' : 'quiet';
    if (big) builder.emit('quiet');
    for (const item of items) {
      if (isSplat(item)) {
        if (!built) builder.emit('quiet');
        built = true;
        this.evaluate(item);
        builder.emit('plain');
      } else {
        this.evaluate(item);
        if (built) builder.emit(add);
      }
    }
    if ((!starred && !big) || kind === 'tuple') builder.emit(add);
  }

  private dictionary(items: readonly SyntaxNode[]): void {
    const { builder } = this;
    let pending: SyntaxNode[] = [];
    let built = false;
    const flush = () => {
      if (pending.length === 0) return;
      this.pairs(pending);
      if (built) builder.emit('plain');
      built = true;
      pending = [];
    };
    for (const item of items) {
      if (item.type === 'dictionary_splat') {
        flush();
        if (!built) builder.emit('quiet');
        built = true;
        this.evaluateAll(item.parts);
        builder.emit('plain');
        continue;
      }
      const full = pending.length * 2 > STACK_USE_GUIDELINE;
      pending.push(item);
      if (full) flush();
    }
    flush();
    if (!built) builder.emit('quiet');
  }

  private pairs(pairs: readonly SyntaxNode[]): void {
    const { builder } = this;
    const big = pairs.length * 2 > STACK_USE_GUIDELINE;
    const constantKeys =
      pairs.length > 1 &&
      !big &&
      pairs.every((pair) => {
        const key = pair.child('key');
        return key !== null && this.constants.of(key) !== null;
      });
    if (big) builder.emit('quiet');
    for (const pair of pairs) {
      const key = pair.child('key');
      const value = pair.child('value');
      if (key !== null && !constantKeys) this.evaluate(key);
      if (value !== null) this.evaluate(value);
      if (big) builder.emit('plain');
    }
    if (!big) builder.emit(constantKeys ? 'quiet' : 'plain');
  }

  private boolean(node: SyntaxNode): void {
    const { builder } = this;
    const when = node.child('operator')?.type === 'or';
    const operands = booleanOperands(node);
    const end = builder.block();
    for (const [index, operand] of operands.entries()) {
      const truth = this.constants.of(operand)?.truth;
      if (index === operands.length - 1) {
        this.evaluate(operand);
      } else if (truth === undefined) {
        this.evaluate(operand);
        builder.jump('branch', end, builder.line, { when, keeps: true });
      } else if (truth === when) {
        this.evaluate(operand);
        builder.jump('jump', end);
      } else {
        builder.emit('nop', unwrap(operand).line);
        builder.emit('nop');
      }
    }
    builder.use(end);
  }

  private comparison(node: SyntaxNode): void {
    const { builder } = this;
    const operands = node.parts.filter((part) => part.field !== 'operators');
    const operators = node.all('operators');
    const cleanup = builder.block();
    const last = operands.length - 1;
    for (const [index, operand] of operands.entries()) {
      if (index > 0 && index === last) this.container(operand, operators[index - 1]);
      else this.evaluate(operand);
      if (index > 0 && index < last) {
        builder.emit('plain');
        builder.jump('branch', cleanup, builder.line, { when: false, keeps: true });
      }
    }
    builder.emit('plain');
    if (last < 2) return;
    const end = builder.block();
    builder.jump('jump', end, NO_LINE);
    builder.use(cleanup);
    builder.emit('quiet');
    builder.use(end);
  }

  /** The right operand of a comparison: `in [1, 2]` and `in {1, 2}` are constants. */
  private container(operand: SyntaxNode, operator: SyntaxNode | undefined): void {
    const node = unwrap(operand);
    const membership = operator?.type === 'in' || operator?.type === 'not in';
    const constant =
      membership &&
      (node.type === 'list' || node.type === 'set') &&
      node.parts.every((part) => this.constants.of(part) !== null);
    if (constant) this.builder.emit('quiet', node.line);
    else this.evaluate(operand);
  }

  private conditional(node: SyntaxNode): void {
    const { builder } = this;
    const [body, test, orElse] = node.parts;
    if (body === undefined || test === undefined || orElse === undefined) return;
    const otherwise = builder.block();
    const end = builder.block();
    this.jumpIf(test, otherwise, false);
    this.evaluate(body);
    builder.jump('jump', end, NO_LINE);
    builder.use(otherwise);
    this.evaluate(orElse);
    builder.use(end);
  }

  /** Goes to a block if the expression's truth is `condition`, else on. */
  jumpIf(wrapped: SyntaxNode, target: Block, condition: boolean): void {
    if (++this.depth > MAX_DEPTH) throw new TooComplex('Conditions nest too deep.');
    this.jumpIfNode(unwrap(wrapped), target, condition);
    this.depth--;
  }

  private jumpIfNode(node: SyntaxNode, target: Block, condition: boolean): void {
    const { builder } = this;
    const constant = this.constants.of(node);
    if (constant === null && node.type === 'not_operator') {
      const argument = node.child('argument');
      if (argument !== null && !memberOperator(unwrap(argument))) {
        this.jumpIf(argument, target, !condition);
        return;
      }
      if (argument !== null) builder.line = unwrap(argument).line;
    }
    if (constant === null && node.type === 'boolean_operator') {
      const operands = booleanOperands(node);
      const shortcut = node.child('operator')?.type === 'or';
      const inner = shortcut === condition ? target : builder.block();
      for (const operand of operands.slice(0, -1)) this.jumpIf(operand, inner, shortcut);
      const last = operands.at(-1);
      if (last !== undefined) this.jumpIf(last, target, condition);
      if (inner !== target) builder.use(inner);
      return;
    }
    if (constant === null && node.type === 'conditional_expression') {
      const [body, test, orElse] = node.parts;
      if (body !== undefined && test !== undefined && orElse !== undefined) {
        const otherwise = builder.block();
        const end = builder.block();
        this.jumpIf(test, otherwise, false);
        this.jumpIf(body, target, condition);
        builder.jump('jump', end, NO_LINE);
        builder.use(otherwise);
        this.jumpIf(orElse, target, condition);
        builder.use(end);
        return;
      }
    }
    if (node.type === 'comparison_operator') {
      // What follows a comparison gets its line, up to the next statement.
      builder.line = node.line;
      if (node.all('operators').length > 1) {
        this.jumpIfChained(node, target, condition);
        return;
      }
    }
    if (constant !== null) {
      builder.emit('nop', node.line);
      if (constant.truth === condition) builder.jump('jump', target);
      else builder.emit('nop');
      return;
    }
    this.evaluate(node);
    builder.jump('branch', target, builder.line, { when: condition, keeps: false });
  }

  private jumpIfChained(node: SyntaxNode, target: Block, condition: boolean): void {
    const { builder } = this;
    const operands = node.parts.filter((part) => part.field !== 'operators');
    const operators = node.all('operators');
    const cleanup = builder.block();
    const last = operands.length - 1;
    for (const [index, operand] of operands.entries()) {
      if (index === last) this.container(operand, operators[index - 1]);
      else this.evaluate(operand);
      if (index === 0) continue;
      builder.emit('plain');
      if (index < last) builder.jump('branch', cleanup, builder.line, { when: false, keeps: false });
    }
    builder.jump('branch', target, builder.line, { when: condition, keeps: false });
    const end = builder.block();
    builder.jump('jump', end, NO_LINE);
    builder.use(cleanup);
    builder.emit('quiet');
    if (!condition) builder.jump('jump', target, NO_LINE);
    builder.use(end);
  }

  private yieldValue(node: SyntaxNode): void {
    const { builder } = this;
    const value = node.parts[0];
    if (value === undefined) builder.emit('quiet');
    else this.evaluate(value);
    if (node.has('from')) this.awaitValue();
    else builder.emit('yield');
  }

  /** Waits for the awaitable, or the subiterator, on the stack. */
  awaitValue(): void {
    this.builder.emit('plain');
    this.builder.emit('yield');
    this.builder.emit('quiet');
  }

  /** The values of default parameters: positional ones first, as they are evaluated. */
  defaults(parameters: SyntaxNode | null): void {
    let keywordOnly = false;
    const positional: SyntaxNode[] = [];
    const keyword: SyntaxNode[] = [];
    for (const parameter of parameters?.parts ?? []) {
      const starred = parameter.parts.find((part) => part.type === 'list_splat_pattern');
      if (parameter.type === 'keyword_separator' || parameter.type === 'list_splat_pattern')
        keywordOnly = true;
      else if (parameter.type === 'typed_parameter' && starred !== undefined) keywordOnly = true;
      const value = parameter.child('value');
      if (value !== null) (keywordOnly ? keyword : positional).push(value);
    }
    if (positional.length > 0) {
      this.evaluateAll(positional);
      this.builder.emit('quiet');
    }
    if (keyword.length > 0) {
      this.evaluateAll(keyword);
      this.builder.emit('quiet');
    }
  }

  private comprehensionCall(node: SyntaxNode): void {
    const { builder } = this;
    builder.emit('quiet');
    const clause = node.parts.find((part) => part.type === 'for_in_clause');
    this.iterable(clause ?? null);
    builder.emit('plain');
    if (node.type !== 'generator_expression' && this.asyncComprehensions.has(node)) this.awaitValue();
  }

  /** What a `for` iterates over; a display of constants is one constant. */
  iterable(clause: SyntaxNode | null): void {
    const values = clause?.all('right').filter((part) => part.named) ?? [];
    const value = values[0];
    if (value === undefined) return;
    const node = unwrap(value);
    const constant =
      (node.type === 'list' || node.type === 'set') &&
      node.parts.every((part) => this.constants.of(part) !== null);
    if (constant) this.builder.emit('quiet', node.line);
    else this.evaluate(value);
  }

  /** The body of a comprehension's own code object, on the comprehension's line. */
  comprehensionBody(node: SyntaxNode): void {
    const clauses: { readonly loop: SyntaxNode; readonly tests: SyntaxNode[] }[] = [];
    for (const part of node.parts) {
      if (part.type === 'for_in_clause') clauses.push({ loop: part, tests: [] });
      else if (part.type === 'if_clause') clauses.at(-1)?.tests.push(...part.parts);
    }
    if (clauses.length > MAX_DEPTH) throw new TooComplex('Comprehensions nest too deep.');
    this.builder.line = node.line;
    if (node.type !== 'generator_expression') this.builder.emit('quiet');
    this.comprehensionClause(node, clauses, 0);
  }

  private comprehensionClause(
    node: SyntaxNode,
    clauses: readonly { readonly loop: SyntaxNode; readonly tests: readonly SyntaxNode[] }[],
    index: number,
  ): void {
    const { builder } = this;
    const clause = clauses[index];
    if (clause === undefined) {
      this.comprehensionItem(node);
      return;
    }
    const isAsync = clause.loop.has('async');
    const start = builder.block();
    const skip = builder.block();
    const end = builder.block();
    const single = index > 0 && !isAsync ? singleItem(clause.loop) : null;
    if (index === 0) builder.emit('quiet');
    else if (single !== null) this.evaluate(single);
    else {
      this.iterable(clause.loop);
      builder.emit('plain');
    }
    if (single === null) {
      builder.use(start);
      if (isAsync) {
        builder.jump('setup', end);
        builder.emit('plain');
        this.awaitValue();
        builder.emit('popHandler');
      } else {
        builder.jump('branch', end);
      }
    }
    const target = clause.loop.child('left');
    if (target !== null) this.store(target);
    for (const test of clause.tests) this.jumpIf(test, skip, false);
    this.comprehensionClause(node, clauses, index + 1);
    builder.use(skip);
    if (single !== null) return;
    builder.jump('jump', start);
    builder.use(end);
    if (isAsync) builder.emit('plain');
  }

  private comprehensionItem(node: SyntaxNode): void {
    const { builder } = this;
    const body = node.child('body');
    if (body === null) return;
    if (node.type === 'generator_expression') {
      this.evaluate(body);
      builder.emit('yield');
      builder.emit('quiet');
      return;
    }
    if (body.type === 'pair') this.evaluateAll(body.parts);
    else this.evaluate(body);
    builder.emit('plain');
  }

  /** A string with replacement fields. Their values are formatted on the line where the string begins. */
  private formatted(node: SyntaxNode): void {
    const { builder } = this;
    builder.emit('quiet', this.leadingText(node) ? node.line : (this.firstFieldLine(node) ?? node.line));
    this.fields(node);
    builder.emit('quiet');
  }

  private fields(node: SyntaxNode): void {
    const strings = node.type === 'concatenated_string' ? node.parts : [node];
    for (const part of strings.flatMap((string) => string.parts)) {
      if (part.type !== 'interpolation' && part.type !== 'format_expression') continue;
      const value = part.child('expression');
      if (value !== null) this.evaluate(value);
      const specifier = part.child('format_specifier');
      if (specifier !== null) {
        if (++this.depth > MAX_DEPTH) throw new TooComplex('Format specifiers nest too deep.');
        this.builder.emit('quiet');
        this.fields(specifier);
        this.depth--;
      }
      this.builder.emit('plain');
    }
  }

  /** Whether there is text before the first replacement field. */
  private leadingText(node: SyntaxNode): boolean {
    const strings = node.type === 'concatenated_string' ? node.parts : [node];
    for (const part of strings.flatMap((string) => string.parts)) {
      if (part.type === 'string_content') return true;
      if (part.type === 'interpolation') return part.has('=');
    }
    return true;
  }

  private firstFieldLine(node: SyntaxNode): number | null {
    const strings = node.type === 'concatenated_string' ? node.parts : [node];
    const field = strings.flatMap((string) => string.parts).find((part) => part.type === 'interpolation');
    const value = field?.child('expression');
    return value === null || value === undefined ? null : unwrap(value).line;
  }

  /**
   * The parts of `'%s is %r' % (a, b)`, which is compiled like an f-string: true for a value, false for text
   * between them. Null for all else.
   */
  private formatPieces(node: SyntaxNode): readonly boolean[] | null {
    if (node.type !== 'binary_operator' || node.child('operator')?.type !== '%') return null;
    const left = node.child('left');
    const right = node.child('right');
    if (left === null || right === null) return null;
    const format = unwrap(left);
    const tuple = unwrap(right);
    if (tuple.type !== 'tuple' || tuple.parts.some(isSplat)) return null;
    if (this.constants.of(format)?.type !== 'str' || !format.type.endsWith('string')) return null;
    const pieces: boolean[] = [];
    for (const string of format.type === 'string' ? [format] : format.parts) {
      const content = this.text.slice(string.start, string.end);
      const quote = content.search(/['"]/);
      const width = content.startsWith(content.charAt(quote).repeat(3), quote) ? 3 : 1;
      const found = piecesOf(content.slice(quote + width, content.length - width));
      if (found === null) return null;
      pieces.push(...found);
    }
    return pieces.filter((isValue) => isValue).length === tuple.parts.length ? pieces : null;
  }

  private percentFormat(node: SyntaxNode, pieces: readonly boolean[]): void {
    const right = node.child('right');
    const values = (right === null ? [] : unwrap(right).parts).values();
    for (const isValue of pieces) {
      const value = isValue ? values.next().value : undefined;
      if (value === undefined) {
        // The compiler gives these pieces no place in the source.
        this.builder.emit('quiet', NO_LINE);
      } else {
        this.evaluate(value);
        this.builder.emit('plain', unwrap(value).line);
      }
    }
    this.builder.emit('quiet');
  }
}

/** Literal parts (false) and fields (true) of a format in which only simple fields occur; else null. */
function piecesOf(content: string): boolean[] | null {
  const pieces: boolean[] = [];
  let position = 0;
  while (position < content.length) {
    if (content[position] !== '%') {
      if (pieces.at(-1) !== false) pieces.push(false);
      position++;
      continue;
    }
    FORMAT_PART.lastIndex = position;
    const part = FORMAT_PART.exec(content)?.[0];
    if (part === undefined) return null;
    if (part !== '%%') pieces.push(true);
    else if (pieces.at(-1) !== false) pieces.push(false);
    position += part.length;
  }
  return pieces;
}

function isSplat(node: SyntaxNode): boolean {
  return node.type === 'list_splat' || node.type === 'parenthesized_list_splat';
}

/** `for y in [f(x)]` in a comprehension is an assignment: its only item, else null. */
function singleItem(clause: SyntaxNode): SyntaxNode | null {
  const value = clause.all('right').find((part) => part.named);
  if (value === undefined) return null;
  const node = unwrap(value);
  if (node.type !== 'list' && node.type !== 'tuple') return null;
  const [item, ...others] = node.parts;
  return item === undefined || others.length > 0 || isSplat(item) ? null : item;
}
