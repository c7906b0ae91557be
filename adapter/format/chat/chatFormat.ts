import type { Prompt } from '../../completion/completion';
import { scriptBeginning } from '../../python/script';
import type { PythonSource } from '../../python/source';
import type { Program } from '../../trajectory/program';
import type { WhatIf } from '../../trajectory/action';
import { plainPrediction, type State, type Step } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';
import type { Format, QuestionFormat, StepReader } from '../format';
import { answerSchema } from './answerSchema';
import { Functions } from './functions';
import type { PlacingContext } from './placement';
import { chatMessages, valueLength } from './prompt';
import { questionPrompt, readGuess } from './question';
import { ChatReader } from './reader';

/** The format for general instruct models behind a chat route: states as JSON, held to a schema. */
export function createChatFormat(program: Program, source: PythonSource): Format {
  return new ChatFormat(program, source);
}

class ChatFormat implements Format {
  readonly name = 'chat';
  readonly opening: readonly Step[];
  readonly questions: QuestionFormat;
  readonly #context: PlacingContext;
  readonly #schema;

  constructor(
    private readonly program: Program,
    private readonly source: PythonSource,
  ) {
    this.opening = program.entry === null ? [plainPrediction(moduleCall())] : [];
    this.#schema = { name: 'states', schema: answerSchema(source) };
    this.#context = {
      functions: new Functions(source),
      lineCount: source.lines.length,
      beginning: program.entry === null ? scriptBeginning(source) : null,
      entry: entryName(program.entry),
    };
    const { beginning } = this.#context;
    this.questions = {
      kind: 'words',
      prompt: (question) => questionPrompt(program, source, beginning, question),
      read: readGuess,
    };
  }

  prompt(trajectory: Trajectory, from: number, wanted: 'one' | 'many'): Prompt {
    const { beginning } = this.#context;
    return {
      kind: 'chat',
      messages: chatMessages(this.program, this.source, beginning, trajectory, from, wanted),
      schema: this.#schema,
    };
  }

  reader(trajectory: Trajectory, from: number): StepReader {
    return new ChatReader(this.#context, trajectory, from);
  }

  /** Everything but other threads than the main one. */
  project(state: State): State | null {
    return state.thread === null ? state : null;
  }

  /** Any line or call of the main thread can be told with other values, as long as they are told whole. */
  whatIfProblem(trajectory: Trajectory, state: number, { locals }: WhatIf): string | null {
    if (trajectory.frame(state).thread !== null) return 'Other threads than the main one are not predicted.';
    const event = trajectory.event(state);
    if (event === 'return' || event === 'exception') {
      return `What follows ${event === 'return' ? 'a return' : 'an exception'} does not depend on the locals there: go to a line before or after it.`;
    }
    if (trajectory.line(state) === 0) return 'Before the first line there is nothing to change.';
    const long = [...locals].find(([, repr]) => repr.length > valueLength);
    return long
      ? `The value of ${long[0]} is longer than the ${valueLength} characters that are told.`
      : null;
  }
}

/** What every script begins with. */
function moduleCall(): State {
  return { event: 'call', function: '<module>', line: 0, thread: null, locals: new Map(), argument: null };
}

/** The name of the function that a call enters, where the call names it plainly. */
function entryName(entry: string | null): string | null {
  return /^\s*(?:[^\W\d][\w.]*\.)?([^\W\d]\w*)\s*\(/u.exec(entry ?? '')?.[1] ?? null;
}
