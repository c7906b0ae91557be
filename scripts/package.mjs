// Builds the bundles and packs them into neural-debug.vsix.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The packing tool has a folder of its own: the project itself does not need its 125 MB. */
const tool = join(root, 'scripts/vsce');

/** The path of the package that `npm run package` makes. */
export const vsix = join(root, 'neural-debug.vsix');

export function makePackage() {
  if (!existsSync(join(tool, 'node_modules/.bin/vsce'))) {
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], tool);
  }
  run(process.execPath, ['esbuild.mjs'], root);
  // The bundles hold the dependencies; the project has no public repository to link to.
  const options = [
    '--no-dependencies',
    '--allow-missing-repository',
    '--no-rewrite-relative-links',
    '--out',
    vsix,
  ];
  run(process.execPath, [join(tool, 'node_modules/@vscode/vsce/vsce'), 'package', ...options], root);
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: command === 'npm' });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) makePackage();
