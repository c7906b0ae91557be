import type { Hover, Position } from 'vscode-languageserver';
import { lookUp } from '../python/valuePath';
import { localsText, plainMarkdown, pythonBlock, valueText, worldText } from './stateText';
import type { PredictedFile } from './pythonFile';

/** Statements that a hover over their first word tells the locals of. */
const leading =
  /^\s*(?:async\s+)?(?:for|while|if|elif|else|return|yield|with|raise|del|assert|try|except|finally|match|case|pass|break|continue)\b/;

/**
 * What was predicted for a line of Python when it was reached last: the value of the name, attribute or item under
 * the position, and all locals. Nothing over strings, comments and lines that were not reached.
 */
export function pythonHover(file: PredictedFile, position: Position): Hover | null {
  const line = position.line + 1;
  const { source, visits, known } = file;
  const { trajectory } = known;
  const expression = source.expressionAt(line, position.character);
  const isLeading =
    position.character <= (leading.exec(source.lines[position.line] ?? '')?.[0].length ?? -1) &&
    source.unitsOfLine(line).length > 0;
  if (!expression && !isLeading) return null;
  const states = file.visitsOn(line);
  const last = states.at(-1);
  if (last === undefined) return null;
  const at = trajectory.locals(last);
  if (!at) return null;
  const value = expression && lookUp(expression.text, at.locals);
  const after = visits.nextInFrame(last);
  const changed = after === null ? null : trajectory.locals(after);
  const then = changed && changed.state === after ? { locals: changed.locals, word: 'then' } : null;
  if (expression && !value && !then?.locals.has(expression.text)) return null;

  const visit = states.length === 1 ? 'one visit' : `the last of ${states.length} visits`;
  const parts = [`Before line ${line}, ${visit} (${plainMarkdown(worldText(known.world))})`];
  if (expression && value) {
    parts.unshift(pythonBlock(`${expression.text} = ${valueText(value, 1_000)}`));
  }
  const locals = localsText(at.locals, then);
  if (locals.length > 0) parts.push(pythonBlock(locals.join('\n')));
  if (file.isStale) parts.push('The file has changed since: this line has not.');
  const range = expression && {
    start: { line: expression.line - 1, character: expression.startColumn },
    end: { line: expression.line - 1, character: expression.endColumn },
  };
  return { contents: { kind: 'markdown', value: parts.join('\n\n') }, ...(range ? { range } : {}) };
}
