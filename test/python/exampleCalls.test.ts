import { describe, expect, it } from 'vitest';
import { exampleCalls } from '../../adapter/python/exampleCalls';
import { findFunction, functionsOf } from '../../adapter/python/functions';
import { PythonSource } from '../../adapter/python/source';

async function examples(text: string, name: string, test: string | null = null): Promise<string[]> {
  const source = await PythonSource.parse(text);
  const definition = findFunction(source, name);
  if (!definition) throw new Error(`There is no ${name}.`);
  const of = test === null ? source : await PythonSource.parse(test);
  return (await exampleCalls(of, definition)).map(({ call, origin, line }) => `${line} ${origin}: ${call}`);
}

const gcd = `"""Numbers.

>>> gcd(1, 2)
1
"""
def gcd(a, b=1, *rest, key: int = 3):
    """The greatest common divisor.

    >>> gcd(12,
    ...     18)
    6
    >>> print(gcd(a, 3))
    """
    return gcd(b, a) if b else a

print(gcd(4, 10), gcd(-1, key=0x10))
x.gcd(5, 5)
gcd(
    [1, 2],  # numbers
    {"a": (None, True)},
)
gcd(f"{x}", 1); gcd(open("f"), 1); gcd("a" "b"); gcd(*[1])
`;

describe('exampleCalls', () => {
  it('finds literal calls in doctests and in the code', async () => {
    expect(await examples(gcd, 'gcd')).toEqual([
      '9 doctest: gcd(12, 18)',
      '3 doctest: gcd(1, 2)',
      '16 call: gcd(4, 10)',
      '16 call: gcd(-1, key=0x10)',
      '17 call: gcd(5, 5)',
      '18 call: gcd([1, 2], {"a": (None, True)})',
      '22 call: gcd("a" "b")',
    ]);
  });

  it('finds the calls of tests, and the rows of parametrize', async () => {
    const test = `
import pytest, numbers_
from numbers_ import gcd

def test_one():
    assert numbers_.gcd(12, 18) == 6
    assert self.helper().gcd(1, 1)

@pytest.mark.parametrize("a, b, expected", [(1, 2, 1), [6, 4, 2], (x, 1, 1)])
@pytest.mark.parametrize("key", ["k"])
def test_rows(a, b, expected, key):
    assert gcd(a, b=b) == expected
`;
    expect(await examples(gcd, 'gcd', test)).toEqual([
      '6 call: gcd(12, 18)',
      '12 parameters: gcd(1, b=2)',
      '12 parameters: gcd(6, b=4)',
    ]);
  });

  it('calls methods on objects that literals make', async () => {
    const text = `class Account:
    def change(self, amount):
        """>>> Account('Ada', 1).change(5)"""
    @staticmethod
    def parse(text): pass

Account("Bob", 2).change(-3)
ada.change(3)
change(4)
bank.Account.parse("x")
`;
    expect(await examples(text, 'Account.change')).toEqual([
      "3 doctest: Account('Ada', 1).change(5)",
      '7 call: Account("Bob", 2).change(-3)',
    ]);
    expect(await examples(text, 'Account.parse')).toEqual(['10 call: Account.parse("x")']);
  });

  it('says each call once, and not more than can be listed', async () => {
    const calls = Array.from({ length: 200 }, (_, index) => `f(${index % 100})\n`).join('');
    expect(await examples(`def f(n): pass\n${calls}`, 'f')).toHaveLength(50);
    expect(await examples(`def f(n): pass\nf("${'x'.repeat(1000)}")`, 'f')).toEqual([]);
  });
});

describe('functionsOf', () => {
  it('lists what a call can name, with its parameters', async () => {
    const source = await PythonSource.parse(`
def f(a, /, b: int, *args: int, c=1, **kw):
    def inner(): pass
async def later(): pass
class C:
    def m(self, x=1): pass
    @classmethod
    def made(cls): pass
    @property
    def p(self): pass
    class D:
        def deep(self): pass
if True:
    def g(*, k): pass
`);
    expect(
      functionsOf(source).map(
        ({ qualifiedName, kind, line, parameters, needsNoArguments }) =>
          `${line} ${kind} ${qualifiedName}(${parameters.join(', ')})${needsNoArguments ? ' none' : ''}`,
      ),
    ).toEqual([
      '2 function f(a, b: int, *args: int, c=1, **kw)',
      '6 method C.m(x=1) none',
      '8 class C.made() none',
      '12 method C.D.deep() none',
      '14 function g(k)',
    ]);
  });

  it('takes the last definition of a name', async () => {
    const source = await PythonSource.parse('def f(a): pass\ndef f(b): pass\n');
    expect(findFunction(source, 'f')?.line).toBe(2);
  });
});
