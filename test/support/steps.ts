import {
  type EventKind,
  type Locals,
  plainPrediction,
  type Prediction,
} from '../../adapter/trajectory/state';

/** Locals from names and reprs, with nothing known about confidence. */
export function locals(reprs: Readonly<Record<string, string | null>>): Locals {
  return new Map(Object.entries(reprs).map(([name, repr]) => [name, { repr, confidence: null }]));
}

/** A prediction in few words: `step('line', 'f', 3, { n: '1' })`. */
export function step(
  event: EventKind,
  name: string,
  line: number,
  reprs: Readonly<Record<string, string | null>> | null = {},
  rest: Partial<Omit<Prediction, 'state'>> & { argument?: string; thread?: string } = {},
): Prediction {
  const { argument, thread = null, ...more } = rest;
  return {
    ...plainPrediction({
      event,
      function: name,
      line,
      thread,
      locals: reprs && locals(reprs),
      argument: argument === undefined ? null : { repr: argument, confidence: null },
    }),
    ...more,
  };
}
