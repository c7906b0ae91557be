/** A part of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const token =
  /\s*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b))/y;

/** Where a text stops being JSON: from the first thing that cannot stand there to the end of that word. */
export function syntaxErrorIn(text: string): Span | null {
  const walked = walk(text, null);
  return walked.kind === 'error' ? walked.span : null;
}

/**
 * Where a value stands in a text of JSON: the value that a path of names and indices leads to, or where there is
 * none, the innermost one on the way.
 */
export function placeIn(text: string, path: readonly PropertyKey[]): Span {
  const walked = walk(text, path.map(String));
  return walked.kind === 'found' ? walked.span : { start: 0, end: text.length };
}

type Walked = { readonly kind: 'found' | 'error'; readonly span: Span } | { readonly kind: 'whole' };

type Expected = 'value' | 'valueOrEnd' | 'keyOrEnd' | 'key' | 'colon' | 'commaOrEnd' | 'nothing';

/** An object or array that is open. */
interface Open {
  readonly close: '}' | ']';
  readonly start: number;
  /** Whether all of the path that leads here was taken. */
  readonly onPath: boolean;
  index: number;
  key: string | null;
}

/** Reads JSON without recursion, for it may be nested as deep as it is long. */
function walk(text: string, path: readonly string[] | null): Walked {
  const open: Open[] = [];
  const now: { expects: Expected; best: Span | null } = { expects: 'value', best: null };
  let at = 0;
  const wrong = (): Walked => {
    const start = at + (/^\s*/.exec(text.slice(at, at + 1_000))?.[0].length ?? 0);
    const word = /^(?:"[^"\n]*"?|[^\s,:{}[\]"]+|[^])/.exec(text.slice(start, start + 200))?.[0] ?? '';
    return { kind: 'error', span: { start: Math.min(start, text.length), end: start + word.length } };
  };
  /** Whether what begins now is on the path, and is its end. */
  const meets = (): { on: boolean; isTarget: boolean } => {
    const inner = open.at(-1);
    if (!path) return { on: false, isTarget: false };
    if (!inner) return { on: true, isTarget: path.length === 0 };
    const step = inner.close === '}' ? inner.key : String(inner.index);
    const on = inner.onPath && path[open.length - 1] === step;
    return { on, isTarget: on && open.length === path.length };
  };
  const closed = (): void => {
    now.expects = open.length === 0 ? 'nothing' : 'commaOrEnd';
  };
  for (;;) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) {
      if (now.expects === 'nothing' && text.slice(at).trim() === '') {
        return now.best ? { kind: 'found', span: now.best } : { kind: 'whole' };
      }
      return wrong();
    }
    const [whole, mark, string, scalar] = match;
    const end = at + whole.length;
    const start = end - (mark ?? string ?? scalar ?? '').length;
    const takesValue = now.expects === 'value' || now.expects === 'valueOrEnd';
    if (takesValue && (mark === '{' || mark === '[')) {
      const { on, isTarget } = meets();
      open.push({ close: mark === '{' ? '}' : ']', start, onPath: on, index: 0, key: null });
      // Until its end is known the beginning stands for it.
      if (on) now.best = { start, end };
      if (isTarget) {
        const last = closeOf(text, start);
        return { kind: 'found', span: { start, end: last } };
      }
      now.expects = mark === '{' ? 'keyOrEnd' : 'valueOrEnd';
    } else if (takesValue && (string !== undefined || scalar !== undefined)) {
      const { on, isTarget } = meets();
      if (on) now.best = { start, end };
      if (isTarget) return { kind: 'found', span: { start, end } };
      closed();
    } else if ((now.expects === 'key' || now.expects === 'keyOrEnd') && string !== undefined) {
      const inner = open.at(-1);
      if (inner) inner.key = JSON.parse(string) as string;
      now.expects = 'colon';
    } else if (now.expects === 'colon' && mark === ':') {
      now.expects = 'value';
    } else if (now.expects === 'commaOrEnd' && mark === ',') {
      const inner = open.at(-1);
      if (inner) inner.index++;
      now.expects = inner?.close === '}' ? 'key' : 'value';
    } else if (
      (now.expects === 'commaOrEnd' || now.expects === 'keyOrEnd' || now.expects === 'valueOrEnd') &&
      mark !== undefined &&
      mark === open.at(-1)?.close
    ) {
      const inner = open.pop();
      if (inner?.onPath && now.best?.start === inner.start) now.best = { start: inner.start, end };
      closed();
    } else return wrong();
    at = end;
  }
}

/** Where an object or array that begins at an offset ends, in a text that is JSON. */
function closeOf(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) return text.length;
    at += match[0].length;
    const mark = match[1];
    if (mark === '{' || mark === '[') depth++;
    else if ((mark === '}' || mark === ']') && --depth === 0) return at;
  }
}
