import { type Block, BlockBuilder, NO_LINE, TooComplex } from './blocks';
import { ExpressionCompiler } from './compileExpressions';
import { PatternCompiler } from './compilePatterns';
import { unwrap, unwrapTarget, type Constants } from './constants';
import type { SyntaxNode } from './syntaxTree';

/** CPython refuses a hundred levels of indentation. */
const MAX_DEPTH = 200;

/** What has to be undone when a `return`, `break` or `continue` leaves a statement. */
type Enclosing =
  | { readonly kind: 'loop'; readonly start: Block; readonly end: Block; readonly iterates: boolean }
  | { readonly kind: 'try' | 'handler' | 'value' | 'finallyHandler' }
  | { readonly kind: 'finally'; readonly body: SyntaxNode }
  | { readonly kind: 'with'; readonly line: number; readonly isAsync: boolean }
  | { readonly kind: 'handlerBody'; readonly named: boolean };

/** What the compiler has to know of the source beside the syntax tree. */
export interface CompilerContext {
  readonly text: string;
  readonly constants: Constants;
  readonly asyncComprehensions: ReadonlySet<SyntaxNode>;
  /** Whether `from __future__ import annotations` holds: annotations are then not evaluated. */
  readonly futureAnnotations: boolean;
}

export type BodyKind = 'module' | 'class' | 'function';

/** The docstring that begins a body, as its statement, or null. */
export function docstringOf(statements: readonly SyntaxNode[], constants: Constants): SyntaxNode | null {
  const [first] = statements;
  if (first?.type !== 'expression_statement' || first.has(',')) return null;
  const [value] = first.parts;
  if (value === undefined || first.parts.length > 1) return null;
  const string = unwrap(value);
  if (string.type !== 'string' && string.type !== 'concatenated_string') return null;
  return constants.of(string)?.type === 'str' ? first : null;
}

/** Emits the instructions of the statements of one body. */
export class BodyCompiler {
  readonly builder: BlockBuilder;
  readonly expressions: ExpressionCompiler;
  private readonly patterns: PatternCompiler;
  private readonly enclosing: Enclosing[] = [];
  private depth = 0;

  constructor(
    private readonly context: CompilerContext,
    private readonly kind: BodyKind,
    callLine: number,
    /** How many instructions the body may have. */
    limit: number,
  ) {
    const { text, constants, asyncComprehensions } = context;
    this.builder = new BlockBuilder(callLine, limit);
    this.expressions = new ExpressionCompiler(this.builder, constants, text, asyncComprehensions);
    this.patterns = new PatternCompiler(this.builder, this.expressions, (block) => {
      this.block(block);
    });
  }

  module(root: SyntaxNode): void {
    this.builder.line = root.parts[0]?.line ?? NO_LINE;
    this.annotatedBody(root.parts);
  }

  /** @param firstLine the line of the class's first decorator, or of `class` */
  classBody(body: SyntaxNode | null, firstLine: number): void {
    this.builder.line = firstLine;
    this.builder.emit('plain');
    this.annotatedBody(body?.parts ?? []);
    this.builder.line = NO_LINE;
    this.builder.emit('quiet');
    this.builder.emit('return');
  }

  functionBody(body: SyntaxNode | null): void {
    const statements = body?.parts ?? [];
    const docstring = docstringOf(statements, this.context.constants);
    this.statements(docstring === null ? statements : statements.slice(1));
  }

  private annotatedBody(statements: readonly SyntaxNode[]): void {
    const { builder } = this;
    if (statements.some(hasAnnotation)) builder.emit('quiet');
    const docstring = docstringOf(statements, this.context.constants);
    const value = docstring?.parts[0];
    if (value !== undefined) {
      this.expressions.evaluate(value);
      builder.line = NO_LINE;
      builder.emit('quiet');
    }
    this.statements(docstring === null ? statements : statements.slice(1));
  }

  private statements(statements: readonly SyntaxNode[]): void {
    for (const statement of statements) this.statement(statement);
  }

  private block(block: SyntaxNode | null): void {
    this.statements(block?.parts ?? []);
  }

  private statement(node: SyntaxNode): void {
    if (node.type === 'ERROR') return;
    if (++this.depth > MAX_DEPTH) throw new TooComplex('Statements nest too deep.');
    this.builder.line = node.line;
    this.statementNode(node);
    this.depth--;
  }

