import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortText, shownName, shownText } from '../adapter/shownText';

describe('text that is shown', () => {
  it.each([
    ['plain é 😀\tand\nlines', 'plain é 😀\tand\nlines'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
    ['\ud83d alone', '\\ud83d alone'],
    ['null\0, delete\u007f, next line\u0085', 'null\\x00, delete\\x7f, next line\\x85'],
    ['a\rb\u2028c\ufeff', 'a\\x0db\\u2028c\\ufeff'],
  ])('of %j is %j', (given, shown) => {
    expect(shownText(given)).toBe(shown);
  });

  it('has nothing in it that a terminal obeys or that hides what follows, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(shownText(text)).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
      }),
    );
  });

  it('is cut where there is little room', () => {
    expect(shortText('abcdef', 3)).toBe('abc…');
  });

  it('keeps a name within its sentence', () => {
    expect(shownName('x.py\n\nNothing is sent.\t\u202e')).toBe('x.py Nothing is sent. \\u202e');
    expect(shownName('n'.repeat(200))).toHaveLength(101);
  });
});
