/**
 * The words that Python reprs are made of. Every function takes a text and an offset and tells where the word
 * that begins there ends; -1 where there is none. Nothing here looks at a character more than a few times.
 */

const quote = 0x27;
const doubleQuote = 0x22;
const backslash = 0x5c;

/** Python identifiers, roughly: all of Unicode beyond ASCII is let in. */
function isNameStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code >= 0x80;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isNamePart(code: number): boolean {
  return isNameStart(code) || isDigit(code);
}

/** The first offset at or after one that is no white space. */
export function skipSpace(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(at);
    if (!(code === 32 || (code >= 9 && code <= 13))) return at;
    at++;
  }
}

/** An identifier. */
export function nameEnd(text: string, at: number): number {
  if (!isNameStart(text.charCodeAt(at))) return -1;
  while (isNamePart(text.charCodeAt(at))) at++;
  return at;
}

/** A qualified name: `a`, `a.b`, `make.<locals>.Point`. */
export function qualifiedNameEnd(text: string, at: number): number {
  let end = nameEnd(text, at);
  while (end >= 0 && text.charCodeAt(end) === 46) {
    const scope = ['<locals>', '<lambda>'].find((word) => text.startsWith(word, end + 1));
    const next = scope === undefined ? nameEnd(text, end + 1) : end + 1 + scope.length;
    if (next < 0) break;
    end = next;
  }
  return end;
}

/** Digits of a base, with single underscores between them. */
function digitsEnd(text: string, at: number, isDigitOfBase: (code: number) => boolean): number {
  if (!isDigitOfBase(text.charCodeAt(at))) return -1;
  for (;;) {
    while (isDigitOfBase(text.charCodeAt(at))) at++;
    if (text.charCodeAt(at) !== 95 || !isDigitOfBase(text.charCodeAt(at + 1))) return at;
    at++;
  }
}

const based = new Map<string, (code: number) => boolean>([
  ['x', (code) => isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)],
  ['o', (code) => code >= 48 && code <= 55],
  ['b', (code) => code === 48 || code === 49],
]);

/** A number without a sign: an integer, a float, `inf`, `nan`, or one of them as an imaginary part. */
function unsignedNumberEnd(text: string, at: number): number {
  const base = text.charCodeAt(at) === 48 ? based.get(text.charAt(at + 1).toLowerCase()) : undefined;
  let end: number;
  if (base) {
    end = digitsEnd(text, at + 2, base);
  } else {
    if (text.startsWith('inf', at) || text.startsWith('nan', at)) end = at + 3;
    else end = decimalEnd(text, at);
    if (end >= 0 && (text.charCodeAt(end) | 32) === 106) end++;
  }
  return end >= 0 && !isNamePart(text.charCodeAt(end)) ? end : -1;
}

function decimalEnd(text: string, at: number): number {
  const whole = digitsEnd(text, at, isDigit);
  let end = whole;
  const point = whole < 0 ? at : whole;
  if (text.charCodeAt(point) === 46 && !text.startsWith('...', point)) {
    const fraction = digitsEnd(text, point + 1, isDigit);
    if (whole < 0 && fraction < 0) return -1;
    end = fraction < 0 ? whole + 1 : fraction;
  }
  if (end < 0) return -1;
  if ((text.charCodeAt(end) | 32) === 101) {
    const sign = text.charAt(end + 1);
    const exponent = digitsEnd(text, end + (sign === '+' || sign === '-' ? 2 : 1), isDigit);
    if (exponent >= 0) end = exponent;
  }
  // Python takes no integer such as 007, but 007.5 and 007j.
  const isInteger = end === whole && (text.charCodeAt(end) | 32) !== 106;
  if (
    isInteger &&
    whole - at > 1 &&
    text.charCodeAt(at) === 48 &&
    !/^[0_]+$/.test(text.slice(at, Math.min(whole, at + 100)))
  ) {
    return -1;
  }
  return end;
}

function isSign(code: number): boolean {
  return code === 43 || code === 45;
}

/** A number: with a sign, or as the sum that is a complex number, with or without its brackets. */
export function numberEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== 40) return plainNumberEnd(text, at);
  const end = plainNumberEnd(text, at + 1);
  return end >= 0 && text.charCodeAt(end - 1) === 106 && text.charCodeAt(end) === 41 ? end + 1 : -1;
}

function plainNumberEnd(text: string, at: number): number {
  const end = unsignedNumberEnd(text, isSign(text.charCodeAt(at)) ? at + 1 : at);
  if (end < 0 || !isSign(text.charCodeAt(end))) return end;
  const sum = unsignedNumberEnd(text, end + 1);
  return sum >= 0 && text.charCodeAt(sum - 1) === 106 ? sum : end;
}

/** The parts of a string or bytes literal. */
export interface StringLiteral {
  readonly isBytes: boolean;
  readonly isRaw: boolean;
  /** Where the contents, between the quotes, begin and end. */
  readonly from: number;
  readonly to: number;
  readonly end: number;
  /** Whether Python would take it: no line ends or bad escapes inside, ASCII only in bytes. */
  readonly isSound: boolean;
}

