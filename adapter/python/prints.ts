import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

/** A statement that does nothing but call `print`. */
export interface PrintStatement {
  /** The source text between the parentheses. */
  readonly argumentsText: string;
  readonly line: number;
  readonly endLine: number;
}

/**
 * The statements that do nothing but print, by each of the lines they take. One that shares a line with other
 * code is left out: its line tells nothing about whether it ran.
 */
export function printStatements(source: PythonSource): ReadonlyMap<number, PrintStatement> {
  const prints = new Map<number, PrintStatement>();
  const pending: SyntaxNode[] = [source.tree.root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    pending.push(...node.children);
    const statement = printStatement(source.text, node);
    if (!statement || sharesLine(node)) continue;
    for (let line = statement.line; line <= statement.endLine; line++) prints.set(line, statement);
  }
  return prints;
}

function printStatement(text: string, node: SyntaxNode): PrintStatement | null {
  const [call, ...rest] = node.parts;
  if (node.type !== 'expression_statement' || call?.type !== 'call' || rest.length > 0) return null;
  const callee = call.child('function');
  const given = call.child('arguments');
  if (callee?.type !== 'identifier' || given?.type !== 'argument_list') return null;
  if (text.slice(callee.start, callee.end) !== 'print') return null;
  return {
    argumentsText: text.slice(given.start + 1, given.end - 1),
    line: node.line,
    endLine: node.endLine,
  };
}

function sharesLine(node: SyntaxNode): boolean {
  const siblings = node.parent?.parts ?? [];
  const isInLine = (other: SyntaxNode) =>
    other !== node && other.line <= node.endLine && other.endLine >= node.line;
  return siblings.some(isInLine) || (node.parent?.type === 'block' && node.parent.parent?.line === node.line);
}
