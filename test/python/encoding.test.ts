import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSource, splitLines } from '../../adapter/python/encoding';
import { CatalogueError } from '../../adapter/errors';

const bytes = (text: string, encoding: BufferEncoding = 'utf8') =>
  new Uint8Array(Buffer.from(text, encoding));

function failure(source: Uint8Array): CatalogueError {
  try {
    decodeSource(source);
  } catch (error) {
    if (error instanceof CatalogueError) return error;
  }
  throw new Error('the source was decoded');
}

describe('decodeSource', () => {
  it('reads UTF-8, with and without a byte order mark', () => {
    expect(decodeSource(bytes('x = "é😀"\n'))).toEqual({ text: 'x = "é😀"\n', encoding: 'utf-8' });
    expect(decodeSource(bytes('\ufeffx = 1\r\n'))).toEqual({ text: 'x = 1\r\n', encoding: 'utf-8' });
    expect(decodeSource(new Uint8Array())).toEqual({ text: '', encoding: 'utf-8' });
  });

  it('removes one byte order mark only', () => {
    expect(decodeSource(bytes('\ufeff\ufeffx')).text).toBe('\ufeffx');
  });

  it.each([
    ['# -*- coding: latin-1 -*-\nx = "é"\n', 'latin1', 'iso-8859-1'],
    ['#!/usr/bin/python\n# vim: set fileencoding=iso-8859-1 :\nx = "é"\n', 'latin1', 'iso-8859-1'],
    ['\r\n# coding=L1\r\nx = "é"\r\n', 'latin1', 'iso-8859-1'],
    ['# coding: utf_8\nx = "é"\n', 'utf8', 'utf-8'],
    ['# coding: ascii\nx = 1\n', 'utf8', 'ascii'],
  ] as const)('obeys the cookie of %j', (text, encoding, name) => {
    expect(decodeSource(bytes(text, encoding))).toEqual({ text, encoding: name });
  });

  it('knows that latin-1 has all bytes, unlike windows-1252', () => {
    const source = Buffer.concat([Buffer.from('# coding: latin-1\n'), Buffer.from([0x80, 0x9f])]);
    expect(decodeSource(source).text.endsWith('\u0080\u009f')).toBe(true);
  });

  it('decodes other encodings by their names', () => {
    const source = Buffer.concat([
      Buffer.from('# coding: cp1251\nx = "'),
      Buffer.from([0xcf, 0xf0]),
      Buffer.from('"\n'),
    ]);
    expect(decodeSource(source).text).toContain('"Пр"');
  });

  it('takes no cookie from a later line, nor after code', () => {
    expect(decodeSource(bytes('\n\n# coding: klingon\n')).encoding).toBe('utf-8');
    expect(decodeSource(bytes('x = 1\n# coding: klingon\n')).encoding).toBe('utf-8');
    expect(decodeSource(bytes('x = "# coding: klingon"\n')).encoding).toBe('utf-8');
  });

  it('says which encoding it does not know, and where it is named', () => {
    const error = failure(bytes('#!python\n# coding: klingon\n'));
    expect(error).toMatchObject({ code: 201, blame: 'user' });
    expect(error.message).toContain('"klingon" on line 2');
  });

  it.each([
    [Buffer.from([0x78, 0x0a, 0x0a, 0xff, 0x0a]), 3],
    [Buffer.from([0x78, 0x0d, 0x0a, 0xc3, 0x0d, 0x0a]), 2],
    [Buffer.from([0x78, 0x0d, 0x0d, 0xc3]), 3],
    [Buffer.from('# coding: ascii\n\nx = "é"\n'), 3],
  ])('says on which line bytes cannot be decoded (%#)', (source, line) => {
    const error = failure(source);
    expect(error.code).toBe(202);
    expect(error.message).toContain(`line ${line} `);
  });

  it('refuses a byte order mark with another encoding', () => {
    expect(failure(bytes('\ufeff# coding: latin-1\n')).code).toBe(203);
    expect(decodeSource(bytes('\ufeff# coding: utf-8\n')).encoding).toBe('utf-8');
  });

  it('gives back any UTF-8 text that names no encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!/coding|^\ufeff/.test(text) && !/\p{Surrogate}/u.test(text));
        expect(decodeSource(bytes(text)).text).toBe(text);
      }),
    );
  });
});

describe('splitLines', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\n', ['a', '']],
    ['a\r\nb\rc\n\rd', ['a', 'b', 'c', '', 'd']],
    ['\n', ['']],
    ['a\x0cb\x0bc\x1cd\u2028e\u0085f\n', ['a\x0cb\x0bc\x1cd\u2028e\u0085f']],
  ])('splits %j as CPython does', (text, lines) => {
    expect(splitLines(text)).toEqual(lines);
  });

  it('loses nothing but line ends', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '\n', '\r', '\x0c', '\u2028')), (parts) => {
        const text = parts.join('');
        expect(splitLines(text).join('')).toBe(text.replace(/[\r\n]/g, ''));
      }),
    );
  });
});
