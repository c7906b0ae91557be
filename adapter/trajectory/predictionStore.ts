import type { Prediction } from './state';

/** What is known about how a state came to be: a prediction without the state itself. */
export type PredictionFacts = Omit<Prediction, 'state' | 'activation' | 'unwinds'>;

/** What is known where nothing is: the facts of most states of a real run. */
const plain: PredictionFacts = Object.freeze({
  kind: 'state',
  confidence: null,
  doubt: null,
  otherLines: [],
  text: null,
  output: null,
  tokens: 0,
});

/** The facts of each state's prediction. */
export class PredictionStore {
  readonly #facts = new Map<number, PredictionFacts>();

  set(state: number, facts: PredictionFacts): void {
    if (!isPlain(facts)) this.#facts.set(state, facts);
  }

  get(state: number): PredictionFacts {
    return this.#facts.get(state) ?? plain;
  }
}

/** Whether a prediction says nothing. */
function isPlain(facts: PredictionFacts): boolean {
  for (const key in facts) {
    const value: unknown = facts[key as keyof PredictionFacts];
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (!isEmpty && value !== plain[key as keyof PredictionFacts]) return false;
  }
  return true;
}
