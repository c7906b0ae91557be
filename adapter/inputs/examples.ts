import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decodeSource } from '../python/encoding';

/** How many test files are read at most, and how long each may be, in bytes. */
const limits = { files: 20, bytes: 300_000 } as const;

const testName = /^(test_.*|.*_test|conftest)\.py$/;

/**
 * The sources of the tests beside a Python file that name a function: in its folder, in `tests` and `test` there,
 * and in those of the folder above. What cannot be read is left out.
 */
export async function examplesBeside(path: string, functionName: string): Promise<readonly string[]> {
  const folder = dirname(path);
  const above = dirname(folder);
  const folders = [
    folder,
    join(folder, 'tests'),
    join(folder, 'test'),
    join(above, 'tests'),
    join(above, 'test'),
  ];
  const sources: string[] = [];
  let read = 0;
  for (const place of folders) {
    const names = await readdir(place).catch(() => []);
    for (const name of names.filter((one) => testName.test(one)).sort()) {
      if (read++ >= limits.files) return sources;
      const source = await readSource(join(place, name));
      if (source?.includes(functionName)) sources.push(source);
    }
  }
  return sources;
}

async function readSource(path: string): Promise<string | null> {
  try {
    const about = await stat(path);
    if (!about.isFile() || about.size > limits.bytes) return null;
    return decodeSource(await readFile(path)).text;
  } catch {
    return null;
  }
}
