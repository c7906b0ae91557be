import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readHeaderLine } from '../trajectory/recording';
import type { Program } from '../trajectory/program';
import { maxTraceLength } from './traceDocument';

/** What recordings are called, so that they are found beside the programs. */
export const recordingName = /\.(?:trace\.jsonl|ndtrace)$/i;

/** How deep folders are looked through, and how much of them. */
const maxDepth = 4;
const maxEntries = 10_000;
const maxFiles = 500;
/** A header longer than this, in bytes, holds no source that one edits. */
const maxHeader = 4 * 1024 * 1024;
const piece = 64 * 1024;

const skipped = /^(?:\..*|node_modules|__pycache__|venv|env|site-packages|dist|build)$/;

/** A recording that lies on the disk. */
export interface RecordingFile {
  readonly path: string;
  /** When it was written, in milliseconds since 1970. */
  readonly writtenAt: number;
  readonly program: Program;
}

const headers = new Map<string, { readonly stamp: string; readonly program: Program | null }>();

/** The recordings in and below folders, as far as there are not too many files. */
export async function findRecordings(folders: readonly string[]): Promise<RecordingFile[]> {
  const pending = folders.map((path) => ({ path, depth: 0 }));
  const seen = new Set<string>();
  const found: RecordingFile[] = [];
  let entries = 0;
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    if (seen.has(next.path) || entries > maxEntries || found.length >= maxFiles) continue;
    seen.add(next.path);
    const listed = await readdir(next.path, { withFileTypes: true }).catch(() => []);
    for (const entry of listed.slice(0, maxEntries - entries)) {
      const path = join(next.path, entry.name);
      if (entry.isDirectory()) {
        if (next.depth < maxDepth && !skipped.test(entry.name)) pending.push({ path, depth: next.depth + 1 });
      } else if (entry.isFile() && recordingName.test(entry.name)) {
        const file = await readHeader(path);
        if (file) found.push(file);
      }
    }
    entries += listed.length;
  }
  return found;
}

/** The text of a recording's file; null where it cannot be read or is too long to be looked at. */
export async function readRecordingFile(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    return size > maxTraceLength ? null : new TextDecoder().decode(await readFile(path));
  } catch {
    return null;
  }
}

async function readHeader(path: string): Promise<RecordingFile | null> {
  try {
    const { mtimeMs, size } = await stat(path);
    const stamp = `${mtimeMs} ${size}`;
    let known = headers.get(path);
    if (known?.stamp !== stamp) {
      known = { stamp, program: headerOf(await firstLine(path), path) };
      headers.set(path, known);
    }
    return known.program && { path, writtenAt: mtimeMs, program: known.program };
  } catch {
    return null;
  }
}

function headerOf(line: string | null, path: string): Program | null {
  try {
    return line === null ? null : readHeaderLine(line, path).program;
  } catch {
    return null;
  }
}

async function firstLine(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const pieces: Buffer[] = [];
    for (let at = 0; at < maxHeader; at += piece) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(piece), 0, piece, at);
      const end = buffer.subarray(0, bytesRead).indexOf(10);
      pieces.push(buffer.subarray(0, end < 0 ? bytesRead : end));
      if (end >= 0 || bytesRead < piece) return Buffer.concat(pieces).toString('utf8');
    }
    return null;
  } finally {
    await file.close();
  }
}
