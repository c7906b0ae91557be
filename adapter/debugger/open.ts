import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeCause, errors } from '../errors';
import { decodeSource } from '../python/encoding';
import { ExpressionEvaluator } from '../python/expressions';
import { PythonSource } from '../python/source';
import { choosePython, type Python } from '../sandbox/python';
import type { Program } from '../trajectory/program';
import { RecordingFile } from '../trajectory/recordingFile';
import { Trajectory } from '../trajectory/trajectory';
import { RecordingWorld } from '../world/recording';
import { ReferenceWorld } from '../world/reference';
import type { World } from '../world/world';
import type { Configuration } from './configuration';
import { Debugger, type DebuggerListener } from './debugger';
import { languageModel } from './server';
import { entryTo } from './startAt';

/** Where keys come from: each is bound to the origin (`https://host:port`) that it was given for. */
export type KeyFor = (origin: string) => Promise<string | null>;

export interface Opened {
  /** What people should know before the session begins, in sentences. */
  readonly notes: readonly string[];
  readonly debugger: Debugger;
  readonly evaluator: ExpressionEvaluator;
}

/** Loads what `openDebugger` will need, where that is known before. */
export async function prepareToOpen({
  sandbox,
  python,
}: Pick<Configuration, 'sandbox' | 'python'>): Promise<void> {
  await Promise.all([choosePython(sandbox, python), PythonSource.parse('')]);
}

/**
 * Makes a debugger from a checked configuration: reads the program, chooses the world. Runs nothing and asks
 * no server yet.
 *
 * @param recorded the trajectory of an earlier session, taken over if it is of the same program
 * @throws CatalogueError for a file that cannot be read, or a world that is not chosen or not complete
 */
export async function openDebugger(
  configuration: Configuration,
  keyFor: KeyFor,
  listener: DebuggerListener = {},
  recorded: Trajectory | null = null,
): Promise<Opened> {
  const kind = configuration.world ?? (configuration.server ? 'server' : null);
  if (kind === null) throw errors.noWorld();
  // Whether there is an interpreter is found out meanwhile.
  const choosing = choosePython(configuration.sandbox, configuration.python);
  const recording = kind === 'recording' ? await openRecording(configuration.recording) : null;
  const given = recording?.header.program ?? (await programOf(configuration));
  const source = await PythonSource.parse(given.source);
  const { startAt } = configuration;
  const program = startAt && !recording ? { ...given, entry: entryTo(source, startAt, given.entry) } : given;
  const python = await choosing;
  const world = recording
    ? new RecordingWorld(recording.header, (position) => recording.steps(position))
    : await openWorld(kind, configuration.server, program, source, python, keyFor);
  const trajectory = recorded && isSame(recorded.program, program) ? recorded : new Trajectory(program);
  const evaluator = new ExpressionEvaluator({ python });
  const session = new Debugger(source, trajectory, world, evaluator, configuration, listener);
  const seesArguments = kind !== 'server' || program.args.length === 0;
  const notes = seesArguments
    ? []
    : ['The script’s arguments are not sent to the model: what it predicts for sys.argv is made up.'];
  return { debugger: session, evaluator, notes };
}

/**
 * Makes the world that a configuration names, for a program other than the configuration's own.
 *
 * @throws CatalogueError where no world is chosen, or it is not complete
 */
export async function openWorldFor(
  configuration: Configuration,
  program: Program,
  keyFor: KeyFor,
): Promise<World> {
  const kind = configuration.world ?? (configuration.server ? 'server' : null);
  if (kind === null) throw errors.noWorld();
  const python = await choosePython(configuration.sandbox, configuration.python);
  const source = await PythonSource.parse(program.source);
  return openWorld(kind, configuration.server, program, source, python, keyFor);
}

/** Makes the world that really runs a program. */
export async function openReference(
  { sandbox, python }: Pick<Configuration, 'sandbox' | 'python'>,
  program: Program,
): Promise<World> {
  return new ReferenceWorld(program, { python: await choosePython(sandbox, python) });
}

/** The program of a configuration, which has its text or names its file. */
async function programOf({ program: path, source, entry, args }: Configuration): Promise<Program> {
  if (path === null || source === null) return readProgram({ program: path, entry, args });
  return { path, source, entry, args };
}

/** Reads a program's source from its file. */
export async function readProgram(of: Pick<Configuration, 'program' | 'entry' | 'args'>): Promise<Program> {
  if (of.program === null) throw errors.noProgram();
  const path = resolve(of.program);
  const { text } = decodeSource(await readBytes(path));
  return { path, source: text, entry: of.entry, args: of.args };
}

/** Opens the recording that a configuration names. */
async function openRecording(path: string | null): Promise<RecordingFile> {
  if (path === null) throw errors.noRecording();
  return RecordingFile.open(path);
}

async function openWorld(
  kind: 'server' | 'reference' | 'recording',
  server: Configuration['server'],
  program: Program,
  source: PythonSource,
  python: Python,
  keyFor: KeyFor,
): Promise<World> {
  if (kind === 'reference') return new ReferenceWorld(program, { python });
  if (!server) throw errors.noServer();
  return languageModel(server, await keyFor(new URL(server.baseUrl).origin), program, source);
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (thrown) {
    throw errors.cannotRead(path, describeCause(thrown));
  }
}

function isSame(one: Program, other: Program): boolean {
  return (
    one.path === other.path &&
    one.source === other.source &&
    one.entry === other.entry &&
    one.args.join('\0') === other.args.join('\0')
  );
}
