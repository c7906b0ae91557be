// What the package holds, seen where VS Code has put it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds of files that belong into the package; all else is left out by .vscodeignore. */
const belongs = [
  /^\.vsixmanifest$/,
  /^(package\.json|readme\.md|changelog\.md|LICENSE\.txt)$/,
  /^dist\/[\w-]+\.(cjs|py|wasm|mjs)$/,
  /^dist\/pyodide\/(package\.json|pyodide(\.asm)?\.mjs|pyodide\.asm\.wasm|pyodide-lock\.json)$/,
  /^dist\/pyodide\/(python_stdlib\.zip|snapshot\.bin)$/,
  /^media\/\w+\.(png|svg|md)$/,
  /^syntaxes\/[\w.-]+\.json$/,
];

/** Without these something would not work. */
const needed = [
  'dist/extension.cjs',
  'dist/cli.cjs',
  'dist/tracer.py',
  'dist/expressions.py',
  'dist/inputSearch.py',
  'dist/web-tree-sitter.wasm',
  'dist/tree-sitter-python.wasm',
  'dist/pyodideHost.mjs',
  'dist/pyodide/pyodide.asm.wasm',
  'dist/pyodide/python_stdlib.zip',
  'dist/pyodide/snapshot.bin',
  'media/icon.png',
  'readme.md',
];

/** The most that the package may take on its way to a user, in bytes. */
const maxSize = 14_500_000;

export const packageTests = {
  'the package holds what is needed, and nothing else'(_workbench, { vscode, vsix }) {
    const [name, ...others] = readdirSync(vscode.extensions).filter((each) =>
      each.startsWith('neural-debug'),
    );
    assert.deepEqual(others, []);
    const folder = join(vscode.extensions, name);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    assert.deepEqual(
      files.filter((file) => !belongs.some((pattern) => pattern.test(file))),
      [],
    );
    assert.deepEqual(
      needed.filter((file) => !files.includes(file)),
      [],
    );
    // VS Code's page of the extension shows nothing that lies beside it, and no picture but from https.
    const page = readFileSync(join(folder, 'readme.md'), 'utf8');
    assert.match(page, /^# Neural Debug\n/);
    assert.doesNotMatch(page, /\]\((?!https:)/);
    const { size } = statSync(vsix);
    assert.ok(size < maxSize, `The package has ${size} bytes.`);
  },
};
