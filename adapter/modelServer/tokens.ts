/**
 * The vocabulary of this server, which has no model: its control tokens have the ids that CWM's tokenizer gives
 * them, all other ids are bytes or pieces of text. A text is cut from the left, at each place by the longest
 * piece that fits, else by two characters that are both of words or both neither of words nor spaces; control
 * tokens are found first.
 *
 *     0 to 255         a byte of UTF-8
 *     256 to 9280      two printable ASCII characters: 256 + 95 * (first - 32) + (second - 32)
 *     9281 and more    the pieces below, in their order
 *     128000 and more  control tokens
 *
 * Frames come to about as many tokens as CWM's own tokenizer makes of them (23 on average).
 */
const pieces: readonly string[] = [
  '": "..", "',
  '": ".."}',
  '": "',
  '", "',
  '"}',
  '{"',
  "'",
  '                ',
  '            ',
  '        ',
  '    ',
  'return ',
  'import ',
  'while ',
  'range(',
  'print(',
  'append(',
  'lambda ',
  'except ',
  'raise ',
  'class ',
  'yield ',
  'total',
  'result',
  'index',
  'value',
  'count',
  'items',
  'self.',
  'self',
  'None',
  'True',
  'False',
  'else',
  'elif ',
  'def ',
  'for ',
  'not ',
  'and ',
  'len(',
  'if ',
  'or ',
  ' in ',
  ' is ',
  ' = ',
  ' += ',
  ' == ',
  ' + ',
  ' - ',
  ' * ',
  '):\n',
  ':\n',
  ')\n',
  '\\n',
  "', '",
  "': ",
  '), (',
  '], [',
];

const controlIds: ReadonlyMap<string, number> = new Map([
  ['<|begin_of_text|>', 128000],
  ['<|end_of_text|>', 128001],
  ['<|frame_sep|>', 128100],
  ['<|action_sep|>', 128101],
  ['<|return_sep|>', 128102],
  ['<|call_sep|>', 128103],
  ['<|line_sep|>', 128104],
  ['<|exception_sep|>', 128105],
  ['<|arg_sep|>', 128106],
  ['<|trace_context_start|>', 128107],
]);

/** The token that ends a text. */
export const endOfTextId = 128001;

/** A token of the vocabulary. */
export interface Token {
  readonly id: number;
  /** The text that it adds: of a character of several bytes all of it comes with the last one. */
  readonly text: string;
}

const firstPair = 256;
const firstPiece = firstPair + 95 * 95;

const controlToken = new RegExp(
  [...controlIds.keys()].map((text) => text.replaceAll('|', '\\|')).join('|'),
  'g',
);

/** What a text without control tokens is cut into: a piece, a pair, or one character. */
const cutting = new RegExp(
  [
    ...[...pieces].sort((a, b) => b.length - a.length).map(quoted),
    '\\w{2}',
    '[!-/:-@[-^`{-~]{2}',
    '[^]',
  ].join('|'),
  'gu',
);

/** All tokens of more than one byte by their text; single ASCII characters are their byte. */
const byText: ReadonlyMap<string, Token> = new Map(allTokens().map((token) => [token.text, token]));
const byId: ReadonlyMap<number, Token> = new Map([...byText.values()].map((token) => [token.id, token]));
const controls: ReadonlySet<number> = new Set(controlIds.values());

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function allTokens(): Token[] {
  const ascii = Array.from({ length: 128 }, (_, id) => ({ id, text: String.fromCharCode(id) }));
  const printable = ascii.slice(32, 127);
  const pairs = printable.flatMap((first, at) =>
    printable.map((second, index) => ({ id: firstPair + 95 * at + index, text: first.text + second.text })),
  );
  const longer = pieces.map((text, index) => ({ id: firstPiece + index, text }));
  const control = Array.from(controlIds, ([text, id]) => ({ id, text }));
  // A piece of two characters stands before the pair of the same text, which keeps its id for decoding.
  return [...ascii, ...pairs, ...longer, ...control];
}

/** Whether an id is that of a control token. */
export function isControl(id: number): boolean {
  return controls.has(id);
}

/** The tokens of a text, in order; joined, they are the text. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const control of text.matchAll(controlToken)) {
    tokenizePlain(text.slice(end, control.index), tokens);
    tokens.push(tokenOf(control[0]));
    end = control.index + control[0].length;
  }
  tokenizePlain(text.slice(end), tokens);
  return tokens;
}

/** The tokens of a text in which nothing is a control token. */
export function tokenizePlain(text: string, tokens: Token[] = []): Token[] {
  for (const part of text.match(cutting) ?? []) {
    const token = byText.get(part);
    if (token) {
      tokens.push(token);
      continue;
    }
    const bytes = Buffer.from(part, 'utf8');
    for (const [index, id] of bytes.entries())
      tokens.push({ id, text: index === bytes.length - 1 ? part : '' });
  }
  return tokens;
}

/** How many tokens a text is. */
export function countTokens(text: string): number {
  return tokenize(text).length;
}

/** The text of ids in two: what control tokens stand for, and all other text. */
export interface DecodedPart {
  readonly text: string;
  readonly isControl: boolean;
}

/** The text of ids; null where one of them is not of the vocabulary. Bytes that are no UTF-8 become U+FFFD. */
export function decode(ids: readonly number[]): DecodedPart[] | null {
  const parts: DecodedPart[] = [];
  let bytes: Buffer[] = [];
  const flush = () => {
    if (bytes.length > 0) parts.push({ text: Buffer.concat(bytes).toString('utf8'), isControl: false });
    bytes = [];
  };
  for (const id of ids) {
    const token = byId.get(id);
    if (token && isControl(id)) {
      flush();
      parts.push({ text: token.text, isControl: true });
    } else if (token) bytes.push(Buffer.from(token.text, 'utf8'));
    else if (id >= 0 && id < firstPair) bytes.push(Buffer.of(id));
    else return null;
  }
  flush();
  return parts;
}

/** The text of one id, of a byte that is no text a U+FFFD; null where it is not of the vocabulary. */
export function tokenText(id: number): string | null {
  return byId.get(id)?.text ?? (id >= 0 && id < firstPair ? '\ufffd' : null);
}

function tokenOf(text: string): Token {
  return byText.get(text) ?? { id: endOfTextId, text };
}
