import { z } from 'zod';
import { inlineValues } from '../debugger/inlineValues';
import type { Debugger } from '../debugger/debugger';
import { shortText, shownText } from '../shownText';
import type { Client } from './client';
import { read } from './requests';

const inlineValuesArguments = z.object({ frameId: z.int().positive() });

/** How much of a value stands beside a line, in characters. */
const shownLength = 60;

/** Answers `neuralDebug/inlineValues`: what to show beside the lines of a frame, as they were when they ran. */
export function inlineValuesOf(session: Debugger, client: Client, args: unknown): object {
  const state = read(inlineValuesArguments, args).frameId - 1;
  const { source, trajectory } = session;
  const lines = state < trajectory.length ? inlineValues(source, trajectory, state) : [];
  return {
    lines: lines.map(({ line, values }) => ({
      line: client.lineOf(line),
      text: values.map(({ name, repr }) => `${shownText(name)} = ${shortText(repr, shownLength)}`).join(', '),
    })),
  };
}
