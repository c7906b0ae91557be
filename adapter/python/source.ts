import { codeUnitsOf, type CodeUnit } from './codeUnits';
import { Constants, unwrap } from './constants';
import { splitLines } from './encoding';
import { findScopes, type ScopeTree } from './scopes';
import { lineAt, parseTree, type SyntaxNode, type SyntaxProblem, type SyntaxTree } from './syntaxTree';

export type { SyntaxProblem } from './syntaxTree';

/** A call that the source writes as one (not an operator or a decorator that calls a method). */
export interface SourceCall {
  /** The last identifier of what is called: `append` of `items.append`; empty where there is none. */
  readonly name: string;
  /** The text of what is called. */
  readonly text: string;
  /** Where that text begins, in UTF-16 units from 0. */
  readonly column: number;
  /** The line on which the call's arguments end. */
  readonly endLine: number;
  /** The texts of its positional arguments; null where one of them stands for several. */
  readonly positional: readonly string[] | null;
}

/** A part of the source that can be evaluated where it stands. Columns are UTF-16 units from 0. */
export interface SourceExpression {
  readonly text: string;
  readonly line: number;
  readonly startColumn: number;
  readonly endColumn: number;
}

/** A Python source text and what its syntax says. Any text is taken; what is not Python is in `problems`. */
export class PythonSource {
  /** The lines as CPython counts them, without their ends. */
  readonly lines: readonly string[];
  readonly problems: readonly SyntaxProblem[];
  /** The code objects, in the order of the source. */
  readonly units: readonly CodeUnit[];
  readonly module: CodeUnit;
  private breakable: ReadonlySet<number> | null = null;
  private around: Map<number, CodeUnit[]> | null = null;
  private readonly byLine = new Map<number, readonly CodeUnit[]>();
  private calls: ReadonlyMap<number, readonly SourceCall[]> | null = null;

  private constructor(
    readonly text: string,
    /** The syntax tree, for the modules of this room. */
    readonly tree: SyntaxTree,
    /** The namespaces, in the order of `units`. */
    readonly scopes: ScopeTree,
  ) {
    this.lines = splitLines(text);
    this.problems = tree.problems;
    this.units = codeUnitsOf(scopes.scopes, {
      text,
      constants: new Constants(text),
      asyncComprehensions: scopes.asyncComprehensions,
      futureAnnotations: scopes.futureAnnotations,
    });
    const [module] = this.units;
    if (module === undefined) throw new Error('A source has a module.');
    this.module = module;
  }

  static async parse(text: string): Promise<PythonSource> {
    const tree = await parseTree(text);
    return new PythonSource(text, tree, findScopes(text, tree.root));
  }

  /** The units that can have events on a line, outermost first. */
  unitsOfLine(line: number): readonly CodeUnit[] {
    let units = this.byLine.get(line);
    if (units === undefined) {
      units = this.unitsAround(line).filter((unit) => unit.callLine === line || unit.lines.has(line));
      this.byLine.set(line, units);
    }
    return units;
  }

  /** The lines that a breakpoint may sit on, in order. */
  get breakableLines(): ReadonlySet<number> {
    this.breakable ??= new Set(this.lines.map((_, at) => at + 1).filter((line) => this.isBreakable(line)));
    return this.breakable;
  }

  /** Whether a breakpoint may sit on a line: whether a line event can occur there. */
  isBreakable(line: number): boolean {
    // A module without code has its only line event on line 0.
    return line > 0 && this.unitsAround(line).some((unit) => unit.lines.has(line));
  }

  /**
   * Where a breakpoint asked for on a line goes: that line if it is breakable, else the next breakable line of
   * the same block of statements, else nowhere.
   */
  breakpointLine(line: number): number | null {
    if (this.isBreakable(line)) return line;
    if (line < 1 || line > this.lines.length) return null;
    const end = this.innermostBlock(line).endLine;
    for (let next = line + 1; next <= end; next++) if (this.isBreakable(next)) return next;
    return null;
  }

