// Bundles the adapter's command line and the extension into dist/, with the files that they load at run time.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { basename } from 'node:path';

/** Files that are read at run time, found beside the bundle by adapter/resources.ts. */
const resources = [
  'adapter/python/tracer.py',
  'adapter/python/expressions.py',
  'adapter/python/inputSearch.py',
  'adapter/sandbox/pyodideHost.mjs',
  'node_modules/web-tree-sitter/web-tree-sitter.wasm',
  'node_modules/tree-sitter-python/tree-sitter-python.wasm',
];

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  outdir: 'dist',
  sourcemap: true,
  // CommonJS has no import.meta: the bundle's own URL stands in for it.
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'warning',
};

/** Pyodide, which wants its files in one folder. */
const pyodideFiles = [
  'package.json',
  'pyodide.mjs',
  'pyodide.asm.mjs',
  'pyodide.asm.wasm',
  'pyodide-lock.json',
  'python_stdlib.zip',
];

/** An installation without Pyodide still debugs with the python3 that there is; it says so where it matters. */
async function copyPyodide(file) {
  const source = `node_modules/pyodide/${file}`;
  if (existsSync(source)) await copyFile(source, `dist/pyodide/${file}`);
  else console.warn(`${source} is missing (npm ci): the build has no sandbox.`);
}

/**
 * What is in a file of its own, by the file's name: the editor waits for `extension.cjs` when it shows the first
 * Python file, and reads it whole.
 */
const apart = {
  wiring: { imported: './wiring', from: 'src/wiring.ts' },
  languageClient: { imported: 'vscode-languageclient/node', from: 'vscode-languageclient/node' },
};
const nameOf = (path) => Object.keys(apart).find((name) => apart[name].imported === path);
const separation = {
  name: 'separation',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === 'dynamic-import' && nameOf(path) ? { path, namespace: 'apart' } : null,
    );
    bundler.onResolve({ filter: /./, namespace: 'apart' }, ({ path }) => ({ path, external: true }));
    bundler.onLoad({ filter: /./, namespace: 'apart' }, ({ path }) => ({
      contents: `module.exports = require('./${nameOf(path)}.cjs');`,
    }));
  },
};

/** Of zod's messages only the English ones, which it loads by itself: those of all languages are half of it. */
const englishOnly = {
  name: 'english only',
  setup(bundler) {
    bundler.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

const extension = {
  ...shared,
  external: ['vscode'],
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [separation, englishOnly],
};

await mkdir('dist/pyodide', { recursive: true });
await Promise.all([
  build({ ...shared, entryPoints: { cli: 'adapter/cli/main.ts' }, plugins: [englishOnly] }),
  build({ ...extension, entryPoints: { extension: 'src/extension.ts' } }),
  ...Object.entries(apart).map(([name, { from }]) => build({ ...extension, entryPoints: { [name]: from } })),
  ...resources.map((file) => copyFile(file, `dist/${basename(file)}`)),
  ...pyodideFiles.map(copyPyodide),
]);
await chmod('dist/cli.cjs', 0o755);
makeSnapshot('dist/pyodide/snapshot.bin', 'node_modules/pyodide/pyodide.asm.wasm');

/** Pyodide's memory after its start, from which the sandbox starts; made anew when Pyodide is newer. */
function makeSnapshot(snapshot, pyodide) {
  if (!existsSync(pyodide)) return;
  if (existsSync(snapshot) && statSync(snapshot).mtimeMs > statSync(pyodide).ctimeMs) return;
  execFileSync(process.execPath, ['scripts/pyodideSnapshot.mjs', snapshot], { stdio: 'inherit' });
}