  private statementNode(node: SyntaxNode): void {
    const { builder, expressions } = this;
    switch (node.type) {
      case 'expression_statement':
        this.expressionStatement(node);
        return;
      case 'if_statement':
        this.ifStatement(node);
        return;
      case 'while_statement':
        this.whileStatement(node);
        return;
      case 'for_statement':
        if (node.has('async')) this.asyncFor(node);
        else this.forStatement(node);
        return;
      case 'try_statement':
        this.tryStatement(node);
        return;
      case 'with_statement':
        this.withItems(node, withItems(node), 0);
        return;
      case 'match_statement':
        this.patterns.statement(node);
        return;
      case 'function_definition':
        this.definition(node, []);
        return;
      case 'class_definition':
        this.definition(node, []);
        return;
      case 'decorated_definition': {
        const inner = node.child('definition');
        const decorators = node.parts.filter((part) => part.type === 'decorator');
        if (inner !== null) {
          builder.line = inner.line;
          this.definition(inner, decorators);
        }
        return;
      }
      case 'return_statement':
        this.returnStatement(node);
        return;
      case 'break_statement':
      case 'continue_statement':
        this.leaveLoop(node.type === 'break_statement');
        return;
      case 'raise_statement':
        expressions.evaluateAll(node.parts);
        builder.emit('raise');
        return;
      case 'assert_statement':
        this.assertStatement(node);
        return;
      case 'delete_statement':
        for (const part of node.parts) {
          if (part.type === 'expression_list')
            part.parts.forEach((target) => {
              expressions.delete(target);
            });
          else expressions.delete(part);
        }
        return;
      case 'pass_statement':
        builder.emit('nop');
        return;
      case 'import_statement':
      case 'import_from_statement':
      case 'future_import_statement':
        builder.emit('plain');
        return;
      case 'global_statement':
      case 'nonlocal_statement':
        return;
      case 'type_alias_statement':
        builder.emit('quiet');
        return;
      default:
        expressions.evaluateAll(node.parts);
        builder.emit('plain');
    }
  }

  private expressionStatement(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const [value, ...others] = node.parts;
    if (value === undefined) return;
    if (value.type === 'assignment') {
      this.assignment(value);
      return;
    }
    if (value.type === 'augmented_assignment') {
      this.augmentedAssignment(value);
      return;
    }
    const tuple = others.length > 0 || node.has(',');
    const constants = [value, ...others].every((part) => this.context.constants.of(part) !== null);
    if (constants) {
      builder.emit('nop');
    } else {
      expressions.evaluateAll(node.parts);
      if (tuple) builder.emit('quiet');
    }
    builder.line = NO_LINE;
    if (!constants) builder.emit('quiet');
  }

  private assignment(outermost: SyntaxNode): void {
    const { expressions } = this;
    const targets: SyntaxNode[] = [];
    let node = outermost;
    for (;;) {
      const left = node.child('left');
      if (left !== null) targets.push(left);
      const right = node.child('right');
      if (node.child('type') !== null) {
        this.annotated(node, left, right);
        return;
      }
      if (right?.type === 'assignment') {
        node = right;
        continue;
      }
      if (right !== null) expressions.evaluate(right);
      const [first] = targets;
      if (right !== null && first !== undefined && targets.length === 1 && isParallel(first, right)) {
        for (const part of first.parts) expressions.store(part);
        return;
      }
      for (const target of targets) {
        // The value is copied for all targets but the last.
        if (target !== targets.at(-1)) this.builder.emit('quiet');
        expressions.store(target);
      }
      return;
    }
  }

  private annotated(node: SyntaxNode, target: SyntaxNode | null, value: SyntaxNode | null): void {
    const { builder, expressions, kind, context } = this;
    const annotation = node.child('type');
    if (target === null || annotation === null) return;
    if (value !== null) {
      expressions.evaluate(value);
      expressions.store(target);
    }
    const evaluates = kind !== 'function';
    if (target.type === 'identifier') {
      if (!evaluates) return;
      if (context.futureAnnotations) builder.emit('quiet');
      else expressions.evaluate(annotation);
      builder.emit('plain');
      return;
    }
    const inner = unwrapTarget(target);
    if (value === null && inner.type === 'attribute') {
      const object = inner.child('object');
      if (object !== null) expressions.evaluate(object);
    } else if (value === null && inner.type === 'subscript') {
      expressions.subscriptOperands(inner);
    }
    if (evaluates && !context.futureAnnotations) expressions.evaluate(annotation);
  }

