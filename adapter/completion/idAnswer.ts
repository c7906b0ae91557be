import type { AnswerPiece } from './answerChunk';
import type { ControlText, Token } from './completion';
import type { TokenIds } from './tokenIds';

/** Text at the end of a piece that may become control text by what follows. */
const openEnd = /<\|?\w{0,60}\u200b*\|?$|<$/;

/** A piece of an answer as its readers take it. */
interface ReadPiece {
  readonly text: string;
  readonly tokens: readonly Token[];
}

/** A part of an answer between control tokens, or a control token. */
interface Run {
  readonly text: string;
  readonly isControl: boolean;
  readonly tokens: readonly Token[];
  readonly ids: readonly number[];
}

/**
 * Reads an answer by its token ids: the ids tell which texts are control tokens, all others are escaped. Servers
 * leave the control tokens' own texts out, or send them; both are the same here.
 */
export class IdAnswer {
  /** Text that may become control text by what follows. */
  #held = '';
  /** What has come since the last control token. */
  #text = '';
  #ids: number[] = [];
  /** Whether those are all ids of that text. */
  #isWhole = true;

  constructor(
    private readonly ids: TokenIds,
    private readonly control: ControlText,
  ) {}

  read(piece: AnswerPiece): ReadPiece {
    let text = '';
    this.#isWhole &&= piece.areIdsWhole;
    const tokens: Token[] = [];
    for (const run of this.#runs(piece)) {
      tokens.push(...run.tokens);
      if (run.isControl) {
        text += this.#release() + run.text;
        if (this.#isWhole) this.ids.learn(this.#text, this.#ids);
        this.#text = '';
        this.#ids = [];
        this.#isWhole = piece.areIdsWhole;
        continue;
      }
      this.#ids.push(...run.ids);
      const all = this.#held + run.text;
      const open = openEnd.exec(all)?.index ?? all.length;
      this.#held = all.slice(open);
      text += this.#escaped(all.slice(0, open));
    }
    if (piece.finish !== null) text += this.#release();
    return { text, tokens };
  }

  #release(): string {
    const held = this.#held;
    this.#held = '';
    return this.#escaped(held);
  }

  #escaped(text: string): string {
    const escaped = this.control.escape(text);
    this.#text += escaped;
    return escaped;
  }

  /** The piece in runs: its text is cut where its ids say that there is a control token. */
  #runs({ text, tokens, ids }: AnswerPiece): Run[] {
    const runs: Run[] = [];
    let rest = text;
    let from = 0;
    const all = ids ?? [];
    const told = tokens.length === all.length ? tokens : null;
    const add = (to: number, content: string): void => {
      if (to > from || content !== '') {
        runs.push({
          text: content,
          isControl: false,
          tokens: told?.slice(from, to) ?? [],
          ids: all.slice(from, to),
        });
      }
    };
    for (const [index, id] of all.entries()) {
      const control = this.ids.controlText(id);
      if (control === null) continue;
      const content = contentBefore(rest, control, told?.slice(from, index) ?? null);
      add(index, content);
      rest = rest.slice(content.length);
      if (rest.startsWith(control)) rest = rest.slice(control.length);
      const logprob = told?.[index]?.logprob ?? null;
      runs.push({ text: control, isControl: true, tokens: [{ text: control, logprob }], ids: [id] });
      from = index + 1;
    }
    add(all.length, rest);
    return runs;
  }
}

/** The text before a control token: up to its text, if the server sends that, else as long as its tokens. */
function contentBefore(rest: string, control: string, tokens: readonly Token[] | null): string {
  const length = tokens?.reduce((sum, token) => sum + token.text.length, 0) ?? null;
  if (length !== null && rest.startsWith(control, length)) return rest.slice(0, length);
  const at = rest.indexOf(control);
  if (at >= 0) return rest.slice(0, at);
  return length === null ? rest : rest.slice(0, length);
}
