import { z } from 'zod';
import { alternativesTo } from '../debugger/alternatives';
import type { Debugger } from '../debugger/debugger';
import { errors } from '../errors';
import { shortText } from '../shownText';
import type { Client } from './client';
import { read } from './requests';
import type { StopView } from './stopView';
import { checkedCount } from './whatIfRequests';

const alternativesArguments = z.object({
  /** The state that is asked about; without it the current one. */
  state: z.int().nonnegative().optional(),
  /** A local at that state, or an expression that looks up a part of one, or a row's name where a reference is given; without it the state itself. */
  name: z.string().min(1).max(100_000).optional(),
  /** The reference of the variables that a row is in. */
  variablesReference: z.int().positive().optional(),
  count: z.int().positive().default(5),
});

/** Answers `neuralDebug/alternatives`: what else the model says in the place of a state or value, with shares. */
export async function alternatives(
  session: Debugger,
  view: StopView,
  client: Client,
  args: unknown,
): Promise<object> {
  const asked = read(alternativesArguments, args);
  const count = checkedCount(asked.count);
  const row =
    asked.variablesReference !== undefined && asked.name !== undefined
      ? view.placeOfRow(asked.variablesReference, asked.name)
      : null;
  const state = row?.state ?? asked.state ?? session.cursor;
  if (state < 0 || state >= session.trajectory.length) throw errors.noSuchState(state);
  const found = await alternativesTo(session, state, row?.path ?? asked.name ?? null, count);
  return {
    name: found.name === null ? null : shortText(found.name, 200),
    state: found.state,
    line: client.lineOf(Math.max(1, found.line)),
    shown: shortText(found.shown),
    drawn: found.drawn,
    notes: found.notes,
    alternatives: found.rows.map((one) => ({ ...one, value: shortText(one.value) })),
  };
}
