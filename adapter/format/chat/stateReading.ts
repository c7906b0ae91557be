import type { EventKind } from '../../trajectory/state';
import type { Loose, LooseMap } from './looseJson';
import { valueRepr } from './pythonRepr';

/** A value as an answer gives it. */
export interface AnsweredValue {
  /** The repr; null where the model says that it does not know, or that nothing changed. */
  readonly repr: string | null;
  readonly isUnchanged: boolean;
  /** What the answer holds there. */
  readonly given: Loose;
}

/** A state as an answer gives it, before anything is checked. */
export interface AnsweredState {
  /** Null where it is missing, or no event of Python. */
  readonly event: EventKind | null;
  readonly function: string | null;
  readonly line: number | null;
  /** Null where they are missing. */
  readonly locals: ReadonlyMap<string, AnsweredValue> | null;
  /** Null where it is missing. */
  readonly value: AnsweredValue | null;
  /** Whether the value is said to be null: nothing for most events, None for a return. */
  readonly valueIsNull: boolean;
  readonly output: string | null;
  /** Where the event, the function and the line stand. */
  readonly position: readonly Loose[];
}

const keys = {
  event: ['event', 'eventtype', 'eventkind', 'ev', 'type', 'kind'],
  function: ['function', 'functionname', 'func', 'fn', 'frame', 'scope', 'name'],
  line: ['line', 'lineno', 'linenumber', 'ln'],
  locals: ['locals', 'localvariables', 'localvars', 'variables', 'vars', 'args', 'arguments', 'state'],
  value: [
    'value',
    'returnvalue',
    'retval',
    'returned',
    'result',
    'return',
    'exception',
    'error',
    'arg',
    'argument',
  ],
  output: ['output', 'stdout', 'printed', 'prints'],
  ended: ['ended', 'end', 'isended', 'finished', 'done', 'terminated', 'programended'],
} as const;

const events = new Map<string, EventKind | 'end'>([
  ['call', 'call'],
  ['called', 'call'],
  ['enter', 'call'],
  ['functioncall', 'call'],
  ['line', 'line'],
  ['step', 'line'],
  ['next', 'line'],
  ['statement', 'line'],
  ['execute', 'line'],
  ['return', 'return'],
  ['returned', 'return'],
  ['yield', 'return'],
  ['leave', 'return'],
  ['functionreturn', 'return'],
  ['exception', 'exception'],
  ['raise', 'exception'],
  ['raised', 'exception'],
  ['error', 'exception'],
  ['throw', 'exception'],
  ['end', 'end'],
  ['ended', 'end'],
  ['finished', 'end'],
  ['programend', 'end'],
]);

/** The keys under which the parts of a state stand, not states. */
const innerKeys: ReadonlySet<string> = new Set([...keys.locals, ...keys.value, ...keys.output, 'changed']);

/** Whether what stands under a key is a part of a state. */
export function isInsideState(key: string | null): boolean {
  // A wrapper may be called "result" or "state"; a model's variables are told from those by their list.
  return key !== null && innerKeys.has(plain(key)) && plain(key) !== 'state' && plain(key) !== 'result';
}

/** Whether an object is a state: it says an event, or a line and more. */
export function isState(map: LooseMap): boolean {
  const fields = fieldsOf(map);
  if (find(fields, keys.line) === null) return find(fields, ['event', 'eventtype', 'ev']) !== null;
  return [keys.event, keys.function, keys.locals].some((names) => find(fields, names) !== null);
}

/** Whether an object says that the program ended. */
export function saysEnded(map: LooseMap): boolean {
  const fields = fieldsOf(map);
  const ended = find(fields, keys.ended);
  if (ended && (ended.kind === 'word' || ended.kind === 'text') && /^(true|yes|1)$/i.test(ended.text))
    return true;
  const event = find(fields, ['event', 'eventtype', 'ev']);
  return event !== null && eventOf(event) === 'end';
}

/** Reads an object as a state; null for a mark of the end, which is not one. */
export function readAnsweredState(map: LooseMap): AnsweredState | null {
  const fields = fieldsOf(map);
  const event = find(fields, keys.event);
  const kind = event && eventOf(event);
  if (kind === 'end') return null;
  const name = find(fields, keys.function);
  const line = find(fields, keys.line);
  const locals = find(fields, keys.locals);
  const value = find(fields, keys.value);
  const output = find(fields, keys.output);
  return {
    event: kind,
    function: name && functionOf(name),
    line: line && lineOf(line),
    locals: locals && localsOf(locals),
    value: value && answeredValue(value),
    valueIsNull: value?.kind === 'word' && /^(null|None|undefined|)$/.test(value.text),
    output: output?.kind === 'text' ? output.text : null,
    position: [event, name, line].flatMap((part) => (part ? [part] : [])),
  };
}

/** A value that an object gives under one of some keys, written in small letters without signs; null if none does. */
export function answeredField(map: LooseMap, names: readonly string[]): AnsweredValue | null {
  const given = find(fieldsOf(map), names);
  return given && answeredValue(given);
}

const thoughtEnds = /<\/(?:think|thinking|thought|reasoning)>|<\|message\|>/g;

