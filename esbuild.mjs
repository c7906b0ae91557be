// Bundles the adapter's command line and the extension into dist/, with the files that they load at run time.
import { build } from 'esbuild';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { basename } from 'node:path';

/** Files that are read at run time, found beside the bundle by adapter/resources.ts. */
const resources = [
  'adapter/python/tracer.py',
  'adapter/python/expressions.py',
  'adapter/python/inputSearch.py',
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

await mkdir('dist', { recursive: true });
await Promise.all([
  build({ ...shared, entryPoints: { cli: 'adapter/cli/main.ts' } }),
  build({ ...shared, entryPoints: { extension: 'src/extension.ts' }, external: ['vscode'] }),
  ...resources.map((file) => copyFile(file, `dist/${basename(file)}`)),
]);
await chmod('dist/cli.cjs', 0o755);
