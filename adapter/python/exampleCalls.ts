import { docstringOf } from './compileStatements';
import { Constants } from './constants';
import { findFunction, type FunctionDefinition } from './functions';
import { decodeString, stringLiteral } from './reprLexer';
import { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

/** A call of a function that is written somewhere, with nothing but literals for arguments. */
export interface ExampleCall {
  /** Python source of one line: `gcd(12, 18)`, `Account('Ada', 100).change(-30)`. */
  readonly call: string;
  readonly origin: 'doctest' | 'call' | 'parameters';
  /** The line it is written on, from 1. */
  readonly line: number;
}

/** More examples of one function say little new. */
const maxExamples = 50;
/** Longer calls are no help in a list. */
const maxLength = 500;
/** More rows of one `parametrize` are not looked at. */
const maxRows = 20;

/**
 * The calls of a function that a source shows: in the function's and the module's doctests, in its code, and in
 * the rows of `pytest.mark.parametrize`. Nothing is evaluated: arguments are literals as they are written.
 *
 * @param source where to look: the function's own file, or one that tests it
 */
export async function exampleCalls(
  source: PythonSource,
  definition: FunctionDefinition,
): Promise<ExampleCall[]> {
  const calls = [...(await doctestCalls(source, definition)), ...callsIn(source, definition)];
  const seen = new Set<string>();
  return calls
    .filter(({ call }) => call.length <= maxLength && !seen.has(call) && seen.add(call))
    .slice(0, maxExamples);
}

function callsIn(source: PythonSource, definition: FunctionDefinition): ExampleCall[] {
  const found: ExampleCall[] = [];
  for (const node of nodesOf(source.tree.root)) {
    if (found.length >= maxExamples) break;
    if (definition.kind === 'property') {
      const read = propertyRead(source, node, definition);
      if (read !== null) found.push({ call: read, origin: 'call', line: node.line });
      continue;
    }
    if (node.type !== 'call') continue;
    const callee = calleeOf(source, node, definition);
    const list = node.child('arguments');
    if (callee === null || list?.type !== 'argument_list') continue;
    const { line } = node;
    if (list.parts.every(isLiteralArgument)) {
      const given = oneLine(source, list);
      if (given !== null) found.push({ call: callee + given, origin: 'call', line });
      continue;
    }
    for (const given of parametrized(source, list)) {
      found.push({ call: callee + given, origin: 'parameters', line });
    }
  }
  return found;
}

/** How a call names the function, so that it can be named from its own module; null for calls of others. */
function calleeOf(
  source: PythonSource,
  call: SyntaxNode,
  { name, className, kind, qualifiedName }: FunctionDefinition,
): string | null {
  const callee = call.child('function');
  if (callee === null) return null;
  const last = callee.type === 'attribute' ? callee.child('attribute') : callee;
  if (last?.type !== 'identifier' || source.text.slice(last.start, last.end) !== name) return null;
  const object = callee.type === 'attribute' ? callee.child('object') : null;
  if (className === null) {
    // `module.f(…)` of a test, but no method of the same name.
    return object === null || isDottedName(object) ? name : null;
  }
  if (object === null) return null;
  if (kind !== 'method') return isDottedName(object) ? qualifiedName : null;
  const made = construction(source, object, className);
  return made === null ? null : `${made}.${name}`;
}

/** A read of a property of an object that is made of literals, as an expression; null for all else. */
function propertyRead(
  source: PythonSource,
  node: SyntaxNode,
  { name, className }: FunctionDefinition,
): string | null {
  const last = node.type === 'attribute' ? node.child('attribute') : null;
  const object = last && node.child('object');
  if (!last || !object || className === null || source.text.slice(last.start, last.end) !== name) return null;
  const made = construction(source, object, className);
  return made === null ? null : `${made}.${name}`;
}

/**
 * How an object is made, where that is a construction with nothing but literals: `Account('Ada', 100)` itself, or the
 * name that it was given last before. What was done to it since is left out.
 */
function construction(source: PythonSource, object: SyntaxNode, className: string): string | null {
  const made = object.type === 'identifier' ? assignedTo(source, object) : object;
  const constructor = made?.type === 'call' ? made.child('function') : null;
  const list = made?.type === 'call' ? made.child('arguments') : null;
  if (constructor === null || list?.type !== 'argument_list') return null;
  if (!isDottedName(constructor) || !list.parts.every(isLiteralArgument)) return null;
  const constructed = source.text.slice(constructor.start, constructor.end);
  if (constructed !== className && !constructed.endsWith(`.${className}`)) return null;
  const given = oneLine(source, list);
  return given === null ? null : className + given;
}

/** What a name was assigned last, in the text before its use, within the same function or module. */
function assignedTo(source: PythonSource, use: SyntaxNode): SyntaxNode | null {
  const name = source.text.slice(use.start, use.end);
  let scope = use;
  while (scope.parent && scope.type !== 'function_definition') scope = scope.parent;
  let last: SyntaxNode | null = null;
  for (const node of nodesOf(scope)) {
    const target = node.type === 'assignment' && node.start < use.start ? node.child('left') : null;
    if (target?.type === 'identifier' && source.text.slice(target.start, target.end) === name)
      last = node.child('right');
  }
  return last;
}

function isDottedName(node: SyntaxNode): boolean {
  if (node.type === 'identifier') return true;
  const object = node.type === 'attribute' ? node.child('object') : null;
  return object !== null && isDottedName(object);
}

const scalars: ReadonlySet<string> = new Set(['integer', 'float', 'true', 'false', 'none']);
const containers: ReadonlySet<string> = new Set([
  'list',
  'tuple',
  'set',
  'dictionary',
  'pair',
  'parenthesized_expression',
  'concatenated_string',
]);

function isLiteralArgument(argument: SyntaxNode): boolean {
  if (argument.type !== 'keyword_argument') return isLiteral(argument);
  const value = argument.child('value');
  return value !== null && isLiteral(value);
}

function isLiteral(root: SyntaxNode): boolean {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (scalars.has(node.type)) continue;
    if (node.type === 'string') {
      if (node.has('interpolation')) return false;
    } else if (node.type === 'unary_operator' || containers.has(node.type)) pending.push(...node.parts);
    else return false;
  }
  return true;
}

