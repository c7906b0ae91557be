import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { canRunPyodide, spawnPyodide } from './pyodide';
import type { ScriptStart } from './scriptStart';

/** The Python that is compiled to WebAssembly and runs in a process that is locked down. */
export const pyodide = Symbol('Pyodide');

/**
 * What runs a script of ours: an interpreter of this computer, by its path or by a name that is looked up in
 * PATH, or Pyodide.
 */
export type Python = string | typeof pyodide;

/** Which kind of Python is wanted; null: an interpreter where there is one, else Pyodide. */
export type SandboxChoice = 'python' | 'pyodide' | null;

/**
 * Starts a script in a process of its own group, so that what it starts can be ended with it, and keys pressed in
 * a terminal do not reach it. It has pipes for standard input and output and, as descriptor 3, one for messages.
 *
 * @throws CatalogueError when Pyodide cannot be locked down here
 */
export function spawnPython(python: Python, start: ScriptStart): ChildProcess {
  if (python === pyodide) return spawnPyodide(start);
  return spawn(python, [...start.options, start.script], {
    cwd: start.folder ?? tmpdir(),
    detached: process.platform !== 'win32',
    env: start.environment,
    stdio: ['pipe', 'pipe', start.errors, 'pipe'],
    windowsHide: true,
  });
}

/** The interpreter that is used where none is named. */
export const defaultInterpreter = process.platform === 'win32' ? 'python' : 'python3';

/** Milliseconds until an interpreter that does not answer counts as missing. */
const patience = 10_000;

let hasDefault: Promise<boolean> | null = null;

/**
 * The Python to use: the one that is asked for, or else the interpreter of this computer, or where there is none
 * Pyodide. An interpreter that is named is taken as it is: that it is missing shows where it is used.
 */
export async function choosePython(choice: SandboxChoice, interpreter: string | null): Promise<Python> {
  if (choice === 'pyodide') return pyodide;
  if (choice === 'python' || interpreter !== null) return interpreter ?? defaultInterpreter;
  if (!canRunPyodide()) return defaultInterpreter;
  hasDefault ??= canRun(defaultInterpreter);
  return (await hasDefault) ? defaultInterpreter : pyodide;
}

/** Whether an interpreter can be started. */
function canRun(interpreter: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(interpreter, ['-I', '-c', ''], { timeout: patience, windowsHide: true }, (failure) => {
      resolve(failure === null);
    });
  });
}

/** A Python that runs a program, in words, with what keeps it within bounds. */
export function describeRun(python: Python, version: string | null): string {
  const name = version === null ? 'Python' : `Python ${version}`;
  return python === pyodide
    ? `${name} in a sandbox (Pyodide), which really runs the program`
    : `${name}, which really runs the program with your rights, within limits`;
}
