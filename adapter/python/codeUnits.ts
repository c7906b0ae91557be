import { TooComplex } from './blocks';
import { BodyCompiler, docstringOf, type CompilerContext } from './compileStatements';
import { controlFlowOf, unknownControlFlow, type ControlFlow } from './controlFlow';
import type { Scope, UnitKind } from './scopes';
import type { SyntaxNode } from './syntaxTree';

/** One code object of CPython 3.11: a body that runs in frames of its own. */
export interface CodeUnit {
  /** The index in `PythonSource.units`; 0 is the module. */
  readonly id: number;
  /** `co_name`: `<module>`, `f`, `<lambda>`, `<listcomp>`, …, a class's name. */
  readonly name: string;
  readonly kind: UnitKind;
  readonly parent: CodeUnit | null;
  /** The line of its call event: 0 for the module, the first decorator's where there is one. */
  readonly callLine: number;
  /** The line of `def`, `class`, or of the expression itself. */
  readonly headerLine: number;
  readonly firstLine: number;
  readonly lastLine: number;
  /** What `f_locals` holds at the call event beside free variables; `.0` for comprehensions. */
  readonly parameters: readonly string[];
  /** Every name that `f_locals` can hold. */
  readonly names: ReadonlySet<string>;
  /** The free variables among the names. */
  readonly freeNames: ReadonlySet<string>;
  /** Names that the unit itself reads as globals or builtins; in a class also those it may read from itself. */
  readonly globalsRead: ReadonlySet<string>;
  /** Names that the unit itself binds as globals; for the module all that it binds. */
  readonly globalsWritten: ReadonlySet<string>;
  readonly isGenerator: boolean;
  readonly isAsync: boolean;
  /** `co_qualname`. */
  readonly qualifiedName: string;
  /** Lines on which a line event can occur while this code object runs; inner code objects excluded. */
  readonly lines: ReadonlySet<number>;
  /** The lines of the first line event after the call event: one, as a rule. */
  readonly entryLines: readonly number[];
  /**
   * Lines on which this frame's next line event can be after one on `line`: those of the normal flow first,
   * then those that exceptions lead to. It holds the line itself where it can fire twice. Lines of other units
   * give nothing.
   */
  successors(line: number): readonly number[];
  /** Whether the frame can return or yield before another line event of its own. */
  canReturnFrom(line: number): boolean;
  /** Whether a return event can be on this line: as `canReturnFrom`, or because an exception leaves the frame. */
  canLeaveFrom(line: number): boolean;
}

/** A body may have this many instructions for each character of it, beside a fixed number. */
const INSTRUCTIONS_PER_CHARACTER = 5;
const INSTRUCTIONS_AT_LEAST = 10_000;

class ScopeUnit implements CodeUnit {
  readonly name: string;
  readonly kind: UnitKind;
  readonly callLine: number;
  readonly headerLine: number;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly parameters: readonly string[];
  readonly names: ReadonlySet<string>;
  readonly freeNames: ReadonlySet<string>;
  readonly globalsRead: ReadonlySet<string>;
  readonly globalsWritten: ReadonlySet<string>;
  readonly isGenerator: boolean;
  readonly isAsync: boolean;
  readonly qualifiedName: string;
  private flow: ControlFlow | null = null;

  constructor(
    readonly id: number,
    private readonly scope: Scope,
    readonly parent: ScopeUnit | null,
    private readonly context: CompilerContext,
    declaredGlobals: ReadonlySet<string>,
  ) {
    const { node } = scope;
    this.name = scope.name;
    this.kind = scope.kind;
    this.headerLine = scope.kind === 'module' ? 1 : node.line;
    this.firstLine = scope.kind === 'module' ? 1 : firstLineOf(node);
    this.callLine = scope.kind === 'module' ? 0 : this.firstLine;
    this.lastLine = node.endLine;
    this.parameters = scope.parameters;
    this.freeNames = scope.kind === 'class' ? new Set() : scope.free;
    this.names = namesOf(scope, this.freeNames, declaredGlobals, context);
    this.globalsRead = scope.globalsRead;
    this.globalsWritten =
      scope.kind === 'module'
        ? scope.bound
        : new Set([...scope.bound].filter((name) => scope.globals.has(name)));
    this.isGenerator = scope.yields;
    this.isAsync = scope.awaits && scope.kind !== 'module';
    this.qualifiedName = qualifiedNameOf(scope, parent);
  }

  get lines(): ReadonlySet<number> {
    return this.controlFlow.lines;
  }

  get entryLines(): readonly number[] {
    return this.controlFlow.entryLines;
  }

