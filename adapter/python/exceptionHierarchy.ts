import type { PythonSource } from './source';

/** The builtin exceptions that derive from each, as in CPython's documentation ("Exception hierarchy"), up to 3.14. */
const builtinChildren: Readonly<Record<string, string>> = {
  BaseException: 'BaseExceptionGroup Exception GeneratorExit KeyboardInterrupt SystemExit',
  BaseExceptionGroup: 'ExceptionGroup',
  Exception:
    'ArithmeticError AssertionError AttributeError BufferError EOFError ExceptionGroup ImportError LookupError ' +
    'MemoryError NameError OSError ReferenceError RuntimeError StopAsyncIteration StopIteration SyntaxError ' +
    'SystemError TypeError ValueError Warning',
  ArithmeticError: 'FloatingPointError OverflowError ZeroDivisionError',
  ConnectionError: 'BrokenPipeError ConnectionAbortedError ConnectionRefusedError ConnectionResetError',
  ImportError: 'ModuleNotFoundError',
  IndentationError: 'TabError',
  LookupError: 'IndexError KeyError',
  NameError: 'UnboundLocalError',
  OSError:
    'BlockingIOError ChildProcessError ConnectionError FileExistsError FileNotFoundError InterruptedError ' +
    'IsADirectoryError NotADirectoryError PermissionError ProcessLookupError TimeoutError',
  RuntimeError: 'NotImplementedError PythonFinalizationError RecursionError',
  SyntaxError: 'IndentationError',
  UnicodeError: 'UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError',
  ValueError: 'UnicodeError',
  Warning:
    'BytesWarning DeprecationWarning EncodingWarning FutureWarning ImportWarning PendingDeprecationWarning ' +
    'ResourceWarning RuntimeWarning SyntaxWarning UnicodeWarning UserWarning',
};

/** Other names of builtin exceptions. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['EnvironmentError', 'OSError'],
  ['IOError', 'OSError'],
]);

/** The bases of each builtin exception. */
const builtinBases: ReadonlyMap<string, readonly string[]> = (() => {
  const bases = new Map<string, string[]>([['BaseException', []]]);
  for (const [base, children] of Object.entries(builtinChildren)) {
    for (const child of children.split(' ')) bases.set(child, [...(bases.get(child) ?? []), base]);
  }
  return bases;
})();

/** What can be raised, and is of another file, is an ordinary exception as a rule. */
const unknownBases: readonly string[] = ['Exception'];

/** What exception classes derive from: the builtin ones, and those of a program as its source defines them. */
export class ExceptionHierarchy {
  readonly #own = new Map<string, readonly string[]>();

  constructor(source: PythonSource) {
    const word = ({ start, end }: { readonly start: number; readonly end: number }) =>
      source.text.slice(start, end);
    const pending = [source.tree.root];
    for (let node = pending.pop(); node; node = pending.pop()) {
      pending.push(...node.children);
      const name = node.type === 'class_definition' ? node.child('name') : null;
      if (!name) continue;
      const bases = (node.child('superclasses')?.parts ?? [])
        .filter(({ type }) => type !== 'keyword_argument')
        .map((base) => lastName(word(base)));
      // Of several classes of one name any may be meant.
      this.#own.set(word(name), [...(this.#own.get(word(name)) ?? []), ...bases]);
    }
  }

  /**
   * The names of a class and of all that it derives from, as far as that is known.
   *
   * @param type the class's name, with or without its module
   */
  withBases(type: string): ReadonlySet<string> {
    const found = new Set<string>();
    const pending = [lastName(type)];
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      const known = aliases.get(name) ?? name;
      if (found.has(known)) continue;
      found.add(known);
      pending.push(...(this.#own.get(known) ?? builtinBases.get(known) ?? unknownBases));
    }
    for (const [alias, name] of aliases) if (found.has(name)) found.add(alias);
    return found;
  }
}

/** `Error` of `package.module.Error` and of `Error[T]`. */
function lastName(text: string): string {
  return text.replace(/\[.*$/s, '').replace(/^.*\./s, '').trim();
}
