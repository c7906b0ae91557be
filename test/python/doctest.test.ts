import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type DoctestResult, doctestInsertion } from '../../adapter/python/doctest';
import { PythonSource } from '../../adapter/python/source';

async function inserted(text: string, name: string, call: string, result: DoctestResult) {
  const source = await PythonSource.parse(text);
  const insertion = doctestInsertion(source, name, call, result);
  return insertion && text.slice(0, insertion.offset) + insertion.text + text.slice(insertion.offset);
}

/** What Python's doctest says of a module: failed and tried. */
function doctest(text: string): string {
  const code = `${text}\nimport doctest\nprint(tuple(doctest.testmod()))\n`;
  const { stdout, stderr } = spawnSync('python3', ['-c', code], { encoding: 'utf8' });
  return (stdout || stderr).trim().split('\n').at(-1) ?? '';
}

const plain = 'def f(x):\n    return x\n';
const oneLine = 'def f(x):\n    """Gives it back."""\n    return x\n';
const several = "def f(x):\n    '''Gives it back.\n\n    Always.\n    '''\n    return x\n";
const endsInText = 'def f(x):\n    """Gives it back.\n\n    Always."""\n    return x\n';
const decorated = 'def d(g):\n    return g\n\n\n@d\ndef f(x):\n    return x\n';
const tabs = 'def f(x):\n\treturn x\n';
const raw = 'def f(x):\n    r"""Gives it back."""\n    return x\n';
const hasOne = 'def f(x):\n    """Gives it back.\n\n    >>> f(1)\n    1\n    """\n    return x\n';

/** Values as they are written in a call, and their reprs. */
const values = [
  ['[1, 2]', '[1, 2]'],
  ["'a\\nb'", "'a\\nb'"],
  ["'it\\'s'", '"it\'s"'],
  ['None', 'None'],
] as const;

describe('a doctest', () => {
  it.each([
    ['without a docstring', plain],
    ['with a docstring of one line', oneLine],
    ['with one of several lines', several],
    ['whose docstring ends in text', endsInText],
    ['with a decorator', decorated],
    ['indented by tabs', tabs],
    ['with a raw docstring', raw],
  ])('of a function %s is one that passes', async (_, text) => {
    let whole = text;
    for (const [value, repr] of values) {
      whole = (await inserted(whole, 'f', `f(${value})`, { kind: 'returns', repr })) ?? '';
    }
    expect(doctest(whole), whole).toBe(`(0, ${values.length})`);
  });

  it('comes after those that are there', async () => {
    const result = await inserted(hasOne, 'f', 'f(2)', { kind: 'returns', repr: '2' });
    expect(doctest(result ?? '')).toBe('(0, 2)');
  });

  it('tells of an exception', async () => {
    const text = "def f(x):\n    raise ValueError('no: %s' % x)\n";
    const result = await inserted(text, 'f', 'f(1)', { kind: 'raises', exception: "ValueError('no: 1')" });
    expect(result).toContain('    ValueError: no: 1\n');
    expect(doctest(result ?? '')).toBe('(0, 1)');
  });

  it('fails where the result is another', async () => {
    const result = await inserted(plain, 'f', 'f(1)', { kind: 'returns', repr: '2' });
    expect(doctest(result ?? '')).toBe('(1, 1)');
  });

  it.each([
    ['a body on the line of the def', 'def f(x): return x\n'],
    ['a docstring in single quotes', 'def f(x):\n    "Gives it back."\n    return x\n'],
    ['a function that is not there', 'def g(x):\n    return x\n'],
  ])('has no place for %s', async (_, text) => {
    expect(await inserted(text, 'f', 'f(1)', { kind: 'returns', repr: '1' })).toBeNull();
  });

  it('has no place for a text that would end the docstring', async () => {
    expect(await inserted(oneLine, 'f', `f('"""')`, { kind: 'returns', repr: `'"""'` })).toBeNull();
  });
});
