import type { CompletionChunk } from '../../completion/completion';
import { errors } from '../../errors';
import { controlTokens } from './tokens';
import { TokenSpans } from './tokenSpans';

/** A frame's text in an answer. */
export interface AnswerFrame {
  readonly text: string;
  /** Where the frame begins in the answer, in UTF-16 units. */
  readonly at: number;
}

/** A frame longer than this, in UTF-16 units, is taken for a model that has lost its way. */
const maxFrameLength = 1 << 20;

/** So much text without a control token means that the server does not give them. */
const maxLengthWithoutControl = 500;

/** Cuts an answer that arrives in pieces of any size into the texts of its frames. */
export class AnswerText {
  readonly tokens = new TokenSpans();
  /** Text that no frame was made of yet, and where it begins in the answer. */
  #rest = '';
  #restAt = 0;
  /** Where in the rest the end of a frame has not been looked for. */
  #searchFrom = 0;
  #hasEnded = false;

  /** Whether the trace itself ended, which the token limit does not tell. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Once the trace has ended: what stands after the last frame's end, without spaces around. */
  get rest(): AnswerFrame {
    return { text: this.#rest, at: this.#restAt };
  }

  /**
   * The frames that a piece of the answer completes.
   *
   * @throws CatalogueError for text that cannot become frames; the frames before it come first
   */
  *add(chunk: CompletionChunk): Generator<AnswerFrame> {
    if (this.#hasEnded) return;
    if (chunk.kind === 'text') {
      this.tokens.add(chunk.text, chunk.tokens);
      this.#rest += chunk.text;
      yield* this.#completed();
    } else if (chunk.reason === 'stop' && chunk.stopString === controlTokens.frameEnd) {
      yield { text: this.#rest + controlTokens.frameEnd, at: this.#restAt };
    } else if (chunk.reason === 'stop' && chunk.stopString === null) {
      this.#hasEnded = true;
      this.#checkControl(0);
    } else {
      // The rest is a frame that was cut: the next answer begins it anew.
      this.#checkControl(maxLengthWithoutControl);
    }
  }

  *#completed(): Generator<AnswerFrame> {
    const text = this.#rest;
    const at = this.#restAt;
    const { frameEnd, endOfText } = controlTokens;
    const traceEnd = text.indexOf(endOfText, this.#searchFrom);
    let begin = 0;
    for (;;) {
      const end = text.indexOf(frameEnd, Math.max(begin, this.#searchFrom));
      if (end < 0 || (traceEnd >= 0 && end > traceEnd)) break;
      const next = end + frameEnd.length;
      yield { text: text.slice(begin, next), at: at + begin };
      begin = next;
    }
    this.#rest = traceEnd < 0 ? text.slice(begin) : text.slice(begin, traceEnd);
    this.#restAt = at + begin;
    this.#hasEnded = traceEnd >= 0;
    // A control token may be cut by the end of the piece.
    this.#searchFrom = Math.max(0, this.#rest.length - endOfText.length);
    if (this.#rest.length > maxFrameLength) throw errors.endlessFrame(maxFrameLength);
    this.#checkControl(maxLengthWithoutControl);
  }

  /** A server that leaves control tokens out gives text in which no frame ever ends. */
  #checkControl(length: number): void {
    if (this.#restAt === 0 && this.#rest.trim().length > length && !this.#rest.includes('<|')) {
      throw errors.noControlTokens();
    }
  }
}
