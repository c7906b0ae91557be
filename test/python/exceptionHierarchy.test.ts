import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ExceptionHierarchy } from '../../adapter/python/exceptionHierarchy';
import { PythonSource } from '../../adapter/python/source';

it("knows the builtin exceptions as this computer's Python has them", async () => {
  const script = `
import builtins, json
print(json.dumps({name: sorted(c.__name__ for c in one.__mro__ if c is not object)
    for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)}))
`;
  const { stdout } = spawnSync('python3', ['-I', '-c', script], { encoding: 'utf8' });
  const real = JSON.parse(stdout) as Record<string, string[]>;
  const hierarchy = new ExceptionHierarchy(await PythonSource.parse('pass\n'));
  const aliases = new Set(['IOError', 'EnvironmentError']);
  const ours = Object.keys(real).map((name) => [
    name,
    [...hierarchy.withBases(name)].filter((base) => !aliases.has(base)).sort(),
  ]);
  expect(Object.keys(real).length).toBeGreaterThan(60);
  expect(Object.fromEntries(ours)).toEqual(real);
});

it('knows the classes of the program, whatever they are called', async () => {
  const source = [
    'import json',
    'class Base(LookupError):',
    '    class Inner(Exception): pass',
    'class Own(json.JSONDecodeError, Base, metaclass=M): pass',
    'class TimeoutError(Own): pass',
    'class Circle(Circle): pass',
    'class Generic(Group[int], OSError): pass',
  ].join('\n');
  const hierarchy = new ExceptionHierarchy(await PythonSource.parse(source));
  const names = (type: string) => [...hierarchy.withBases(type)].sort();
  expect(names('__main__.Own')).toEqual(
    ['Own', 'JSONDecodeError', 'Base', 'LookupError', 'Exception', 'BaseException'].sort(),
  );
  expect(names('TimeoutError')).toContain('Own');
  expect(names('TimeoutError')).not.toContain('OSError');
  expect(names('Inner')).toEqual(['BaseException', 'Exception', 'Inner']);
  expect(names('Circle')).toEqual(['Circle']);
  expect(names('Generic')).toEqual(
    ['BaseException', 'EnvironmentError', 'Exception', 'Generic', 'Group', 'IOError', 'OSError'].sort(),
  );
});
