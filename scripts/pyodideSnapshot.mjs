// Writes the memory of a Pyodide that has just started, from which others start six times as fast:
//
//     node scripts/pyodideSnapshot.mjs FILE
//
// The options are undocumented ones of Pyodide, whose version is pinned. The sandbox's tests start from it.
import { writeFileSync } from 'node:fs';
import { loadPyodide } from 'pyodide';

const [file] = process.argv.slice(2);
const pyodide = await loadPyodide({
  _makeSnapshot: true,
  jsglobals: Object.create(null),
  // As in pyodideHost.mjs, since variables are part of the memory.
  env: { HOME: '/home/pyodide', PYTHONHASHSEED: '0', PYTHONINSPECT: '', _: 'python' },
});
writeFileSync(file, pyodide.makeMemorySnapshot());