const prefixes = new Set(['', 'r', 'u', 'b', 'br', 'rb']);

/** The string literal that begins at an offset; null where none does, `unclosed` where it has no end. */
export function stringLiteral(text: string, at: number): StringLiteral | 'unclosed' | null {
  let open = at;
  while (open < at + 2 && isNameStart(text.charCodeAt(open))) open++;
  const mark = text.charCodeAt(open);
  if (mark !== quote && mark !== doubleQuote) return null;
  const prefix = text.slice(at, open).toLowerCase();
  if (!prefixes.has(prefix)) return null;
  const isBytes = prefix.includes('b');
  const isRaw = prefix.includes('r');
  const isTriple = text.charCodeAt(open + 1) === mark && text.charCodeAt(open + 2) === mark;
  const from = open + (isTriple ? 3 : 1);
  let isSound = true;
  for (let to = from; to < text.length; to++) {
    const code = text.charCodeAt(to);
    if (code === backslash) {
      if (!isRaw && !isSoundEscape(text, to + 1, isBytes)) isSound = false;
      to++;
    } else if (code === mark) {
      if (!isTriple) return { isBytes, isRaw, from, to, end: to + 1, isSound };
      if (text.charCodeAt(to + 1) === mark && text.charCodeAt(to + 2) === mark) {
        return { isBytes, isRaw, from, to, end: to + 3, isSound };
      }
    } else if (code < 32) {
      if (code === 0 || (!isTriple && (code === 10 || code === 13))) isSound = false;
    } else if (code >= 0x80) {
      if (isBytes || isLoneSurrogate(text, to)) isSound = false;
      // The other half of a pair is not looked at again.
      else if (code >= 0xd800 && code < 0xdc00) to++;
    }
  }
  return 'unclosed';
}

function isLoneSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdfff) return false;
  const next = text.charCodeAt(at + 1);
  return !(code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff);
}

const hexDigits = { x: 2, u: 4, U: 8 } as const;

function isSoundEscape(text: string, at: number, isBytes: boolean): boolean {
  const letter = text.charAt(at);
  if (letter === 'x' || (!isBytes && (letter === 'u' || letter === 'U'))) {
    const digits = text.slice(at + 1, at + 1 + hexDigits[letter]);
    return (
      digits.length === hexDigits[letter] && /^[\da-f]+$/i.test(digits) && parseInt(digits, 16) <= 0x10ffff
    );
  }
  // Whether the name is one of Unicode's is for Python to say.
  if (!isBytes && letter === 'N') return /^\{[A-Za-z][\w -]{0,100}\}/.test(text.slice(at + 1, at + 104));
  return true;
}

const simpleEscapes = new Map([
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

const stringEscape = /\\(?:(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})|([0-7]{1,3})|([^]))/g;
const bytesEscape = /\\(?:(x[\da-fA-F]{2})|([0-7]{1,3})|([^]))/g;

/** A literal's contents with its escapes resolved; a bytes literal's bytes stand as the characters 0 to 255. */
export function decodeString(text: string, literal: StringLiteral): string {
  const contents = text.slice(literal.from, literal.to);
  if (literal.isRaw || !contents.includes('\\')) return contents;
  return contents.replace(
    literal.isBytes ? bytesEscape : stringEscape,
    (whole, hex: string | undefined, octal: string | undefined, other: string | undefined) => {
      if (other !== undefined) return simpleEscapes.get(other) ?? whole;
      const code = hex === undefined ? parseInt(octal ?? '', 8) : parseInt(hex.slice(1), 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/**
 * An opaque description, `<…>`, with what is nested in it. Brackets in quotes that begin like a value's and
 * the arrow of a signature do not count.
 */
export function opaqueEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== 60) return -1;
  /** A quote that has no partner after some place has none further on. */
  const unpaired = new Set<number>();
  let depth = 0;
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 60) depth++;
    else if (code === 62) {
      const isArrow = text.charCodeAt(end - 1) === 45 && text.charCodeAt(end + 1) === 32;
      if (!isArrow && --depth === 0) return end + 1;
    } else if ((code === quote || code === doubleQuote) && !unpaired.has(code)) {
      if (!' =([{,:<'.includes(text.charAt(end - 1))) continue;
      const literal = stringLiteral(text, end);
      if (literal === 'unclosed') unpaired.add(code);
      else if (literal) end = literal.end - 1;
    }
  }
  return -1;
}

/** The mark of what was left out: `...`, or `... +950 more`. */
export function cutEnd(text: string, at: number): number {
  if (!text.startsWith('...', at)) return -1;
  const end = at + 3;
  const count = /^ *\+\d{1,20} more(?!\w)/.exec(text.slice(end, end + 40));
  return count ? end + count[0].length : end;
}

/** How many things a cut leaves out; Infinity where it does not say. */
export function cutCount(text: string, start: number, end: number): number {
  const count = /\+(\d+) more$/.exec(text.slice(Math.max(start, end - 40), end));
  return count ? Number(count[1]) : Infinity;
}
