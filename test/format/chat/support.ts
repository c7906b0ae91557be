import { readFileSync } from 'node:fs';
import type { CompletionChunk } from '../../../adapter/completion/completion';
import { createChatFormat } from '../../../adapter/format/chat/chatFormat';
import type { Format, StepReader } from '../../../adapter/format/format';
import { PythonSource } from '../../../adapter/python/source';
import type { Program } from '../../../adapter/trajectory/program';
import type { Ending, Prediction, Step } from '../../../adapter/trajectory/state';
import { Trajectory } from '../../../adapter/trajectory/trajectory';

export const source = `def double(n):
    return n * 2

def main():
    total = 0
    for i in [1, 2]:
        total += double(i)
    return total

print(main())
`;

export function program(text: string, entry: string | null = null): Program {
  return { path: '/demo.py', source: text, entry, args: [] };
}

export interface Opened {
  readonly format: Format;
  readonly trajectory: Trajectory;
  /** The newest state. */
  at: number;
}

/** A format and a trajectory that holds the format's opening and then the given states. */
export async function open(of: Program, states: readonly Step[] = []): Promise<Opened> {
  const format = createChatFormat(of, await PythonSource.parse(of.source));
  const opened = { format, trajectory: new Trajectory(of), at: -1 };
  record(opened, [...format.opening, ...states]);
  return opened;
}

/** Records steps as a debugger does. */
export function record(opened: Opened, steps: readonly Step[]): void {
  for (const step of steps) {
    if (step.kind === 'state') opened.at = opened.trajectory.append(opened.at, { name: 'step_into' }, step);
    else opened.trajectory.end(opened.at, step);
  }
}

export function reply(name: string): string {
  return readFileSync(new URL(`./replies/${name}.txt`, import.meta.url), 'utf8');
}

export const end = (reason: 'stop' | 'length' = 'stop'): CompletionChunk => ({
  kind: 'end',
  reason,
  stopString: null,
  usage: null,
});

/** Reads an answer that comes in pieces of a length. */
export function readAnswer(
  reader: StepReader,
  answer: string,
  { pieces = 7, reason = 'stop' }: { readonly pieces?: number; readonly reason?: 'stop' | 'length' } = {},
): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < answer.length; at += pieces) {
    steps.push(...reader.read({ kind: 'text', text: answer.slice(at, at + pieces), tokens: [] }));
  }
  return [...steps, ...reader.read(end(reason))];
}

export const isState = (step: Step): step is Prediction => step.kind === 'state';
export const isEnd = (step: Step): step is Ending => step.kind === 'end';

/** A step in one line: `main: line 5 {total: 0}`, with what it returns, unwinds and why it is doubted. */
export function brief(step: Step): string {
  if (step.kind === 'end') return `end: ${step.how}${step.notes.map((note) => ` (${note})`).join('')}`;
  const { event, function: name, line, locals, argument } = step.state;
  const values = locals && [...locals].map(([local, { repr }]) => `${local}: ${repr ?? '?'}`).join(', ');
  const value = argument ? ` = ${argument.repr ?? '?'}` : '';
  const left = step.unwinds > 0 ? ` ^${step.unwinds}` : '';
  return `${name}: ${event} ${line} ${values === null ? '?' : `{${values}}`}${value}${left}${step.doubt === null ? '' : ` ! ${step.doubt}`}`;
}
