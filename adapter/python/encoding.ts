import { TextDecoder } from 'node:util';
import { errors } from '../errors';

/** A source text as Python reads it. */
export interface DecodedSource {
  /** The text, without a byte order mark; line ends as in the file. */
  readonly text: string;
  /** The encoding's name as Python normalises it: `utf-8`, `iso-8859-1`, or as the coding cookie writes it. */
  readonly encoding: string;
}

/** The coding cookie of PEP 263. */
const COOKIE = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
/** A line after which a cookie on the second line still counts. */
const BLANK_OR_COMMENT = /^[ \t\f]*(?:#.*)?$/;

/**
 * Encodings that Python names otherwise than the WHATWG registry does, or that the registry reads as another:
 * there `iso-8859-1` and `ascii` mean windows-1252.
 */
const LABELS: ReadonlyMap<string, string> = new Map([
  ['utf8', 'utf-8'],
  ['u8', 'utf-8'],
  ['utf', 'utf-8'],
  ['cp65001', 'utf-8'],
  ['us-ascii', 'ascii'],
  ['646', 'ascii'],
  ['latin', 'iso-8859-1'],
  ['latin1', 'iso-8859-1'],
  ['latin-1', 'iso-8859-1'],
  ['l1', 'iso-8859-1'],
  ['iso8859-1', 'iso-8859-1'],
  ['8859', 'iso-8859-1'],
  ['cp819', 'iso-8859-1'],
  ['latin-9', 'iso-8859-15'],
  ['iso8859-15', 'iso-8859-15'],
  ['sjis', 'shift_jis'],
  ['shift-jis', 'shift_jis'],
  ['cp932', 'shift_jis'],
  ['ms932', 'shift_jis'],
  ['eucjp', 'euc-jp'],
  ['euckr', 'euc-kr'],
  ['cp949', 'euc-kr'],
  ['cp936', 'gbk'],
  ['gb2312', 'gbk'],
  ['cp950', 'big5'],
  ['mac-roman', 'macintosh'],
  ['macroman', 'macintosh'],
]);

/**
 * Decodes a source file as Python does (PEP 263): UTF-8, unless a comment in the first two lines names another
 * encoding.
 *
 * @throws CatalogueError 201 for an unknown encoding, 202 for bytes that the encoding does not have, 203 for a
 *   byte order mark with a cookie that contradicts it; each names the line
 */
export function decodeSource(bytes: Uint8Array): DecodedSource {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const content = marked ? bytes.subarray(3) : bytes;
  const cookie = findCookie(content);
  const encoding = cookie === null ? 'utf-8' : normalise(cookie.name);
  if (marked && cookie !== null && encoding !== 'utf-8') {
    throw errors.contradictingEncoding(cookie.line, cookie.name);
  }
  return { text: decode(content, encoding, cookie), encoding };
}

/**
 * The lines of a source as CPython counts them, without their ends: only `\n`, `\r\n` and `\r` end a line. An
 * end of line at the end of the text does not begin another line.
 */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

interface Cookie {
  readonly name: string;
  readonly line: number;
}

function findCookie(bytes: Uint8Array): Cookie | null {
  // Latin-1 maps every byte to one character, so that the cookie can be read before the encoding is known.
  const head = Buffer.from(bytes.subarray(0, 4096))
    .toString('latin1')
    .split(/\r\n|\r|\n/, 2);
  for (const [index, line] of head.entries()) {
    const name = COOKIE.exec(line)?.[1];
    if (name !== undefined) return { name, line: index + 1 };
    if (!BLANK_OR_COMMENT.test(line)) return null;
  }
  return null;
}

function normalise(name: string): string {
  const plain = name.toLowerCase().replaceAll('_', '-');
  if (plain.startsWith('utf-8-') || plain === 'utf-8') return 'utf-8';
  if (/^(latin-1|iso-8859-1|iso-latin-1)(-|$)/.test(plain)) return 'iso-8859-1';
  return LABELS.get(plain) ?? plain;
}

function decode(bytes: Uint8Array, encoding: string, cookie: Cookie | null): string {
  if (encoding === 'iso-8859-1') return Buffer.from(bytes).toString('latin1');
  if (encoding === 'ascii') {
    const bad = bytes.findIndex((byte) => byte > 0x7f);
    if (bad >= 0) throw errors.undecodable(lineOfByte(bytes, bad), 'ascii');
    return Buffer.from(bytes).toString('latin1');
  }
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding.replace(/^cp(125\d)$/, 'windows-$1').replace(/^cp866$/, 'ibm866'), {
      fatal: true,
      ignoreBOM: true,
    });
  } catch (cause) {
    throw errors.unknownEncoding(cookie?.line ?? 1, cookie?.name ?? encoding, { cause });
  }
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw errors.undecodable(firstUndecodableLine(bytes, decoder), encoding, { cause });
  }
}

/** Every encoding that a source may have keeps line ends as single bytes, so a line can be decoded by itself. */
function firstUndecodableLine(bytes: Uint8Array, decoder: TextDecoder): number {
  let line = 1;
  let start = 0;
  for (let index = 0; index <= bytes.length; index++) {
    const byte = bytes[index];
    const ends = byte === 0x0a || (byte === 0x0d && bytes[index + 1] !== 0x0a) || byte === undefined;
    if (!ends) continue;
    try {
      decoder.decode(bytes.subarray(start, index));
    } catch {
      return line;
    }
    start = index + 1;
    line++;
  }
  return line;
}

function lineOfByte(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let index = 0; index < offset; index++) {
    if (bytes[index] === 0x0a || (bytes[index] === 0x0d && bytes[index + 1] !== 0x0a)) line++;
  }
  return line;
}