  /** The calls of which the called text begins on a line, in the order of evaluation. */
  callsOnLine(line: number): readonly SourceCall[] {
    this.calls ??= this.indexCalls();
    return this.calls.get(line) ?? [];
  }

  /**
   * The expression under a position that a hover can show: a name, a chain of attributes up to the part under
   * the position, or a subscript with a simple index.
   *
   * @param column UTF-16 units from 0
   */
  expressionAt(line: number, column: number): SourceExpression | null {
    const start = this.tree.lineStarts[line - 1];
    const length = this.lines[line - 1]?.length ?? 0;
    if (start === undefined || column < 0 || column > length) return null;
    const path = this.pathTo(start + column) ?? (column > 0 ? this.pathTo(start + column - 1) : null);
    if (path === null) return null;
    const found = expressionOf(path);
    if (found === null || found.line !== found.endLine) return null;
    const lineStart = this.tree.lineStarts[found.line - 1] ?? 0;
    return {
      text: this.text.slice(found.start, found.end),
      line: found.line,
      startColumn: found.start - lineStart,
      endColumn: found.end - lineStart,
    };
  }

  /** The units whose text a line is in, and the module for line 0: only of these it is laid out where control can go. */
  private unitsAround(line: number): readonly CodeUnit[] {
    if (this.around === null) {
      this.around = new Map([[0, [this.module]]]);
      for (const unit of this.units) {
        for (let at = unit.firstLine; at <= unit.lastLine; at++) {
          const units = this.around.get(at);
          if (units === undefined) this.around.set(at, [unit]);
          else units.push(unit);
        }
      }
    }
    return this.around.get(line) ?? [];
  }

  private indexCalls(): Map<number, SourceCall[]> {
    const calls = new Map<number, SourceCall[]>();
    // Inner parts are evaluated first: a node is taken when it is met the second time.
    const pending: { readonly node: SyntaxNode; readonly opened: boolean }[] = [
      { node: this.tree.root, opened: false },
    ];
    for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
      const { node, opened } = visit;
      if (!opened) {
        if (node.type === 'call') pending.push({ node, opened: true });
        for (const child of evaluationOrder(node).toReversed()) pending.push({ node: child, opened: false });
        continue;
      }
      const callee = node.child('function');
      if (callee === null) continue;
      const call = this.callOf(node, callee);
      const known = calls.get(callee.line);
      if (known === undefined) calls.set(callee.line, [call]);
      else known.push(call);
    }
    return calls;
  }

  private callOf(node: SyntaxNode, callee: SyntaxNode): SourceCall {
    const inner = unwrap(callee);
    const last = inner.type === 'attribute' ? inner.child('attribute') : inner;
    return {
      name: last?.type === 'identifier' ? this.text.slice(last.start, last.end) : '',
      text: this.text.slice(callee.start, callee.end),
      column: callee.start - (this.tree.lineStarts[callee.line - 1] ?? 0),
      endLine: node.endLine,
      positional: this.positionalOf(node),
    };
  }

  private positionalOf(call: SyntaxNode): readonly string[] | null {
    const given = call.child('arguments');
    if (given?.type !== 'argument_list') return given ? null : [];
    if (given.has('list_splat')) return null;
    return given.parts
      .filter(({ type }) => type !== 'keyword_argument' && type !== 'dictionary_splat')
      .map(({ start, end }) => this.text.slice(start, end));
  }

  private innermostBlock(line: number): SyntaxNode {
    let block = this.tree.root;
    let node: SyntaxNode | undefined = block;
    while (node !== undefined) {
      if (node.type === 'block') block = node;
      node = node.children.find((child) => child.line <= line && line <= child.endLine && child.named);
    }
    return block;
  }

  /** The nodes around an offset, the innermost first; null if no token is there. */
  private pathTo(offset: number): readonly SyntaxNode[] | null {
    const path: SyntaxNode[] = [];
    let node: SyntaxNode | undefined = this.tree.root;
    while (node !== undefined) {
      path.push(node);
      node = node.children.find((child) => child.start <= offset && offset < child.end);
    }
    const innermost = path.at(-1);
    if (innermost === undefined || innermost.children.length > 0) return null;
    return path.reverse();
  }

  /** The line that holds an offset. */
  lineOfOffset(offset: number): number {
    return lineAt(this.tree.lineStarts, offset);
  }
}

