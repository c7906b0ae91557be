export type EventKind = 'call' | 'line' | 'return' | 'exception';

/** A Python value as it is shown: the text of its repr. */
export interface Value {
  /** The repr, or null where it is not known. */
  readonly repr: string | null;
  /** The probability that the repr is right, 0 to 1, or null where nothing says. */
  readonly confidence: number | null;
}

/** A frame's local variables in the order in which they were given. */
export type Locals = ReadonlyMap<string, Value>;

/**
 * One trace event of a program, in CPython's terms. A line event comes before its line runs. A generator's
 * `yield` is a return event, its resumption a call event. An exception event does not end a frame.
 */
export interface State {
  readonly event: EventKind;
  /** The code's name: `f`, `<module>`, `<lambda>`, `<listcomp>`. */
  readonly function: string;
  /** The line in the program's source, from 1; the module's call event has 0. */
  readonly line: number;
  /** The thread's name, or null for the main thread. */
  readonly thread: string | null;
  /** All locals of the frame, or null where the state does not carry them. */
  readonly locals: Locals | null;
  /** A return event's value, or an exception as `Type(arguments)`; null for other events. */
  readonly argument: Value | null;
}

/** A state as a world gives it, with what is known about how it came to be. */
export interface Prediction {
  readonly kind: 'state';
  readonly state: State;
  /**
   * On call events, which Python frame is entered: an equal number seen before in the trajectory means that
   * the call resumes that generator or coroutine. Null: a new frame.
   */
  readonly activation: number | null;
  /** How many frames were left since the state before without a return event of theirs. */
  readonly unwinds: number;
  /** The probability of the event and the line, 0 to 1, or null where nothing says. */
  readonly confidence: number | null;
  /** Why the state may be wrong, as a sentence, or null. */
  readonly doubt: string | null;
  /** Other lines that the state may be on, likeliest first. */
  readonly otherLines: readonly number[];
  /** The model's own text of this state, to be sent back as it was; null where no model wrote it. */
  readonly text: string | null;
  /** What the program wrote to standard output since the state before, or null where nothing says. */
  readonly output: string | null;
  /** How many tokens were generated for it. */
  readonly tokens: number;
}

/** The end of a trajectory: nothing follows the state before. */
export interface Ending {
  readonly kind: 'end';
  /**
   * `returned`: the entry point was left normally; `raised`: by an exception; `exited`: by SystemExit or an
   * exit of the process; `cut`: the world cannot see further.
   */
  readonly how: 'returned' | 'raised' | 'exited' | 'cut';
  /** What the reader should know, in sentences: a limit that was reached, what could not be seen. */
  readonly notes: readonly string[];
  /** The model's own text, as in a prediction. */
  readonly text: string | null;
  /** What the program wrote to standard output after the last state. */
  readonly output: string | null;
}

/** What a world gives, in the order of execution. */
export type Step = Prediction | Ending;

/** A prediction about which nothing but the state is known. */
export function plainPrediction(state: State): Prediction {
  return {
    kind: 'state',
    state,
    activation: null,
    unwinds: 0,
    confidence: null,
    doubt: null,
    otherLines: [],
    text: null,
    output: null,
    tokens: 0,
  };
}
