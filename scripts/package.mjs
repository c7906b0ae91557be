// Builds the bundles and packs them into neural-debug.vsix.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
  writeFileSync(join(root, readme), readmeOfPackage());
  // The bundles hold the dependencies; the project has no public repository to link to.
  const options = [
    '--readme-path',
    readme,
    '--no-dependencies',
    '--allow-missing-repository',
    '--no-rewrite-relative-links',
    '--out',
    vsix,
  ];
  run(process.execPath, [join(tool, 'node_modules/@vscode/vsce/vsce'), 'package', ...options], root);
}

/** The page of the extension in VS Code, which shows no file of a relative link, and no picture but from https. */
const readme = 'dist/readme.md';

/** The README without its pictures, and with the names of what it links to. */
function readmeOfPackage() {
  return readFileSync(join(root, 'README.md'), 'utf8')
    .replaceAll(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n/gm, '')
    .replaceAll(/\[([^\]]*)\]\((?!https:)[^)]*\)/g, '$1');
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: command === 'npm' });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) makePackage();
