/** How a script of ours is started. */
export interface ScriptStart {
  /** The script's path. */
  readonly script: string;
  /** Options of the interpreter. Pyodide has no user's site packages and reads no environment: it needs none. */
  readonly options: readonly string[];
  /** The folder that an interpreter runs in; a temporary one where it is null. Pyodide has no such folder. */
  readonly folder: string | null;
  /** The environment of an interpreter. Pyodide gets none. */
  readonly environment: NodeJS.ProcessEnv;
  /** The memory that Python may have in Pyodide, in MiB. An interpreter's script limits itself. */
  readonly memory: number;
  /** The processor time after which the system ends Pyodide, whatever has become of us, in seconds. */
  readonly processorTime: number;
  /** Where standard error goes. */
  readonly errors: 'pipe' | 'ignore';
}
