import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errors } from '../errors';
import { resourcePath } from '../resources';
import type { ScriptStart } from './scriptStart';

/** Memory that Node itself and Pyodide's JavaScript may have beside Python's, in MiB. */
const nodeMemory = 1024;

/** The most that JavaScript's own heap may grow to, in MiB. */
const javaScriptHeap = 256;

/** Exit code of pyodideHost.mjs: it found that it is not locked down, and has run nothing. */
export const notLockedDown = 97;

/**
 * Starts a script in Pyodide, in a process of this Node that is locked down as pyodideHost.mjs describes. The
 * descriptors are those that an interpreter would have.
 *
 * @param host the program of the process; tests have another one, which does what a program could at worst
 * @throws CatalogueError when Pyodide is not installed, or this Node has no permission model
 */
export function spawnPyodide(start: ScriptStart, host = pyodideHost()): ChildProcess {
  const permission = permissionFlag();
  if (permission === null) throw errors.noPermissionModel(process.version);
  const folder = pyodideFolder();
  if (folder === null) throw errors.noPyodide();
  const snapshot = snapshotPath();
  // Two paths may be read and no more: where a third has part of its way in common with both, Node takes that part,
  // such as the root, for one that may be read too (seen in Node 20.20). All else comes as open files.
  const node = [
    permission,
    ...[folder, host].map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${javaScriptHeap}`,
    '--no-warnings',
    host,
    folder,
    String(start.memory),
    ...(snapshot === null ? [] : ['snapshot']),
  ];
  const [command, args] = withinLimits(start, process.execPath, node);
  const files: number[] = [];
  try {
    for (const path of [start.script, snapshot]) if (path !== null) files.push(openSync(path, 'r'));
    return spawn(command, args, {
      detached: process.platform !== 'win32',
      env: environment(),
      stdio: ['pipe', 'pipe', start.errors, 'pipe', ...files],
      windowsHide: true,
    });
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Where pyodideHost.mjs is. */
export function pyodideHost(): string {
  return realpathSync(resourcePath('pyodideHost.mjs', './sandbox/pyodideHost.mjs'));
}

/** The flag of Node's permission model, whose name changed when it became stable (22.13 and 23.5). */
function permissionFlag(): string | null {
  const flags = ['--permission', '--experimental-permission'];
  return flags.find((flag) => process.allowedNodeEnvironmentFlags.has(flag)) ?? null;
}

/** Where Pyodide's files are; null where they are not installed. */
function pyodideFolder(): string | null {
  try {
    return dirname(realpathSync(resourcePath('pyodide/pyodide.mjs', 'pyodide/pyodide.mjs')));
  } catch {
    return null;
  }
}

/** The memory of a Pyodide that has started, from which others start fast; null where the build made none. */
function snapshotPath(): string | null {
  const path = resourcePath('pyodide/snapshot.bin', '../dist/pyodide/snapshot.bin');
  return existsSync(path) ? path : null;
}

/** Whether Pyodide is installed, and this Node has the permission model, without which it is not run. */
export function canRunPyodide(): boolean {
  return permissionFlag() !== null && pyodideFolder() !== null;
}

/**
 * A command within the system's limits, where it has a shell that sets them: no file may grow, there is an end to
 * processor time even if nobody is left to end the process, and to memory outside of Python's own. What a system
 * does not limit, the permission model and the limit on Python's memory still do.
 */
function withinLimits(start: ScriptStart, command: string, args: string[]): [string, string[]] {
  if (process.platform === 'win32') return [command, args];
  const limits = {
    c: 0,
    f: 0,
    t: start.processorTime,
    d: (start.memory + nodeMemory) * 1024,
  };
  const set = Object.entries(limits).map(([letter, most]) => `ulimit -${letter} ${most} 2>/dev/null`);
  return ['/bin/sh', ['-c', `${set.join('; ')}; exec "$0" "$@"`, command, ...args]];
}

/** What Node needs to start, and to be Node where it is the editor's; nothing of it is seen by Python. */
function environment(): NodeJS.ProcessEnv {
  const wanted = new Set(['SYSTEMROOT', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH']);
  const kept = Object.entries(process.env).filter(([name]) => wanted.has(name.toUpperCase()));
  return { ...Object.fromEntries(kept), ELECTRON_RUN_AS_NODE: '1' };
}