  private augmentedAssignment(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const target = node.child('left');
    const value = node.child('right');
    if (target === null) return;
    const inner = unwrapTarget(target);
    const line = builder.line;
    builder.line = inner.line;
    if (inner.type === 'subscript') {
      expressions.subscriptOperands(inner);
      builder.emit('plain');
    } else {
      expressions.evaluate(inner);
    }
    builder.line = line;
    if (value !== null) expressions.evaluate(value);
    builder.emit('plain');
    builder.emit(
      inner.type === 'identifier' ? 'quiet' : 'plain',
      inner.type === 'attribute' ? inner.endLine : inner.line,
    );
  }

  private ifStatement(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const end = builder.block();
    const clauses = [node, ...node.all('alternative')];
    for (const [index, clause] of clauses.entries()) {
      if (clause.type === 'else_clause') {
        this.block(clause.child('body'));
        break;
      }
      builder.line = clause.line;
      const isLast = index === clauses.length - 1;
      const next = isLast ? end : builder.block();
      const condition = clause.child('condition');
      if (condition !== null) expressions.jumpIf(condition, next, false);
      this.block(clause.child('consequence'));
      if (isLast) break;
      builder.jump('jump', end, NO_LINE);
      builder.use(next);
    }
    builder.use(end);
  }

  private whileStatement(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const start = builder.block();
    const body = builder.block();
    const otherwise = builder.block();
    const end = builder.block();
    const condition = node.child('condition');
    builder.use(start);
    this.enclosing.push({ kind: 'loop', start, end, iterates: false });
    if (condition !== null) expressions.jumpIf(condition, otherwise, false);
    builder.use(body);
    this.block(node.child('body'));
    builder.line = node.line;
    if (condition !== null) expressions.jumpIf(condition, body, true);
    this.enclosing.pop();
    builder.use(otherwise);
    this.block(node.child('alternative')?.child('body') ?? null);
    builder.use(end);
  }

  private forStatement(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const start = builder.block();
    const otherwise = builder.block();
    const end = builder.block();
    this.enclosing.push({ kind: 'loop', start, end, iterates: true });
    expressions.iterable(node);
    builder.emit('plain');
    builder.use(start);
    builder.jump('branch', otherwise);
    const target = node.child('left');
    if (target !== null) expressions.store(target);
    this.block(node.child('body'));
    builder.line = NO_LINE;
    builder.jump('jump', start);
    this.enclosing.pop();
    builder.use(otherwise);
    this.block(node.child('alternative')?.child('body') ?? null);
    builder.use(end);
  }

  private asyncFor(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const start = builder.block();
    const exhausted = builder.block();
    const end = builder.block();
    expressions.iterable(node);
    builder.emit('plain');
    builder.use(start);
    this.enclosing.push({ kind: 'loop', start, end, iterates: true });
    builder.jump('setup', exhausted);
    builder.emit('plain');
    expressions.awaitValue();
    builder.emit('popHandler');
    const target = node.child('left');
    if (target !== null) expressions.store(target);
    this.block(node.child('body'));
    builder.line = NO_LINE;
    builder.jump('jump', start);
    this.enclosing.pop();
    builder.use(exhausted);
    builder.line = node.child('right')?.line ?? node.line;
    builder.emit('plain');
    this.block(node.child('alternative')?.child('body') ?? null);
    builder.use(end);
  }

  private tryStatement(node: SyntaxNode): void {
    const { builder } = this;
    const cleanup = node.parts.find((part) => part.type === 'finally_clause');
    const body = cleanup?.parts.find((part) => part.type === 'block');
    if (body === undefined) {
      this.tryExcept(node);
      return;
    }
    const raised = builder.block();
    const exit = builder.block();
    const failed = builder.block();
    builder.jump('setup', raised);
    this.enclosing.push({ kind: 'finally', body });
    if (node.parts.some((part) => part.type === 'except_clause')) this.tryExcept(node);
    else this.block(node.child('body'));
    builder.emit('popHandler', NO_LINE);
    this.enclosing.pop();
    this.block(body);
    builder.jump('jump', exit, NO_LINE);

    builder.use(raised);
    this.enclosing.push({ kind: 'finallyHandler' });
    builder.line = NO_LINE;
    builder.jump('setup', failed);
    builder.emit('quiet');
    this.block(body);
    this.enclosing.pop();
    builder.emit('raise');
    builder.use(failed);
    builder.emit('raise');
    builder.use(exit);
  }

