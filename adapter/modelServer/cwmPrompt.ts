import { CatalogueError, errors } from '../errors';
import { splitFrame } from '../format/cwm/frames';
import { readJsonObject } from '../format/cwm/json';
import { type ParsedPrompt, parsePrompt } from '../format/cwm/prompt';
import { frameEndAfter } from './frameEnd';
import type { HistoryEnd } from './history';
import { Refusal } from './refusal';

/** A prompt in CWM's trace format, in two. */
export interface CwmPrompt {
  /** The source context with the control tokens that begin and end it. */
  readonly head: string;
  /** The frames after it, the last one perhaps incomplete. */
  readonly history: string;
}

/** Divides a prompt; one without a source context is all head. */
export function dividePrompt(prompt: string): CwmPrompt {
  const end = frameEndAfter(prompt, 0);
  return end < 0 ? { head: prompt, history: '' } : { head: prompt.slice(0, end), history: prompt.slice(end) };
}

/**
 * Reads a prompt's head.
 *
 * @throws Refusal for a text that does not begin as the format does
 */
export function readHead(head: string): ParsedPrompt {
  try {
    return parsePrompt(head);
  } catch (thrown) {
    if (!(thrown instanceof CatalogueError)) throw thrown;
    throw new Refusal(400, 'prompt_unreadable', thrown, 'prompt');
  }
}

/** The arguments with which a history says that its entry function is called. */
export interface Seed {
  /** Literals by parameter; empty for a function without parameters. */
  readonly arguments: ReadonlyMap<string, string>;
  /** Where the frame that gives the arguments ends; null where the history gives none. */
  readonly end: HistoryEnd | null;
}

/**
 * Reads the arguments of the entry function from the call frame at a history's beginning.
 *
 * @throws Refusal when an argument is missing
 */
export function readSeed(history: string, name: string, parameters: readonly string[]): Seed {
  if (parameters.length === 0) return { arguments: new Map(), end: null };
  const length = frameEndAfter(history, 0);
  const { kind, line, locals: written } = splitFrame(length < 0 ? history : history.slice(0, length));
  const locals = kind?.event === 'call' && line ? readJsonObject(written.text) : null;
  const missing = parameters.filter((parameter) => !locals?.has(parameter));
  if (!locals || missing.length > 0) {
    throw new Refusal(400, 'seed_missing', errors.seedMissing(name, missing), 'prompt');
  }
  const given = parameters.map((parameter) => [parameter, locals.get(parameter)?.text ?? ''] as const);
  return { arguments: new Map(given), end: length < 0 ? null : { next: 1, length, frames: 1 } };
}