/** The text of a node on one line; null where a string goes over lines. */
function oneLine(source: PythonSource, node: SyntaxNode): string | null {
  if (node.line === node.endLine) return source.text.slice(node.start, node.end);
  let text = '';
  let at = node.start;
  for (const part of nodesOf(node)) {
    if (part.type !== 'string' || part.start < at) continue;
    if (part.line !== part.endLine) return null;
    text += joined(source.text.slice(at, part.start)) + source.text.slice(part.start, part.end);
    at = part.end;
  }
  return (text + joined(source.text.slice(at, node.end))).replace(/^\(\s+/, '(').replace(/,?\s+\)$/, ')');
}

/** Code outside of strings with its comments and line ends taken out. */
function joined(code: string): string {
  return code.replace(/#[^\r\n]*/g, '').replace(/\s*(?:\\)?[\r\n]\s*/g, ' ');
}

/** The argument lists that come of putting the rows of the test's `parametrize` in for its parameters. */
function parametrized(source: PythonSource, list: SyntaxNode): string[] {
  const texts = new Map<string, string[]>();
  for (let node: SyntaxNode | null = list; node !== null; node = node.parent) {
    if (node.type !== 'decorated_definition') continue;
    for (const decorator of node.parts) {
      const call = decorator.type === 'decorator' ? decorator.parts[0] : undefined;
      if (call?.type === 'call') readParameters(source, call, texts);
    }
  }
  if (texts.size === 0) return [];
  const lists: string[] = [];
  for (let row = 0; row < maxRows; row++) {
    const given = list.parts.map((argument) => substitute(source, argument, texts, row));
    if (given.every((text) => text !== null)) lists.push(`(${given.join(', ')})`);
  }
  return lists;
}

function substitute(
  source: PythonSource,
  argument: SyntaxNode,
  texts: ReadonlyMap<string, readonly string[]>,
  row: number,
): string | null {
  if (isLiteralArgument(argument)) return oneLine(source, argument);
  const value = argument.type === 'keyword_argument' ? argument.child('value') : argument;
  if (value?.type !== 'identifier') return null;
  const given = texts.get(source.text.slice(value.start, value.end))?.[row];
  if (given === undefined) return null;
  return source.text.slice(argument.start, value.start) + given;
}

/** Reads `parametrize("a, b", [(1, 2), …])` into the texts of each parameter, row by row. */
function readParameters(source: PythonSource, call: SyntaxNode, texts: Map<string, string[]>): void {
  const callee = call.child('function');
  if (callee === null || !/(^|\.)parametrize$/.test(source.text.slice(callee.start, callee.end))) return;
  const [names, rows] = call.child('arguments')?.parts ?? [];
  if (names === undefined || rows === undefined || !/^(list|tuple)$/.test(rows.type)) return;
  const parameters = namesOf(source, names);
  for (const row of rows.parts.slice(0, maxRows)) {
    if (!isLiteral(row)) continue;
    const values = parameters.length === 1 ? [row] : /^(list|tuple)$/.test(row.type) ? row.parts : [];
    const given = values.map((value) => oneLine(source, value));
    if (given.length !== parameters.length) continue;
    parameters.forEach((name, index) => {
      const text = given[index] ?? null;
      if (text === null) return;
      const known = texts.get(name);
      if (known) known.push(text);
      else texts.set(name, [text]);
    });
  }
}

function namesOf(source: PythonSource, node: SyntaxNode): string[] {
  const strings = node.type === 'string' ? [node] : node.parts.filter(({ type }) => type === 'string');
  return strings
    .flatMap((each) => (contentsOf(source, each) ?? '').split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function contentsOf(source: PythonSource, node: SyntaxNode): string | null {
  if (node.has('interpolation')) return null;
  const text = source.text.slice(node.start, node.end);
  const literal = stringLiteral(text, 0);
  return literal === null || literal === 'unclosed' || literal.end < text.length
    ? null
    : decodeString(text, literal);
}

/** The examples in the docstrings of the module, of the function, and of its class. */
async function doctestCalls(source: PythonSource, definition: FunctionDefinition): Promise<ExampleCall[]> {
  const constants = new Constants(source.text);
  const own = findFunction(source, definition.qualifiedName);
  const bodies = [source.tree.root];
  for (let node: SyntaxNode | null = own?.node ?? null; node !== null; node = node.parent) {
    const body = /^(function|class)_definition$/.test(node.type) ? node.child('body') : null;
    if (body !== null) bodies.unshift(body);
  }
  const found: ExampleCall[] = [];
  for (const body of bodies) {
    const statement = docstringOf(body.parts, constants);
    if (statement === null) continue;
    const lines = source.lines.slice(statement.line - 1, statement.endLine);
    for (const { text, line } of doctests(lines)) {
      const parsed = await PythonSource.parse(text);
      for (const { call } of callsIn(parsed, definition)) {
        found.push({ call, origin: 'doctest', line: statement.line + line });
      }
    }
  }
  return found;
}

/** The statements after `>>>`, with their continuations, and how many lines from the first line they begin. */
function doctests(lines: readonly string[]): { text: string; line: number }[] {
  const found: { text: string; line: number }[] = [];
  lines.forEach((line, index) => {
    const prompt = /^[^>]*?>>> ?(.*)$/.exec(line);
    const more = /^\s*\.\.\. ?(.*)$/.exec(line);
    if (prompt) found.push({ text: `${prompt[1] ?? ''}\n`, line: index });
    const last = found.at(-1);
    if (more && last) last.text += `${more[1] ?? ''}\n`;
  });
  return found.slice(0, maxExamples);
}

function* nodesOf(root: SyntaxNode): Generator<SyntaxNode> {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    yield node;
    for (const child of node.children.toReversed()) pending.push(child);
  }
}
