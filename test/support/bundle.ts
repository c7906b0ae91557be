import { execFileSync } from 'node:child_process';

/** Makes the bundle that the tests of the command line start. */
export default function setup(): void {
  execFileSync(process.execPath, ['esbuild.mjs'], {
    cwd: new URL('../..', import.meta.url),
    stdio: 'inherit',
  });
}