  successors(line: number): readonly number[] {
    return this.controlFlow.successors(line);
  }

  canReturnFrom(line: number): boolean {
    return this.controlFlow.canReturnFrom(line);
  }

  canLeaveFrom(line: number): boolean {
    return this.controlFlow.canLeaveFrom(line);
  }

  private get controlFlow(): ControlFlow {
    this.flow ??= this.layOut();
    return this.flow;
  }

  private layOut(): ControlFlow {
    const { kind, node } = this.scope;
    const limit = INSTRUCTIONS_AT_LEAST + INSTRUCTIONS_PER_CHARACTER * (node.end - node.start);
    const bodyKind = kind === 'module' || kind === 'class' ? kind : 'function';
    const compiler = new BodyCompiler(this.context, bodyKind, this.callLine, limit);
    try {
      this.compile(compiler);
    } catch (error) {
      if (error instanceof TooComplex) return unknownControlFlow(statementLines(node));
      throw error;
    }
    return controlFlowOf(compiler.builder.entry, this.firstLine, this.isGenerator || this.isAsync);
  }

  private compile(compiler: BodyCompiler): void {
    const { kind, node } = this.scope;
    const { builder, expressions } = compiler;
    const body = node.child('body');
    switch (kind) {
      case 'module':
        compiler.module(node);
        break;
      case 'class':
        compiler.classBody(body, this.firstLine);
        return;
      case 'function':
        compiler.functionBody(body);
        break;
      case 'lambda':
        builder.line = node.line;
        if (body !== null) expressions.evaluate(body);
        builder.emit('return');
        return;
      case 'comprehension':
      case 'generatorExpression':
        expressions.comprehensionBody(node);
        if (kind === 'comprehension') {
          builder.emit('return');
          return;
        }
    }
    builder.finish();
  }
}

/** The code objects of a program, in the order of the source. */
export function codeUnitsOf(scopes: readonly Scope[], context: CompilerContext): readonly CodeUnit[] {
  const declaredGlobals = new Set(
    scopes.flatMap((scope) => (scope.kind === 'module' ? [] : [...scope.globals])),
  );
  const units = new Map<Scope, ScopeUnit>();
  for (const scope of scopes) {
    const parent = scope.parent === null ? null : (units.get(scope.parent) ?? null);
    units.set(scope, new ScopeUnit(units.size, scope, parent, context, declaredGlobals));
  }
  return [...units.values()];
}

function firstLineOf(node: SyntaxNode): number {
  if (node.parent?.type !== 'decorated_definition') return node.line;
  const decorator = node.parent.parts.find((part) => part.type === 'decorator');
  return decorator?.parts[0]?.line ?? node.line;
}

function namesOf(
  scope: Scope,
  free: ReadonlySet<string>,
  declaredGlobals: ReadonlySet<string>,
  context: CompilerContext,
): ReadonlySet<string> {
  const names = new Set<string>([...scope.bound].filter((name) => !scope.globals.has(name)));
  for (const name of scope.nonlocals) if (scope.kind === 'class') names.delete(name);
  for (const name of free) names.add(name);
  if (scope.isFunction) return names;
  const body = scope.kind === 'module' ? scope.node.parts : (scope.node.child('body')?.parts ?? []);
  if (docstringOf(body, context.constants) !== null) names.add('__doc__');
  names.add('__annotations__');
  if (scope.kind === 'class') {
    for (const name of ['__module__', '__qualname__', '__classcell__']) names.add(name);
  } else {
    for (const name of declaredGlobals) names.add(name);
  }
  return names;
}

function qualifiedNameOf(scope: Scope, parent: ScopeUnit | null): string {
  if (parent === null || parent.kind === 'module') return scope.name;
  const named = scope.kind === 'function' || scope.kind === 'class';
  if (named && scope.parent?.globals.has(scope.name) === true) return scope.name;
  const isFunction = parent.kind === 'function' || parent.kind === 'lambda';
  return `${parent.qualifiedName}${isFunction ? '.<locals>' : ''}.${scope.name}`;
}

/** The lines on which statements of a body begin, without those of inner functions and classes. */
function statementLines(root: SyntaxNode): number[] {
  const lines: number[] = [root.line];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (
      node.type.endsWith('_statement') ||
      node.type.endsWith('_definition') ||
      node.type.endsWith('_clause')
    ) {
      lines.push(node.line);
    }
    const isInner =
      node !== root && (node.type === 'function_definition' || node.type === 'class_definition');
    if (!isInner) for (const child of node.children) pending.push(child);
  }
  return lines;
}
