import type { ServerResponse } from 'node:http';
import { errors } from '../errors';
import { type AnswerFault, answerFaults, type FaultPlace, type Faults } from './faults';
import { Refusal } from './refusal';

/** The most tokens that come of an answer before it stalls or is cut. */
const mostTokens = 24;

/** How an answer that has begun goes wrong. */
export interface BrokenAnswer {
  readonly kind: 'stall' | 'cut';
  /** How many tokens come before. */
  readonly after: number;
}

/**
 * Draws how an answer goes wrong as a whole.
 *
 * @returns null where it does not; `answered` where it was answered so
 * @throws Refusal where it is refused
 */
export function drawAnswerFault(
  faults: Faults,
  place: FaultPlace,
  response: ServerResponse,
): BrokenAnswer | 'answered' | null {
  const kind = answerFaults.find((each) => faults.draw(each, place).isWrong);
  if (!kind) return null;
  const after = faults.choose(mostTokens, kind, place);
  faults.make(kind, place);
  return answerWrongly(kind, after, response);
}

function answerWrongly(
  kind: AnswerFault,
  after: number,
  response: ServerResponse,
): BrokenAnswer | 'answered' {
  switch (kind) {
    case 'status-429':
      throw new Refusal(429, 'rate_limited', errors.faultWanted('too many requests'), null, {
        'Retry-After': '1',
      });
    case 'status-500':
      throw new Refusal(500, 'fault', errors.faultWanted('a failure of the server'));
    case 'empty':
      response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
      response.end();
      return 'answered';
    case 'page':
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end('<!doctype html><title>Sign in</title><p>Please sign in to go on.</p>');
      return 'answered';
    case 'other-json':
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end('{"result":{"output":["line 3"]},"took":12}');
      return 'answered';
    default:
      return { kind, after };
  }
}
