import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { describeCause, errors } from '../errors';
import { evaluatedActions } from './ask';
import { type AskedState, keyOf } from './nextState';

const rowShape = z.object({
  program: z.string(),
  action: z.enum(evaluatedActions),
  state: z.int().nonnegative(),
  horizon: z.int(),
  from: z.string(),
  real: z.string(),
  predicted: z.string().nullable(),
  right: z
    .object({
      event: z.boolean(),
      line: z.boolean(),
      stack: z.boolean(),
      changed: z.boolean().nullable(),
      values: z.boolean().nullable(),
      exact: z.boolean(),
    })
    .nullable(),
  confidence: z.number().nullable(),
  // Results of before had none.
  valueConfidence: z.number().nullable().default(null),
  unreadable: z.int().nonnegative().default(0),
  error: z.int().nullable(),
  settings: z.string(),
});

/** A short text that is equal for evaluations whose results can be put together. */
export function settingsKey(settings: object): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 12);
}

/**
 * The file of an evaluation's results: one JSON object a line for each asked state. One that was left half done is
 * gone on with: what was answered is kept, what failed is asked again.
 */
export class ResultsFile {
  private constructor(
    private readonly path: string,
    private readonly settings: string,
    private readonly file: FileHandle,
    /** What was answered before, by `keyOf`. */
    readonly known: ReadonlyMap<string, AskedState>,
  ) {}

  /** @throws CatalogueError for a file that cannot be written, or holds something else */
  static async open(path: string, settings: string): Promise<ResultsFile> {
    const known = new Map<string, AskedState>();
    for (const row of await readRows(path, settings)) if (row.error === null) known.set(keyOf(row), row);
    try {
      // Failed rows, and a line that was cut, go; the file is whole at every moment.
      const text = [...known.values()].map((row) => lineOf(row, settings)).join('');
      await writeFile(`${path}.part`, text);
      await rename(`${path}.part`, path);
      return new ResultsFile(path, settings, await open(path, 'a'), known);
    } catch (thrown) {
      throw errors.cannotWrite(path, describeCause(thrown));
    }
  }

  async add(row: AskedState): Promise<void> {
    try {
      await this.file.appendFile(lineOf(row, this.settings));
    } catch (thrown) {
      throw errors.cannotWrite(this.path, describeCause(thrown));
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

function lineOf(row: AskedState, settings: string): string {
  return `${JSON.stringify({ ...row, settings })}\n`;
}

async function readRows(path: string, settings: string): Promise<AskedState[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw errors.cannotRead(path, describeCause(thrown));
  }
  const lines = text.split('\n').filter((line) => line !== '');
  const rows: AskedState[] = [];
  for (const [index, line] of lines.entries()) {
    const parsed = rowShape.safeParse(jsonOf(line));
    // The last line may have been cut when the evaluation was.
    if (!parsed.success && index === lines.length - 1 && !text.endsWith('\n')) break;
    if (!parsed.success) throw errors.notResults(path, `line ${index + 1} is no asked state`);
    const { settings: of, ...row } = parsed.data;
    if (of !== settings) throw errors.notResults(path, 'its states were asked with other settings');
    rows.push(row);
  }
  return rows;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
