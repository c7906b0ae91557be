import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** The tests' environment without what a person may have set for the product. */
function environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('NEURAL_DEBUG_'));
  return { ...Object.fromEntries(own), NO_COLOR: '1', ...more };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function neuralDebug(
  args: readonly string[],
  input = '',
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [cli, ...args], { env: environment(env) });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

/** A command that goes on until it is told to end. */
export interface Running {
  readonly process: ChildProcess;
  /** The next line of its standard output. */
  line(): Promise<string>;
  stop(): Promise<void>;
}

export function startNeuralDebug(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, [cli, ...args], {
    env: environment(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // Not `close`, which waits for output that nobody may read.
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    process: child,
    line: async () => {
      const next = await lines.next();
      if (next.done) throw new Error(`neural-debug ${args.join(' ')} ended early`);
      return next.value;
    },
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/** The objects of lines of JSON. */
export function rows(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function text(stream: AsyncIterable<unknown>): Promise<string> {
  let all = '';
  for await (const part of stream) all += String(part);
  return all;
}
