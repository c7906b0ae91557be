import { describe, expect, it } from 'vitest';
import { exampleCalls } from '../../adapter/python/exampleCalls';
import { findFunction, functionsOf, nestedFunctionsOf } from '../../adapter/python/functions';
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

describe('exampleCalls of methods', () => {
  const shop = `
class Cart:
    def __init__(self, name='x'): self.name = name
    def add(self, n): return n
    @property
    def total(self): return 0

def test_cart():
    cart = other.Cart('a')
    cart.add(2)
    cart = Cart()
    cart.add(3); print(cart.total)
    cart = make()
    cart.add(4)

def test_other(cart):
    cart.add(5)

Cart('z').total
cart = Cart(name)
cart.add(6)
`;

  it('take the object as its name was given it last, where that was made of literals', async () => {
    expect(await examples(shop, 'Cart.add')).toEqual(["10 call: Cart('a').add(2)", '12 call: Cart().add(3)']);
  });

  it('take reads of properties', async () => {
    expect(await examples(shop, 'Cart.total')).toEqual(['12 call: Cart().total', "19 call: Cart('z').total"]);
  });
});

describe('functionsOf', () => {
  it('lists what a call can name, with its parameters', async () => {
    const source = await PythonSource.parse(`
def f(a, /, b: int, *args: int, c=1, **kw):
    def inner(): pass
async def later(): pass
async def many(): yield 1
def each(n):
    yield from range(n)
class C:
    def m(self, x=1): pass
    @classmethod
    def made(cls): pass
    @property
    def p(self): pass
    @p.setter
    def p(self, value): pass
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
      '4 function later() none',
      '6 function each(n)',
      '9 method C.m(x=1) none',
      '11 class C.made() none',
      '13 property C.p() none',
      '17 method C.D.deep() none',
      '19 function g(k)',
    ]);
  });

  it('tells what it takes until the body runs, and what is within functions', async () => {
    const source = await PythonSource.parse(`
def f():
    def inner():
        yield 1
    return [lambda: (yield 2) for _ in inner()]
def g():
    yield 1
async def h():
    async def deep(): pass
    await deep()
`);
    expect(functionsOf(source).map(({ name, runs }) => `${name} ${runs}`)).toEqual([
      'f called',
      'g iterated',
      'h awaited',
    ]);
    expect(
      nestedFunctionsOf(source).map(({ name, line, within }) => `${line} ${name} ${within.name}`),
    ).toEqual(['3 inner f', '9 deep h']);
  });

  it('takes the last definition of a name', async () => {
    const source = await PythonSource.parse('def f(a): pass\ndef f(b): pass\n');
    expect(findFunction(source, 'f')?.line).toBe(2);
  });
});