  private tryExcept(node: SyntaxNode): void {
    const { builder } = this;
    const handlers = node.parts.filter((part) => part.type === 'except_clause');
    const orElse = node.parts.find((part) => part.type === 'else_clause')?.child('body') ?? null;
    const raised = builder.block();
    const end = builder.block();
    const failed = builder.block();
    const isGroup = handlers.some((handler) => handler.has('*'));
    const afterBody = isGroup ? builder.block() : end;
    builder.jump('setup', raised);
    this.enclosing.push({ kind: 'try' });
    this.block(node.child('body'));
    this.enclosing.pop();
    builder.emit('popHandler', NO_LINE);
    if (!isGroup) this.block(orElse);
    builder.jump('jump', afterBody, NO_LINE);

    builder.use(raised);
    builder.line = NO_LINE;
    builder.jump('setup', failed);
    builder.emit('quiet');
    this.enclosing.push({ kind: 'handler' });
    if (isGroup) this.groupHandlers(handlers, end);
    else this.handlers(handlers, end);
    builder.use(failed);
    builder.emit('raise');
    if (isGroup) {
      builder.use(afterBody);
      this.block(orElse);
    }
    builder.use(end);
  }

  private handlers(handlers: readonly SyntaxNode[], end: Block): void {
    const { builder, expressions } = this;
    for (const handler of handlers) {
      const { type, name, body } = handlerParts(handler);
      const next = builder.block();
      builder.line = handler.line;
      if (type !== null) {
        expressions.evaluate(type);
        builder.emit('plain');
        builder.jump('branch', next);
      }
      builder.emit('quiet');
      const failed = builder.block();
      if (name) builder.jump('setup', failed);
      this.enclosing.push({ kind: 'handlerBody', named: name });
      this.block(body);
      this.enclosing.pop();
      builder.line = NO_LINE;
      if (name) builder.emit('popHandler');
      builder.emit('popHandler');
      builder.emit('quiet', NO_LINE, name ? 4 : 1);
      builder.jump('jump', end);
      if (name) {
        builder.use(failed);
        builder.emit('quiet');
        builder.emit('raise');
      }
      builder.use(next);
    }
    builder.line = NO_LINE;
    this.enclosing.pop();
    builder.emit('raise');
  }

  private groupHandlers(handlers: readonly SyntaxNode[], end: Block): void {
    const { builder, expressions } = this;
    const finish = builder.block();
    for (const [index, handler] of handlers.entries()) {
      const { type, name, body } = handlerParts(handler);
      const unmatched = builder.block();
      const handled = builder.block();
      const next = builder.block();
      const failed = builder.block();
      builder.line = handler.line;
      if (index === 0) builder.emit('quiet');
      if (type !== null) {
        expressions.evaluate(type);
        builder.emit('plain');
        builder.jump('branch', unmatched);
      }
      builder.emit('quiet');
      builder.jump('setup', failed);
      this.enclosing.push({ kind: 'handlerBody', named: name });
      this.block(body);
      this.enclosing.pop();
      builder.line = NO_LINE;
      builder.emit('popHandler');
      if (name) builder.emit('quiet', NO_LINE, 3);
      builder.jump('jump', handled);
      builder.use(failed);
      builder.emit('quiet');
      builder.jump('jump', next);
      builder.use(handled);
      builder.emit('nop');
      builder.jump('jump', next);
      builder.use(unmatched);
      builder.emit('quiet', handler.line);
      builder.use(next);
      if (index === handlers.length - 1) {
        builder.emit('quiet');
        builder.jump('jump', finish);
      }
    }
    builder.line = NO_LINE;
    this.enclosing.pop();
    const reraise = builder.block();
    builder.use(finish);
    builder.emit('plain');
    builder.jump('branch', reraise);
    builder.emit('quiet');
    builder.emit('popHandler');
    builder.emit('quiet');
    builder.jump('jump', end);
    builder.use(reraise);
    builder.emit('popHandler');
    builder.emit('raise');
  }

