import type { CompletionChunk } from '../../completion/completion';
import { errors } from '../../errors';
import type { Ending, Prediction, State, Step } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';
import { leastOf, TokenSpans } from '../cwm/tokenSpans';
import type { StepReader } from '../format';
import { type ChatFrame, framesAfter } from './callStack';
import { readLooseObject } from './looseJson';
import { type FoundObject, ObjectScanner } from './objectScanner';
import { place, type PlacingContext } from './placement';
import {
  type AnsweredState,
  answerWithoutThought,
  isInsideState,
  isState,
  readAnsweredState,
  saysEnded,
} from './stateReading';

const thoughtOpening = /^<(think|thinking|thought|reasoning)>/;
/** The length of the longest opening of a thought. */
const longestOpening = 11;

/**
 * Reads a chat model's answer. States are given as they are complete. An answer that begins with words is
 * read at its end only: they may be thoughts, with states that are not meant.
 */
export class ChatReader implements StepReader {
  readonly #spans = new TokenSpans();
  readonly #frames: ChatFrame[];
  #text = '';
  /** Where the rest that is not looked at begins. */
  #from = 0;
  #part: 'start' | 'thought' | 'words' | 'json' = 'start';
  #thoughtEnd = '';
  #scanner: ObjectScanner | null = null;
  /** Whether the answer began with the state that it should follow. */
  #repeated = false;
  /** The newest state that was found in the answer. */
  #newest: FoundObject | null = null;
  /** Up to where tokens were counted. */
  #counted = 0;
  #given = 0;
  #saysEnded = false;
  #isOver = false;

  constructor(
    private readonly context: PlacingContext,
    private readonly trajectory: Trajectory,
    private readonly at: number,
  ) {
    this.#frames = framesAfter(trajectory, at);
  }

  read(chunk: CompletionChunk): readonly Step[] {
    if (chunk.kind === 'end') return this.#finish(chunk.reason);
    this.#text += chunk.text;
    this.#spans.add(chunk.text, chunk.tokens);
    this.#begin();
    return this.#scanner ? this.#take(this.#scanner.scan(this.#text)) : [];
  }

