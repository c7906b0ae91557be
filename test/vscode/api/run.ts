import { writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { activation } from './activation';
import { commands } from './commands';
import { files } from './files';
import { leaveNothing } from './debugging';
import { launchAttributes } from './launchJson';
import { noFolder } from './noFolder';
import { otherDebugger } from './otherDebugger';
import { sideBySide } from './sideBySide';
import { sessions } from './sessions';
import { traces } from './traces';
import { whileDebugging } from './whileDebugging';

/** Tests that share a window, by their names. */
export interface Group {
  readonly name: string;
  readonly tests: Readonly<Record<string, () => Promise<void>>>;
}

/** Milliseconds after which a test counts as hanging. */
const limit = 60_000;

const resultsVariable = 'NEURAL_DEBUG_TEST_RESULTS';
const onlyVariable = 'NEURAL_DEBUG_TEST_ONLY';

/**
 * Runs the tests of this window, as VS Code calls it (`extensionTestsPath`). The results go into a file: VS Code's
 * exit code alone says 0 where the extension host was killed.
 *
 * @throws Error where a test failed
 */
export async function run(): Promise<void> {
  const groups = vscode.workspace.workspaceFolders
    ? [
        activation,
        commands,
        sessions,
        sideBySide,
        otherDebugger,
        whileDebugging,
        files,
        launchAttributes,
        traces,
      ]
    : [noFolder];
  const results: object[] = [];
  let failures = 0;
  // After each test, so that a test which hangs the extension host is known by what follows it.
  const file = process.env[resultsVariable];
  const write = (isDone: boolean) => {
    if (file) writeFileSync(file, JSON.stringify({ isDone, results }));
  };
  for (const { name: group, tests } of groups) {
    for (const [name, test] of Object.entries(tests)) {
      const title = `${group}: ${name}`;
      if (!title.includes(process.env[onlyVariable] ?? '')) continue;
      const begin = Date.now();
      const problem = await within(limit, test().finally(leaveNothing)).then(
        () => null,
        (thrown: unknown) => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
      );
      if (problem !== null) failures++;
      results.push({ title, problem, milliseconds: Date.now() - begin });
      write(false);
    }
  }
  write(true);
  if (failures > 0) throw new Error(`${failures} tests failed.`);
}

/** @throws Error where the work takes longer */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | null = null;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Not done after ${milliseconds} ms.`));
    }, milliseconds);
  });
  return Promise.race([work, late]).finally(() => {
    if (timer) clearTimeout(timer);
  });
}
