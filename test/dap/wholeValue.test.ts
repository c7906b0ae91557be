import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeValue } from '../../adapter/dap/wholeValue';
import { shownText } from '../../adapter/shownText';

/** What Python makes of literals, as code points. */
function meanings(literals: readonly string[]): unknown {
  const program =
    'import ast, json, sys\nprint(json.dumps([[ord(c) for c in ast.literal_eval(t)] for t in json.load(sys.stdin)]))';
  const { stdout, stderr } = spawnSync('python3', ['-c', program], { input: JSON.stringify(literals) });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

describe('a whole value', () => {
  it('holds no character that moves the cursor or turns the text, whatever a model wrote', () => {
    expect(wholeValue('<Cell \x1b[31mred\x1b[0m \u202egnp.exe>')).toMatchObject({
      value: '<Cell \\x1b[31mred\\x1b[0m \\u202egnp.exe>',
      isLiteral: false,
    });
    expect(wholeValue("['\x07', '\\\x9b', '\\\\\x9b']").value).toBe("['\\x07', '\\\\\\x9b', '\\\\\\x9b']");
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { value } = wholeValue(`'${text}'`);
        expect(shownText(value)).toBe(value);
      }),
    );
  });

  it('means the same as before, where it is a literal', () => {
    const raw = fc
      .array(
        fc.constantFrom('a', '\\', '\\\\', '\x01', '\x7f', '\x9b', '\u202e', '\ufeff', '\u2028', 'é', '\t'),
      )
      .map((parts) => `'${parts.join('')}'`);
    const literals = fc.sample(raw, { numRuns: 300, seed: 4 }).filter((text) => wholeValue(text).isLiteral);
    expect(literals.length).toBeGreaterThan(100);
    expect(meanings(literals.map((text) => wholeValue(text).value))).toEqual(meanings(literals));
  });
});