  private withItems(node: SyntaxNode, items: readonly SyntaxNode[], index: number): void {
    const { builder, expressions } = this;
    const item = items[index];
    if (item === undefined) {
      this.block(node.child('body'));
      return;
    }
    if (items.length > MAX_DEPTH) throw new TooComplex('Too many context managers.');
    const isAsync = node.has('async');
    const isNamed = item.type === 'as_pattern';
    const value = isNamed ? item.parts[0] : item;
    const target = isNamed ? item.parts[1] : undefined;
    const raised = builder.block();
    const exit = builder.block();
    const suppressed = builder.block();
    const failed = builder.block();
    const { line } = node;
    if (value !== undefined) expressions.evaluate(value);
    builder.emit('plain');
    if (isAsync) expressions.awaitValue();
    builder.jump('setup', raised);
    this.enclosing.push({ kind: 'with', line, isAsync });
    if (target === undefined) builder.emit('quiet');
    else expressions.store(target);
    this.withItems(node, items, index + 1);
    // The end of an asynchronous body keeps the line of its last statement.
    if (!isAsync) builder.line = NO_LINE;
    builder.emit('popHandler');
    this.enclosing.pop();

    builder.line = line;
    this.callExit(isAsync);
    builder.jump('jump', exit);

    builder.use(raised);
    builder.jump('setup', failed);
    builder.emit('quiet');
    builder.emit('plain');
    if (isAsync) expressions.awaitValue();
    builder.line = NO_LINE;
    builder.jump('branch', suppressed);
    builder.emit('raise');
    builder.use(failed);
    builder.emit('raise');
    builder.use(suppressed);
    builder.emit('quiet');
    builder.emit('popHandler');
    builder.emit('quiet', NO_LINE, 3);
    builder.use(exit);
  }

  private callExit(isAsync: boolean): void {
    this.builder.emit('plain');
    if (isAsync) this.expressions.awaitValue();
    this.builder.emit('quiet');
  }

  private definition(node: SyntaxNode, decorators: readonly SyntaxNode[]): void {
    const { builder, expressions } = this;
    for (const decorator of decorators) expressions.evaluateAll(decorator.parts);
    if (node.type === 'class_definition') {
      builder.emit('quiet');
      expressions.call(node.child('superclasses')?.parts ?? [], 2);
    } else {
      expressions.defaults(node.child('parameters'));
      this.annotations(node);
      builder.emit('quiet');
    }
    for (const decorator of [...decorators].reverse()) {
      const value = decorator.parts[0];
      builder.emit('plain', value === undefined ? decorator.line : unwrap(value).line);
    }
    builder.emit('quiet');
  }

  private annotations(node: SyntaxNode): void {
    const { builder, expressions, context } = this;
    const kinds = (parameter: SyntaxNode): number => {
      const [name] = parameter.parts;
      if (name?.type === 'list_splat_pattern') return 1;
      return name?.type === 'dictionary_splat_pattern' ? 3 : 0;
    };
    let keywordOnly = false;
    const ordered: { readonly type: SyntaxNode; readonly rank: number }[] = [];
    for (const parameter of node.child('parameters')?.parts ?? []) {
      const kind = kinds(parameter);
      const type = parameter.child('type');
      if (type !== null) ordered.push({ type, rank: kind === 0 && keywordOnly ? 2 : kind });
      if (parameter.type === 'keyword_separator' || parameter.type === 'list_splat_pattern' || kind === 1) {
        keywordOnly = true;
      }
    }
    ordered.sort((a, b) => a.rank - b.rank);
    const result = node.child('return_type');
    const types = ordered.map(({ type }) => type);
    if (result !== null) types.push(result);
    for (const type of types) {
      builder.emit('quiet');
      if (!context.futureAnnotations) expressions.evaluate(type);
    }
    if (types.length > 0) builder.emit('quiet');
  }

  private returnStatement(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const parts = node.parts;
    const [value] = parts;
    const constant = value !== undefined && this.context.constants.of(value) !== null;
    const keeps = value !== undefined && !constant;
    const line = value === undefined ? node.line : unwrap(value).line;
    if (keeps) expressions.evaluate(value);
    else if (value !== undefined) {
      builder.line = line;
      builder.emit('nop');
    }
    if (value === undefined || line !== node.line) {
      builder.line = node.line;
      builder.emit('nop');
    }
    this.unwind(keeps, false);
    if (!keeps) builder.emit('quiet');
    builder.emit('return');
  }

