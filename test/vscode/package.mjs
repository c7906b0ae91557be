// Builds the bundles and packs them into neural-debug.vsix.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root, setup, vsce } from './setup.mjs';

/** The path of the package that `npm run package` makes. */
export const vsix = join(root, 'neural-debug.vsix');

export function makePackage() {
  setup();
  run(process.execPath, ['esbuild.mjs']);
  // The bundles hold the dependencies; the project has no public repository to link to.
  run(vsce, [
    'package',
    '--no-dependencies',
    '--allow-missing-repository',
    '--no-rewrite-relative-links',
    '--out',
    vsix,
  ]);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed.`);
}

if (process.argv[1] === import.meta.filename) makePackage();
