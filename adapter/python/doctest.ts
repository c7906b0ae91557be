import { docstringOf } from './compileStatements';
import { Constants } from './constants';
import { exceptionParts } from './repr';
import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

/** A text to be put in at an offset of a source, in UTF-16 units. */
export interface Insertion {
  readonly offset: number;
  readonly text: string;
}

/** What a call in a doctest comes to: a repr, or an exception as `Type(arguments)`. */
export type DoctestResult =
  | { readonly kind: 'returns'; readonly repr: string }
  | { readonly kind: 'raises'; readonly exception: string };

/**
 * How a doctest is added to a function's docstring; a function without one gets one.
 *
 * @param name a function of the module's top level
 * @returns null where there is no such function, or no place for it: a body on the `def` line, a docstring that
 *   is not in triple quotes, or a text that cannot stand in it
 */
export function doctestInsertion(
  source: PythonSource,
  name: string,
  call: string,
  result: DoctestResult,
): Insertion | null {
  const definition = definitionOf(source, name);
  const body = definition?.child('body');
  const first = body?.parts[0];
  if (!definition || !body || !first || first.line === definition.line) return null;
  const lines = [`>>> ${call}`, ...expected(result)];
  const lineStart = source.tree.lineStarts[first.line - 1] ?? 0;
  const indent = source.text.slice(lineStart, first.start);
  if (indent.trim() !== '') return null;
  const docstring = docstringOf(body.parts, new Constants(source.text));
  if (!docstring) {
    const quoted = within(lines, '"""', false);
    if (!quoted) return null;
    const written = ['"""', ...quoted, '"""'].map((line) => `${indent}${line}\n`).join('');
    return { offset: lineStart, text: written };
  }
  return insideDocstring(source, docstring, indent, lines);
}

function insideDocstring(
  source: PythonSource,
  docstring: SyntaxNode,
  indent: string,
  lines: readonly string[],
): Insertion | null {
  const text = source.text.slice(docstring.start, docstring.end);
  const [, prefix = '', quotes = ''] = /^([rRuU]?)("""|''')/.exec(text) ?? [];
  if (quotes === '' || !text.endsWith(quotes)) return null;
  const quoted = within(lines, quotes, /r/i.test(prefix));
  if (!quoted) return null;
  const example = quoted.map((line) => `${indent}${line}\n`).join('');
  const end = docstring.end - quotes.length;
  const lastLine = source.text.lastIndexOf('\n', end - 1) + 1;
  const standsAlone = lastLine > docstring.start && source.text.slice(lastLine, end).trim() === '';
  if (standsAlone) return { offset: lastLine, text: `\n${example}` };
  return { offset: end, text: `\n\n${example}${indent}` };
}

/** Lines as they are written inside a string literal; null where the literal would end too early. */
function within(lines: readonly string[], quotes: string, isRaw: boolean): readonly string[] | null {
  if (lines.some((line) => line.includes(quotes))) return null;
  return isRaw ? lines : lines.map((line) => line.replaceAll('\\', '\\\\'));
}

/** What Python prints after the call. */
function expected(result: DoctestResult): readonly string[] {
  if (result.kind === 'returns') return result.repr === 'None' ? [] : [result.repr];
  const { type, message } = exceptionParts(result.exception);
  return ['Traceback (most recent call last):', '    ...', message ? `${type}: ${message}` : type];
}

function definitionOf(source: PythonSource, name: string): SyntaxNode | null {
  for (const statement of source.tree.root.parts) {
    const definition = statement.type === 'decorated_definition' ? statement.child('definition') : statement;
    if (definition?.type !== 'function_definition') continue;
    const named = definition.child('name');
    if (named && source.text.slice(named.start, named.end) === name) return definition;
  }
  return null;
}
