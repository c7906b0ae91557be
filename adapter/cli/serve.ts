import { relative } from 'node:path';
import { parseFaults } from '../modelServer/faults';
import { type OnDivergence, startModelServer, startupNotice } from '../modelServer/server';
import { choosePython } from '../sandbox/python';

/** The options of `serve`. */
export interface ServeOptions {
  readonly port: number;
  readonly python?: string;
  readonly onDivergence: OnDivergence;
  readonly sandbox?: 'python' | 'pyodide';
  readonly context?: number;
  readonly skipsControl?: boolean;
  readonly faults?: string;
  readonly seed: number;
}

/** Serves the reference as a model, until the process is told to end. */
export async function serve(options: ServeOptions): Promise<void> {
  const python = await choosePython(options.sandbox ?? null, options.python ?? null);
  const server = await startModelServer({
    ...options,
    python,
    faults: options.faults === undefined ? null : parseFaults(options.faults, options.seed),
  });
  process.stdout.write(`${server.url}\n${server.token}\n`);
  process.stderr.write(
    `${startupNotice({}, python)}\nTo debug with it, in another terminal:\n` +
      `  NEURAL_DEBUG_API_KEY=${server.token} ${command()} run FILE --base-url ${server.url}\n`,
  );
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await server.close();
}

/** How the command line was called: by its name, or by Node and the path of the file. */
function command(): string {
  const [, file = ''] = process.argv;
  return /\.[cm]?js$/.test(file) ? `node ${relative(process.cwd(), file)}` : 'neural-debug';
}