/** Where an answer begins after the thoughts before it; null where a thought does not end. */
export function answerWithoutThought(text: string): number | null {
  const last = [...text.matchAll(thoughtEnds)].at(-1);
  if (last) return last.index + last[0].length;
  return /^\s*<(think|thinking|thought|reasoning)>/.test(text) ? null : 0;
}

function fieldsOf(map: LooseMap): Map<string, Loose> {
  const fields = new Map<string, Loose>();
  for (const [key, value] of map.entries) {
    const name = key.kind === 'text' || key.kind === 'word' ? plain(key.text) : '';
    if (!fields.has(name)) fields.set(name, value);
  }
  return fields;
}

function find(fields: ReadonlyMap<string, Loose>, names: readonly string[]): Loose | null {
  for (const name of names) {
    const value = fields.get(name);
    if (value) return value;
  }
  return null;
}

/** A key or a word as it is compared: `return_value` is `returnValue`. */
function plain(text: string): string {
  return text
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^a-z]/g, '');
}

function eventOf(value: Loose): EventKind | 'end' | null {
  if (value.kind !== 'text' && value.kind !== 'word') return null;
  const word = plain(value.text);
  return events.get(word) ?? events.get(word.replace(/event$/, '')) ?? null;
}

function functionOf(value: Loose): string | null {
  if (value.kind === 'map') {
    const name = find(fieldsOf(value), ['name', 'function']);
    return name && functionOf(name);
  }
  if (value.kind === 'list') return null;
  const name = value.text
    .trim()
    .replace(/^(?:async\s+)?(?:def|class)\s+/, '')
    .replace(/\s*\(.*$/s, '');
  return name === '' || name === 'null' || name === 'None' ? null : name.slice(0, 200);
}

function lineOf(value: Loose): number | null {
  if (value.kind === 'list') return value.items[0] ? lineOf(value.items[0]) : null;
  if (value.kind === 'map') {
    const line = find(fieldsOf(value), ['number', ...keys.line]);
    return line && line.kind !== 'map' ? lineOf(line) : null;
  }
  const digits = /^\D{0,8}(\d{1,9})(?:\.0*)?(?!\d)/.exec(value.text.trim())?.[1];
  return digits === undefined || value.text.trim().startsWith('-') ? null : Number(digits);
}

/** Locals as a map, as a list of `{name, value}`, of pairs or of `name = value`. */
function localsOf(value: Loose): ReadonlyMap<string, AnsweredValue> | null {
  const locals = new Map<string, AnsweredValue>();
  if (value.kind === 'map') {
    for (const [key, item] of value.entries) addLocal(locals, key, item);
    return locals;
  }
  if (value.kind !== 'list') return /^(|null|None)$/.test(value.text.trim()) ? null : locals;
  for (const item of value.items) {
    if (item.kind === 'map') {
      const fields = fieldsOf(item);
      const name = find(fields, ['name', 'variable', 'var', 'key', 'local']);
      const given = find(fields, ['value', 'repr', 'val']);
      if (name && given) addLocal(locals, name, given);
      else for (const [key, part] of item.entries) addLocal(locals, key, part);
    } else if (item.kind === 'list') {
      const [name, given] = item.items;
      if (name && given) addLocal(locals, name, given);
    } else {
      const parts = /^\s*([^=:\s]+)\s*[=:]\s*(.*)$/su.exec(item.text);
      if (parts)
        addText(locals, parts[1] ?? '', answeredValue({ ...item, kind: 'text', text: parts[2] ?? '' }));
    }
  }
  return locals;
}

function addLocal(locals: Map<string, AnsweredValue>, name: Loose, value: Loose): void {
  if (name.kind === 'text' || name.kind === 'word') addText(locals, name.text, answeredValue(value));
}

/** Python's names, and `.0`, the hidden argument of comprehensions. */
function addText(locals: Map<string, AnsweredValue>, text: string, value: AnsweredValue): void {
  const name = text.trim().normalize('NFKC');
  if (/^(?:[\p{L}_][\p{L}\p{N}\p{M}\p{Pc}]*|\.\d)$/u.test(name)) locals.set(name, value);
}

function answeredValue(value: Loose): AnsweredValue {
  const word = value.kind === 'text' || value.kind === 'word' ? value.text.trim().toLowerCase() : null;
  const isUnchanged = word === '..' || word === 'unchanged' || word === '<unchanged>';
  const isUnknown = word === '?' || word === 'unknown' || word === '<unknown>';
  return { repr: isUnchanged || isUnknown ? null : valueRepr(value), isUnchanged, given: value };
}

/** An exception as it may be given instead of `Type(arguments)`: its type and its message apart. */
export function exceptionFields(
  value: Loose,
): { readonly type: string; readonly message: string | null } | null {
  if (value.kind !== 'map') return null;
  const fields = fieldsOf(value);
  const type = find(fields, ['type', 'exception', 'class', 'name']);
  if (type?.kind !== 'text' && type?.kind !== 'word') return null;
  const message = find(fields, ['message', 'value', 'msg', 'args']);
  return { type: type.text, message: message?.kind === 'text' ? message.text : null };
}
