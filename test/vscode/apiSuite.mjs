// The suite of tests that use VS Code's API (test/vscode/api), for whatever VS Code it runs in. Needs no packages but
// the project's own.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The bundled suite: a module with `run`. */
export const suite = join(root, 'test-results/apiTests.cjs');

/** Another debugger for Python, which the suite needs. */
export const otherDebugger = join(root, 'test/vscode/api/otherDebugger');

/** Bundles a module of test/vscode/api that has `run`. */
export async function bundleSuite(module = 'run.ts', outfile = suite) {
  await build({
    entryPoints: [join(root, 'test/vscode/api', module)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['vscode'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

/** What the suite needs to know, for the environment of the extension host. */
export function suiteEnvironment(results, only = '') {
  return { NEURAL_DEBUG_TEST_RESULTS: results, NEURAL_DEBUG_TEST_ONLY: only };
}

/**
 * The results of a window: `{ title, problem, milliseconds }` of each test. A window whose tests did not end, or that
 * ended badly though all tests passed, counts as a failed test.
 *
 * @param file where the suite left them
 * @param window what the window is, such as "no folder"
 * @param code what VS Code ended with
 * @param log what it said
 */
export function resultsOf(file, window, code, log) {
  const { isDone, results } = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { isDone: false, results: [] };
  const passed = results.every(({ problem }) => problem === null);
  if (isDone && (code === 0 || !passed)) return results;
  const problem = `After the tests above it ended with ${code}:\n${log.slice(-3000)}`;
  return [...results, { title: `in a window with ${window}`, problem, milliseconds: 0 }];
}

/** Prints results, and says how many passed and failed. */
export function printResults(results) {
  const count = { passed: 0, failed: 0 };
  for (const { title, problem, milliseconds } of results) {
    if (problem === null) {
      count.passed++;
      console.log(`✓ api, ${title} (${milliseconds} ms)`);
    } else {
      count.failed++;
      console.log(`✗ api, ${title}\n  ${problem.replaceAll('\n', '\n  ')}`);
    }
  }
  return count;
}