  /** Passes over thoughts, up to where the answer itself begins. */
  #begin(): void {
    while (this.#part === 'start' || this.#part === 'thought') {
      if (this.#part === 'thought') {
        const end = this.#text.indexOf(this.#thoughtEnd, this.#from);
        if (end < 0) {
          this.#from = Math.max(this.#from, this.#text.length - this.#thoughtEnd.length);
          return;
        }
        this.#from = end + this.#thoughtEnd.length;
        this.#part = 'start';
      }
      const rest = /\S[^]{0,20}/.exec(this.#text.slice(this.#from))?.[0];
      if (rest === undefined) return;
      const thought = thoughtOpening.exec(rest);
      if (thought) {
        this.#part = 'thought';
        this.#thoughtEnd = `</${thought[1] ?? ''}>`;
        this.#from = this.#text.indexOf(thought[0], this.#from) + thought[0].length;
      } else if (rest.startsWith('<') && rest.length < longestOpening && !rest.includes('>')) return;
      else if (/^[{[`]/.test(rest)) {
        this.#part = 'json';
        this.#scanner = new ObjectScanner(this.#from);
      } else this.#part = 'words';
    }
  }

  #take(found: readonly FoundObject[]): Step[] {
    const steps: Step[] = [];
    for (const object of found) {
      if (object.keys.some(isInsideState)) continue;
      const map = readLooseObject(this.#text, object.start, object.end);
      this.#saysEnded ||= saysEnded(map);
      // What holds a state that was taken is not one itself.
      if (!isState(map) || (this.#newest && object.start <= this.#newest.start)) continue;
      const answered = readAnsweredState(map);
      if (!answered) continue;
      const isFirst = this.#newest === null;
      this.#newest = object;
      if (isFirst && this.#repeats(answered)) this.#repeated = true;
      else steps.push(...this.#steps(answered, object));
    }
    return steps;
  }

  #steps(answered: AnsweredState, object: FoundObject): Step[] {
    if (this.#isOver) return [];
    const confidence = ({ start, end }: { readonly start: number; readonly end: number }) =>
      this.#spans.leastProbability(start, end);
    const { predictions, isLast, raised } = place(answered, this.#frames, this.context, confidence);
    const text = this.#text.slice(object.start, object.end);
    const position = answered.position.map(confidence).reduce(leastOf, null);
    const tokens = this.#countTokens(object.end);
    this.#given++;
    const steps: Step[] = predictions.map((placement, index): Prediction => {
      const isAnswered = index === predictions.length - 1;
      return {
        kind: 'state',
        ...placement,
        activation: null,
        confidence: isAnswered ? position : null,
        otherLines: [],
        text: isAnswered ? text : null,
        output: isAnswered ? answered.output : null,
        tokens: isAnswered ? tokens : 0,
      };
    });
    if (isLast) {
      this.#isOver = true;
      steps.push(ending(raised, []));
    }
    return steps;
  }

  /** The tokens of the answer up to a place since the last one; an estimate where the server tells none. */
  #countTokens(end: number): number {
    const told = this.#spans.dropBefore(end);
    const length = end - this.#counted;
    this.#counted = end;
    return told > 0 ? told : Math.ceil(length / 4);
  }

  #finish(reason: 'stop' | 'length'): Step[] {
    const steps: Step[] = [];
    if (!this.#scanner && this.#part !== 'thought') {
      const answer = answerWithoutThought(this.#text.slice(this.#from)) ?? 0;
      this.#scanner = new ObjectScanner(this.#from + answer);
      steps.push(...this.#take(this.#scanner.scan(this.#text)));
    }
    // A state that the token limit cut off is not known; one that the model left open may be whole.
    if (this.#scanner && reason === 'stop') {
      const before = this.#given;
      for (const object of this.#scanner.unfinished) {
        steps.push(...this.#take([object]));
        if (this.#given > before) break;
      }
    }
    if (this.#saysEnded && !this.#isOver) {
      const end = this.#end();
      if (end) steps.push(end);
    }
    if (this.#given === 0 && steps.length === 0) throw this.#nothing(reason);
    return steps;
  }

  /** The end that the model tells without the return of the bottom frame, where it can be believed. */
  #end(): Ending | null {
    const top = this.#frames.at(-1);
    const raised = top?.raised ?? null;
    // Small models say at every state that it is the last.
    if (this.#given > 0 && raised === null && this.#frames.length > 1) return null;
    return ending(
      raised,
      top ? [`The model says that the program ended here; ${top.function} was not left.`] : [],
    );
  }

  /**
   * Whether the answer's first state is the one that it should follow: models like to begin with it. A line
   * that control can go to from itself, as in a loop on one line, may well come twice.
   */
  #repeats(answered: AnsweredState): boolean {
    if (this.at < 0 || answered.function === null) return false;
    const { functions } = this.context;
    const before = this.trajectory.state(this.at);
    const name = functions.resolve(answered.function);
    if (answered.event !== before.event || name !== before.function) return false;
    if (before.event === 'call' && name === '<module>') return true;
    return (
      answered.line === before.line &&
      sameLocals(answered, before) &&
      (before.event !== 'line' || functions.lineDoubt(name, before.line, before) !== null)
    );
  }

  #nothing(reason: 'stop' | 'length') {
    const answer = this.#text.trim();
    if (answer === '') return errors.chatEmpty();
    if (this.#part === 'thought') return errors.chatOnlyThought();
    if (this.#repeated) return errors.chatRepeats();
    const began = answer.slice(0, 200).replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
    return reason === 'length' ? errors.chatCut(began) : errors.chatUnreadable(began);
  }
}

function ending(raised: string | null, notes: readonly string[]): Ending {
  const how = raised === null ? 'returned' : /^SystemExit\b/.test(raised) ? 'exited' : 'raised';
  return { kind: 'end', how, notes, text: null, output: null };
}

function sameLocals({ locals }: AnsweredState, before: State): boolean {
  if (!locals || !before.locals || locals.size !== before.locals.size) return false;
  for (const [name, { repr }] of locals) if (before.locals.get(name)?.repr !== repr) return false;
  return true;
}
