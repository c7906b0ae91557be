import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordingHeader } from '../../adapter/trajectory/recording';
import { RecordingFile } from '../../adapter/trajectory/recordingFile';
import type { Step } from '../../adapter/trajectory/state';
import type { RecordedSteps } from '../../adapter/world/recording';

/** Steps that are given, as a recording's world is asked for them. */
export function recordedSteps(steps: readonly Step[]): RecordedSteps {
  return async function* (position) {
    await Promise.resolve();
    if (position < steps.length) yield steps.slice(position);
  };
}

/** Reads a recording's file to its end. */
export async function readRecording(path: string): Promise<RecordingHeader & { readonly steps: Step[] }> {
  const file = await RecordingFile.open(path);
  const steps: Step[] = [];
  for await (const batch of file.steps(0)) steps.push(...batch);
  return { ...file.header, steps };
}

/** Lets something be done with a file of a text. */
export async function withFile<T>(
  text: string | Uint8Array,
  work: (path: string) => Promise<T>,
  name = 'r.jsonl',
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'neural-debug-recording-'));
  try {
    writeFileSync(join(folder, name), text);
    return await work(join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