  private leaveLoop(isBreak: boolean): void {
    const { builder } = this;
    builder.emit('nop');
    const loop = this.unwind(false, true);
    if (loop === null) return;
    this.undo(loop, false);
    builder.jump('jump', isBreak ? loop.end : loop.start);
  }

  /** Undoes the enclosing statements, innermost first, up to the innermost loop if asked. */
  private unwind(keepsValue: boolean, untilLoop: boolean): (Enclosing & { kind: 'loop' }) | null {
    const undone: Enclosing[] = [];
    let loop: (Enclosing & { kind: 'loop' }) | null = null;
    for (let top = this.enclosing.pop(); top !== undefined; top = this.enclosing.pop()) {
      undone.push(top);
      if (untilLoop && top.kind === 'loop') {
        loop = top;
        break;
      }
      this.undo(top, keepsValue);
    }
    this.enclosing.push(...undone.reverse());
    return loop;
  }

  private undo(enclosing: Enclosing, keepsValue: boolean): void {
    const { builder } = this;
    switch (enclosing.kind) {
      case 'loop':
        if (enclosing.iterates) builder.emit('quiet');
        return;
      case 'handler':
        return;
      case 'try':
        builder.emit('popHandler');
        return;
      case 'finally':
        builder.emit('popHandler');
        if (keepsValue) this.enclosing.push({ kind: 'value' });
        this.block(enclosing.body);
        if (keepsValue) this.enclosing.pop();
        builder.line = NO_LINE;
        return;
      case 'finallyHandler':
        builder.emit('quiet');
        builder.emit('popHandler');
        builder.emit('quiet');
        return;
      case 'with':
        builder.line = enclosing.line;
        builder.emit('popHandler');
        this.callExit(enclosing.isAsync);
        builder.line = NO_LINE;
        return;
      case 'handlerBody':
        if (enclosing.named) builder.emit('popHandler');
        builder.emit('popHandler');
        builder.emit('quiet');
        return;
      case 'value':
        builder.emit('quiet');
    }
  }

  private assertStatement(node: SyntaxNode): void {
    const { builder, expressions } = this;
    const [test, message] = node.parts;
    const end = builder.block();
    if (test !== undefined) expressions.jumpIf(test, end, true);
    builder.emit('quiet');
    if (message !== undefined) {
      expressions.evaluate(message);
      builder.emit('plain');
    }
    builder.emit('raise');
    builder.use(end);
  }
}

/** Whether a few values go to as many targets, as in `a, b = b, a`: no tuple is made and taken apart. */
function isParallel(wrappedTarget: SyntaxNode, wrapped: SyntaxNode): boolean {
  const target = unwrapTarget(wrappedTarget);
  const value = unwrap(wrapped);
  const count = target.parts.length;
  return (
    ['pattern_list', 'tuple_pattern', 'list_pattern'].includes(target.type) &&
    ['tuple', 'expression_list'].includes(value.type) &&
    count <= 3 &&
    value.parts.length === count &&
    ![...target.parts, ...value.parts].some((part) => part.type.startsWith('list_splat'))
  );
}

/** The items of a `with`; a single one in parentheses with a target is written `with (open(a) as f):`. */
function withItems(node: SyntaxNode): SyntaxNode[] {
  const clause = node.parts.find((part) => part.type === 'with_clause');
  return (clause?.parts ?? []).flatMap((item) => {
    const value = item.child('value');
    if (value === null) return [];
    const inner = unwrap(value);
    return [inner.type === 'as_pattern' ? inner : value];
  });
}

interface HandlerParts {
  readonly type: SyntaxNode | null;
  readonly name: boolean;
  readonly body: SyntaxNode | null;
}

function handlerParts(handler: SyntaxNode): HandlerParts {
  const value = handler.child('value');
  const body = handler.parts.find((part) => part.type === 'block') ?? null;
  if (value?.type === 'as_pattern') return { type: value.parts[0] ?? null, name: true, body };
  return { type: value, name: handler.child('alias') !== null, body };
}

/** Whether a statement, or one inside it, annotates a name of this body. */
function hasAnnotation(statement: SyntaxNode): boolean {
  const pending = [statement];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.type === 'assignment') {
      if (node.child('type') !== null) return true;
    } else if (node.type === 'expression_statement' || node.type.endsWith('_statement')) {
      pending.push(...node.parts);
    } else if (node.type.endsWith('_clause') || node.type === 'block') {
      pending.push(...node.parts);
    }
  }
  return false;
}
