import type { ExpressionEvaluator } from '../python/expressions';
import { childrenOf, typeName } from '../python/repr';
import { lookUp } from '../python/valuePath';
import type { Locals } from '../trajectory/state';
import { debugConsoleWords } from './console';
import type { Debugger } from './debugger';

/** Something that can be written at a place. */
export interface Completion {
  readonly text: string;
  readonly kind: 'variable' | 'property' | 'method' | 'function' | 'value' | 'keyword';
  /** How many characters before the place it replaces. */
  readonly replaces: number;
}

/** The most that are offered. */
const most = 200;

const path = String.raw`[^\W\d]\w*(?:\.[^\W\d]\w*|\[[^\[\]]*\])*`;
const attribute = new RegExp(String.raw`(${path})\.(\w*)$`, 'u');
const item = new RegExp(String.raw`(${path})\[(['"]?[^\[\]'"]*)$`, 'u');

/**
 * What can follow a text in the debug console: names in scope, attributes and items that are seen in values,
 * builtins that are evaluated, and the console's commands.
 *
 * @param before the text up to the place
 * @param state the state of the frame that it is evaluated in
 */
export async function completionsAfter(
  before: string,
  session: Debugger,
  evaluator: ExpressionEvaluator,
  state: number,
): Promise<Completion[]> {
  const locals: Locals = (state < 0 ? null : session.trajectory.locals(state)?.locals) ?? new Map();
  // What is known of objects, and of the module's names, is seen as expressions see it.
  const seen = state < 0 ? locals : await session.derived.names(before, session.cursor, state);
  const command = /^\s*(\.[\w-]*)$/.exec(before)?.[1];
  if (command !== undefined)
    return matching(
      command,
      debugConsoleWords.map((word) => [`.${word}`, 'keyword']),
    );
  const [, object = '', start = ''] = attribute.exec(before) ?? [];
  if (object !== '')
    return matching(start, await attributesOf(lookUp(object, seen)?.repr ?? null, evaluator));
  const [, container = '', key = ''] = item.exec(before) ?? [];
  if (container !== '') return matching(key, itemsOf(lookUp(container, seen)?.repr ?? null));
  const [word = ''] = /\w*$/u.exec(before) ?? [];
  if (word === '' && before.trim() !== '' && /[\w)\]'"]\s*$/u.test(before)) return [];
  const { builtins } = await evaluator.vocabulary();
  return matching(word, [
    ...[...locals.keys(), ...(state < 0 ? [] : session.derived.globalNames(state))].map(
      (name) => [name, 'variable'] as const,
    ),
    ...builtins.map((name) => [name, 'function'] as const),
  ]);
}

function matching(start: string, words: readonly (readonly [string, Completion['kind']])[]): Completion[] {
  const seen = new Set<string>();
  const found: Completion[] = [];
  for (const [text, kind] of words) {
    if (!text.startsWith(start) || seen.has(text)) continue;
    seen.add(text);
    found.push({ text, kind, replaces: start.length });
    if (found.length === most) break;
  }
  return found;
}

async function attributesOf(
  repr: string | null,
  evaluator: ExpressionEvaluator,
): Promise<(readonly [string, Completion['kind']])[]> {
  if (repr === null) return [];
  const known = (await evaluator.vocabulary()).attributes.get(typeName(repr) ?? '');
  if (known) return known.map((name) => [name, 'method']);
  // An object that is written as a call shows its attributes by their names.
  return partsOf(repr)
    .filter((name) => /^[^\W\d]\w*$/u.test(name))
    .map((name) => [name, 'property']);
}

function itemsOf(repr: string | null): (readonly [string, Completion['kind']])[] {
  return repr === null || typeName(repr) === 'set' ? [] : partsOf(repr).map((name) => [`${name}]`, 'value']);
}

/** The names of a value's parts, as its rows have them. */
function partsOf(repr: string): string[] {
  const children = childrenOf(repr);
  return children.page(0, Math.min(most, children.indexed + children.named)).map(({ name }) => name);
}
