import { readFileSync } from 'node:fs';

/** A message of a golden transcript. */
export interface Entry {
  readonly kind: 'request' | 'response' | 'error' | 'event';
  readonly name: string;
  /** The arguments of a request, else the body; undefined where there is none. */
  readonly body: unknown;
}

/** Reads a transcript that `DapClient.transcript` wrote. */
export function readTranscript(file: URL): Entry[] {
  const text = readFileSync(file, 'utf8');
  return text.split(/^(?=[<>] )/m).map((message) => {
    const [, mark = '', word = '', name = '', body = ''] =
      /^([<>]) (?:(response|ERROR|event) )?(\S+) ?([^]*)$/.exec(message.trimEnd()) ?? [];
    const kind =
      mark === '>' ? 'request' : word === 'ERROR' ? 'error' : word === 'event' ? 'event' : 'response';
    return { kind, name, body: body === '' ? undefined : (JSON.parse(body) as unknown) };
  });
}

/**
 * Whether a value has what a shape says: a pattern is found in a text, each item of a list is that of some item, each
 * name of an object is there, and all else is equal.
 */
export function has(value: unknown, shape: unknown): boolean {
  if (shape instanceof RegExp) return typeof value === 'string' && shape.test(value);
  if (Array.isArray(shape)) {
    return Array.isArray(value) && shape.every((item) => value.some((one) => has(one, item)));
  }
  if (typeof shape === 'object' && shape !== null) {
    if (typeof value !== 'object' || value === null) return false;
    const fields = new Map<string, unknown>(Object.entries(value));
    return Object.entries(shape).every(([name, wanted]) => has(fields.get(name), wanted));
  }
  return value === shape;
}
