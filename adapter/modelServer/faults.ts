import { createHash } from 'node:crypto';
import { errors } from '../errors';

/** What can go wrong with a frame, and with an answer as a whole. */
export const frameFaults = ['wrong-value', 'wrong-line', 'malformed'] as const;
export const answerFaults = [
  'status-429',
  'status-500',
  'empty',
  'page',
  'other-json',
  'stall',
  'cut',
] as const;

export type FrameFault = (typeof frameFaults)[number];
export type AnswerFault = (typeof answerFaults)[number];
export type FaultKind = FrameFault | AnswerFault;

/** Which faults there are to be. */
export interface FaultPlan {
  /** How often, 0 to 1: of the frames that the fault can be made in, or of the answers. */
  readonly rates: ReadonlyMap<FaultKind, number>;
  /** The frames, by index from 0, at which a fault is made once. */
  readonly places: ReadonlyMap<FaultKind, ReadonlySet<number>>;
  /** What tells the draws of one plan from those of another. */
  readonly seed: number;
}

const kinds: ReadonlySet<string> = new Set([...frameFaults, ...answerFaults]);

function isKind(text: string): text is FaultKind {
  return kinds.has(text);
}

/**
 * Reads faults as `serve --faults` takes them: `wrong-value=0.1,cut@12` is a rate and a frame.
 *
 * @throws CatalogueError
 */
export function parseFaults(text: string, seed: number): FaultPlan {
  const rates = new Map<FaultKind, number>();
  const places = new Map<FaultKind, Set<number>>();
  for (const part of text.split(',').filter((item) => item.trim() !== '')) {
    const [, kind = '', mark, number = ''] = /^\s*([\w-]+)\s*([=@])\s*([\d.]+)\s*$/.exec(part) ?? [];
    const value = Number(number);
    if (!isKind(kind)) throw errors.faultsUnreadable(part, [...kinds].join(', '));
    if (mark === '=' && value >= 0 && value <= 1) rates.set(kind, value);
    else if (mark === '@' && Number.isInteger(value)) {
      places.set(kind, (places.get(kind) ?? new Set()).add(value));
    } else throw errors.faultsUnreadable(part, 'a rate from 0 to 1 after "=", or a frame after "@"');
  }
  return { rates, places, seed };
}

/** Where in which program a fault can be made. */
export interface FaultPlace {
  /** What programs that are run with the same arguments have in common. */
  readonly program: string;
  /** The index of the frame, or of the first frame of the answer. */
  readonly frame: number;
}

/** A fault that was made. */
export interface MadeFault {
  readonly kind: FaultKind;
  readonly frame: number;
  /** What was written, and what the program does; null where the fault is not in a frame. */
  readonly wrote: string | null;
  readonly does: string | null;
}

/** Whether a fault is drawn, and how sure the model is that it is right there. */
export interface Draw {
  readonly isWrong: boolean;
  /** The natural logarithm of the probability of what is written. */
  readonly logprob: number;
}

/** Whether each time that a client asks again is a draw of its own. */
function isRepeated(kind: FaultKind): boolean {
  return kind !== 'wrong-value' && kind !== 'wrong-line';
}

/** The least probability that is told. */
const leastProbability = 1e-6;

/**
 * Draws faults: the same ones each time for the same seed, program and frame. Those that a client asks again
 * after are drawn anew then: malformed frames once an answer began with one. What stands further on in an answer may
 * never have been read.
 *
 * The probability u that a part is wrong is itself drawn, so that it is r on average: u = v ** ((1 - r) / r) with
 * v even between 0 and 1. It is small as a rule and large at times. The part is wrong with the probability u, and
 * its token is told to have 1 - u: what is told is right as often as it says, and wrong parts have less of it.
 */
export class Faults {
  readonly #made: MadeFault[] = [];
  readonly #possible = new Map<FaultKind, number>();
  /** What was drawn or made, so that it is counted once. */
  readonly #counted = new Set<string>();
  readonly #times = new Map<string, number>();

  constructor(private readonly plan: FaultPlan) {}

  /** The faults that were made, in order. */
  get made(): readonly MadeFault[] {
    return this.#made;
  }

  /** In how many frames or answers each kind of fault could have been made so far. */
  get possible(): ReadonlyMap<FaultKind, number> {
    return this.#possible;
  }

  /**
   * Draws whether a fault is made.
   *
   * @param sample what tells this sample from others of the same place
   */
  draw(kind: FaultKind, place: FaultPlace, sample = ''): Draw {
    const key = `${kind} ${place.frame} ${place.program}`;
    const times = this.#times.get(key) ?? 0;
    if (this.#isNew(`${key} ${sample} ${isRepeated(kind) ? times : ''}`)) {
      this.#possible.set(kind, (this.#possible.get(kind) ?? 0) + 1);
    }
    if (times === 0 && this.plan.places.get(kind)?.has(place.frame)) {
      return { isWrong: true, logprob: Math.log(leastProbability) };
    }
    const rate = this.plan.rates.get(kind) ?? 0;
    if (rate === 0) return { isWrong: false, logprob: 0 };
    const draws = [key, sample, isRepeated(kind) ? times : 0];
    const u = this.#even(...draws, 'u') ** ((1 - rate) / rate);
    const isWrong = this.#even(...draws, 'wrong') < u;
    return { isWrong, logprob: Math.log(Math.max(leastProbability, 1 - u)) };
  }

  /** A whole number below a limit, drawn for a place. */
  choose(limit: number, kind: FaultKind, place: FaultPlace, sample = ''): number {
    return Math.floor(this.#even(kind, place.frame, place.program, sample, 'choice') * limit);
  }

  /**
   * Records a fault that was made.
   *
   * @param isFirst whether the answer begins with it
   */
  make(
    kind: FaultKind,
    place: FaultPlace,
    sample = '',
    wrote: string | null = null,
    does: string | null = null,
    isFirst = true,
  ): void {
    const key = `${kind} ${place.frame} ${place.program}`;
    const times = this.#times.get(key) ?? 0;
    if (isFirst || kind !== 'malformed' || this.plan.places.get(kind)?.has(place.frame)) {
      this.#times.set(key, times + 1);
    }
    if (this.#isNew(`made ${key} ${sample} ${isRepeated(kind) ? times : ''}`)) {
      this.#made.push({ kind, frame: place.frame, wrote, does });
    }
  }

  #isNew(key: string): boolean {
    const { size } = this.#counted;
    return this.#counted.add(key).size > size;
  }

  /** A number from 0 to less than 1 that depends on nothing but the seed and what is given. */
  #even(...what: readonly (string | number)[]): number {
    const digest = createHash('sha256')
      .update(JSON.stringify([this.plan.seed, ...what]))
      .digest();
    return digest.readUIntBE(0, 6) / 2 ** 48;
  }
}
