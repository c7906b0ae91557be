import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { errors } from '../errors';
import { notLockedDown } from './pyodide';
import { pyodide, type Python, spawnPython } from './python';

/** How a Python program of ours is started. */
export interface PythonStart {
  readonly python: Python;
  /** The program, of ours, that Python runs. */
  readonly script: string;
  /** What it reads from its standard input, which ends then. */
  readonly input: string;
  /** The file in whose folder it runs; a temporary folder where that does not exist. */
  readonly beside: string;
  /** The memory that it may have, in MiB, where the program does not limit itself. */
  readonly memory: number;
  /** The processor time that it may take, in seconds, even if nobody is left to end it. */
  readonly processorTime: number;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How much is kept of what a process writes to standard output and error by other ways than ours, in bytes. */
const maxKept = 1 << 20;

/** The descriptor on which a process of ours writes what it has to say. */
const messagesDescriptor = 3;

/**
 * A Python process of its own group, with standard input, output and error of its own, and a pipe for
 * messages. The pipe holds little: while nobody calls `read`, a process that has something to say waits.
 */
export class PythonProcess {
  /** Resolves when the process has ended and its pipes are closed; rejects when it could not be started. */
  readonly exit: Promise<Exit>;
  readonly #python: Python;
  readonly #child: ChildProcess;
  readonly #messages: AsyncIterator<Buffer>;
  readonly #decoder = new StringDecoder('utf8');
  readonly #stdout: KeptText;
  readonly #stderr: KeptText;

  /**
   * Starts the process; one that cannot be started shows at `read` and `exit`.
   *
   * @throws CatalogueError when Pyodide is asked for and cannot be locked down here
   */
  constructor(start: PythonStart) {
    const folder = dirname(start.beside);
    this.#python = start.python;
    this.#child = spawnPython(start.python, {
      script: start.script,
      options: ['-s'],
      folder: isAbsolute(folder) && existsSync(folder) ? folder : null,
      environment: environment(),
      memory: start.memory,
      processorTime: start.processorTime,
      errors: 'pipe',
    });
    this.exit = new Promise<Exit>((resolve, reject) => {
      this.#child.once('error', (cause: NodeJS.ErrnoException) => {
        reject(errors.pythonNotStarted(nameOf(start.python), cause));
      });
      this.#child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
    });
    // Who reads the messages learns of it there.
    this.exit.catch(() => undefined);
    this.#stdout = new KeptText(this.#child.stdout);
    this.#stderr = new KeptText(this.#child.stderr);
    const messages = this.#child.stdio[messagesDescriptor] as Readable;
    this.#messages = messages[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdin?.end(start.input);
  }

  /**
   * The next piece of the messages, or null when the process has said everything.
   *
   * @throws CatalogueError when the process could not be started, or found that it is not locked down
   */
  async read(): Promise<string | null> {
    const piece = await this.#messages.next().catch(() => null);
    if (piece !== null && piece.done !== true) return this.#decoder.write(piece.value);
    const { code } = await this.exit;
    if (this.#python === pyodide && code === notLockedDown)
      throw errors.notLockedDown(this.takeErrors().trim());
    return null;
  }

  /** What arrived on standard output since it was last taken; the order among the messages is not known. */
  takeOutput(): string {
    return this.#stdout.take();
  }

  /** What arrived on standard error since it was last taken. */
  takeErrors(): string {
    return this.#stderr.take();
  }

  /**
   * Sends the process a signal, by its number here.
   *
   * @returns whether it could be sent
   */
  signal(number: number): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return false;
    try {
      return process.kill(pid, number);
    } catch {
      return false;
    }
  }

  /** Ends the process, and those of its group that it has started, at once. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') this.#child.kill('SIGKILL');
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // The group has ended by itself.
    }
    // A process that has left the group may still hold the other ends of the pipes.
    for (const stream of this.#child.stdio) stream?.destroy();
  }
}

function nameOf(python: Python): string {
  return python === pyodide ? process.execPath : python;
}

/** Text from a stream, which is read to its end, so that the writer never waits, but kept in part only. */
class KeptText {
  #text = '';

  constructor(stream: Readable | null) {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      if (this.#text.length < maxKept) this.#text += text.slice(0, maxKept - this.#text.length);
    });
    stream?.on('error', () => undefined);
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/**
 * The environment of a process: ours without what would make Python behave otherwise, and without our keys.
 * A fixed hash seed makes two runs agree on the order of sets.
 */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PYTHON|NEURAL_DEBUG_|NODE_)/i.test(name));
  return { ...Object.fromEntries(kept), PYTHONHASHSEED: '0' };
}