/** The parts of a node in the order in which Python evaluates them, where it is not that of the text. */
function evaluationOrder(node: SyntaxNode): readonly SyntaxNode[] {
  switch (node.type) {
    case 'conditional_expression': {
      const [body, test, orElse] = node.parts;
      return body === undefined || test === undefined || orElse === undefined
        ? node.children
        : [test, body, orElse];
    }
    case 'list_comprehension':
    case 'set_comprehension':
    case 'dictionary_comprehension':
    case 'generator_expression':
      return [...node.children.filter((child) => child.field !== 'body'), ...node.all('body')];
    case 'assignment':
    case 'for_statement':
    case 'for_in_clause':
      return [
        ...node.all('right'),
        ...node.all('left'),
        ...node.children.filter((child) => child.field !== 'left' && child.field !== 'right'),
      ];
    default:
      return node.children;
  }
}

const IMPORTS: ReadonlySet<string> = new Set([
  'import_statement',
  'import_from_statement',
  'future_import_statement',
]);
const CONSTANTS: ReadonlySet<string> = new Set([
  'integer',
  'string',
  'true',
  'false',
  'none',
  'unary_operator',
]);

/** What stands for a position: the path leads from its token outwards. */
function expressionOf(path: readonly SyntaxNode[]): SyntaxNode | null {
  const [token, parent] = path;
  if (token === undefined || parent === undefined) return null;
  if (path.some((node) => IMPORTS.has(node.type) || node.type === 'ERROR')) return null;
  if (token.type === 'identifier') {
    if (parent.type === 'keyword_argument' && token.field === 'name') return null;
    if (parent.type === 'keyword_pattern' && parent.children[0] === token) return null;
    if (parent.type === 'dotted_name') return parent.parts[0] === token ? token : null;
    if (parent.type !== 'attribute' || token.field !== 'attribute') return token;
    return isSimple(parent) ? parent : null;
  }
  // On the brackets or on the constant between them: the item.
  const subscript = path.find((node) => node.type === 'subscript');
  const inside = subscript === undefined ? undefined : path[path.indexOf(subscript) - 1];
  if (subscript === undefined || inside === undefined || inside.field === 'value') return null;
  const isBracket = token.type === '[' || token.type === ']';
  const inIndex = inside.field === 'subscript' && inside.type !== 'string' && CONSTANTS.has(inside.type);
  if (!(isBracket && token === inside) && !inIndex) return null;
  return isSimple(subscript) ? subscript : null;
}

/** Whether an expression is made of names, attributes and simple items only, so that no code runs for it. */
function isSimple(outermost: SyntaxNode): boolean {
  let node: SyntaxNode | null = outermost;
  while (node !== null) {
    if (node.type === 'identifier') return true;
    if (node.type === 'attribute') node = node.child('object');
    else if (node.type === 'subscript') {
      const indices = node.all('subscript');
      const [index] = indices;
      if (index === undefined || indices.length > 1) return false;
      if (!CONSTANTS.has(index.type) && !isNameChain(index)) return false;
      if (index.type === 'string' && index.has('interpolation')) return false;
      node = node.child('value');
    } else return false;
  }
  return false;
}

function isNameChain(outermost: SyntaxNode): boolean {
  let node: SyntaxNode | null = outermost;
  while (node?.type === 'attribute') node = node.child('object');
  return node?.type === 'identifier';
}
