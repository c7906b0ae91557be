import { splitFrame } from '../format/cwm/frames';
import { jsonString, readJsonObject } from '../format/cwm/json';
import { controlTokens, mendControlText, unchanged, withoutLineEnd } from '../format/cwm/tokens';
import { isLiteral } from '../python/repr';
import type { RunEdit } from '../python/tracer';
import type { FaultPlace, Faults } from './faults';
import type { Odds } from './model';
import type { TraceFrame } from './traceFrame';

/** A frame as a model that errs writes it. */
export interface ErringFrame {
  readonly text: string;
  readonly odds: readonly Odds[];
  /** What would make the program do what the frame says; null where it is right, or nothing would. */
  readonly edit: RunEdit | null;
  readonly isWrong: boolean;
}

/** A part of a frame that can be wrong. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly wrong: string;
  readonly edit: RunEdit;
}

/**
 * Writes a frame with the faults that are drawn for it. Only values that a call or line frame writes in full can
 * be wrong, and only where they are literals; only line frames can be on another line.
 *
 * @param isFirst whether an answer begins with the frame
 * @param otherLines the lines of the frame's function, by number, with their texts
 * @param canBe whether the program could be made to go on from another line, where it is to go on from there
 */
export async function erringFrame(
  frame: TraceFrame,
  faults: Faults,
  place: FaultPlace,
  sample: string,
  isFirst: boolean,
  otherLines: ReadonlyMap<number, string>,
  canBe: (edit: RunEdit) => Promise<boolean>,
): Promise<ErringFrame> {
  const malformed = faults.draw('malformed', place, sample);
  if (malformed.isWrong) {
    const text = malformedFrame(frame.text, faults.choose(5, 'malformed', place, sample));
    faults.make('malformed', place, sample, text, frame.text, isFirst);
    return { text, odds: [{ at: 0, logprob: malformed.logprob }], edit: null, isWrong: true };
  }
  const odds: Odds[] = malformed.logprob < 0 ? [{ at: 0, logprob: malformed.logprob }] : [];
  const wrong: Part[] = [];
  for (const kind of ['wrong-value', 'wrong-line'] as const) {
    const choose = (limit: number) => faults.choose(limit, kind, place, sample);
    const part =
      kind === 'wrong-value' ? valuePart(frame, place, choose) : linePart(frame, place, otherLines, choose);
    if (!part) continue;
    const draw = faults.draw(kind, place, sample);
    if (draw.logprob < 0) odds.push({ at: part.start, logprob: draw.logprob });
    if (!draw.isWrong || (kind === 'wrong-line' && !(await canBe(part.edit)))) continue;
    faults.make(kind, place, sample, part.wrong, frame.text.slice(part.start, part.end));
    wrong.push(part);
  }
  let { text } = frame;
  let shift = 0;
  const shifted = odds.map(({ at, logprob }) => {
    const before = wrong.find(({ end }) => end <= at);
    return { at: before ? at + before.wrong.length - (before.end - before.start) : at, logprob };
  });
  for (const { start, end, wrong: by } of wrong) {
    text = text.slice(0, start + shift) + by + text.slice(end + shift);
    shift += by.length - (end - start);
  }
  const [first] = wrong;
  const edit = first && {
    at: place.frame,
    locals: new Map(wrong.flatMap((part) => [...part.edit.locals])),
    lines: wrong.at(-1)?.edit.lines ?? null,
  };
  return { text, odds: shifted, edit: edit ?? null, isWrong: wrong.length > 0 };
}

function valuePart(
  { text }: TraceFrame,
  { frame }: FaultPlace,
  choose: (limit: number) => number,
): Part | null {
  const { kind, locals } = splitFrame(text);
  if (kind?.event !== 'call' && kind?.event !== 'line') return null;
  const parts: Part[] = [];
  for (const [name, { text: value, start, end }] of readJsonObject(locals.text) ?? []) {
    const other = value === unchanged ? null : otherLiteral(value, choose(1 << 30));
    if (other === null) continue;
    parts.push({
      start: locals.start + start + 1,
      end: locals.start + end - 1,
      wrong: jsonString(other).slice(1, -1),
      edit: {
        at: frame,
        locals: new Map([[mendControlText(name), mendControlText(other)]]),
        lines: null,
      },
    });
  }
  return parts[choose(parts.length)] ?? null;
}

function linePart(
  { text }: TraceFrame,
  { frame }: FaultPlace,
  otherLines: ReadonlyMap<number, string>,
  choose: (limit: number) => number,
): Part | null {
  const { kind, line } = splitFrame(text);
  if (kind?.event !== 'line' || !line) return null;
  const own = withoutLineEnd(line.text);
  const others = [...otherLines].filter(([, other]) => {
    const plain = withoutLineEnd(other);
    // A text that stands on two lines would not say which of them is meant.
    const isOne = [...otherLines.values()].filter((each) => withoutLineEnd(each) === plain).length === 1;
    return isOne && plain !== own && plain.trim() !== '';
  });
  const chosen = others[choose(others.length)];
  if (!chosen) return null;
  const [number, other] = chosen;
  return {
    start: line.start,
    end: line.start + line.text.length,
    wrong: other,
    edit: { at: frame, locals: new Map(), lines: [number] },
  };
}

const atom =
  /[bB]?'(?:[^'\\]|\\.)*'|[bB]?"(?:[^"\\]|\\.)*"|(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])|True|False/g;
const empty: ReadonlyMap<string, string> = new Map([
  ['[]', '[0]'],
  ['()', '(0,)'],
  ['{}', '{0: 0}'],
  ['set()', '{0}'],
]);

/** Another literal of the same type, or null for what is none. */
export function otherLiteral(repr: string, choice: number): string | null {
  if (!isLiteral(repr)) return null;
  const filled = empty.get(repr);
  if (filled !== undefined) return filled;
  const atoms = [...repr.matchAll(atom)];
  const found = atoms[choice % Math.max(1, atoms.length)];
  if (!found) return null;
  for (let step = 1; step < 50; step++) {
    const by = otherAtom(found[0], step);
    const other = repr.slice(0, found.index) + by + repr.slice(found.index + found[0].length);
    // A key or an item that is there already would make the value another one than it looks.
    const isThere = atoms.some(([each]) => each === by);
    if ((!isThere || by === 'True' || by === 'False') && other !== repr && isLiteral(other)) return other;
  }
  return null;
}

function otherAtom(text: string, step: number): string {
  if (text === 'True') return 'False';
  if (text === 'False') return 'True';
  if (/^\d+$/.test(text)) return String(BigInt(text) + BigInt(step));
  if (/^\d/.test(text)) return pythonFloat(Number(text) + step / 2);
  return text.slice(0, -1) + 'x'.repeat(step) + text.slice(-1);
}

function pythonFloat(value: number): string {
  const text = String(value).replace(/e\+?(-?)(\d)$/, 'e$10$2');
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** A text in place of a frame that cannot be read as one. */
function malformedFrame(text: string, way: number): string {
  const { action, frameEnd } = controlTokens;
  const { kind, locals, line } = splitFrame(text);
  const afterKind = text.slice(kind ? locals.start : 0);
  switch (way) {
    case 0: // No kind.
      return afterKind;
    case 1: // No line.
      return `${text.slice(0, locals.start)}${locals.text}${frameEnd}`;
    case 2: // Locals, or a value, that end early.
      return `${text.slice(0, locals.start)}{"x": "${action}${line?.text ?? ''}${frameEnd}`;
    case 3: // A line that the source does not have.
      return `${text.slice(0, line?.start ?? 0)}    never_written(0)  # ${line?.text.trim() ?? ''}\n${frameEnd}`;
    default: // Words instead.
      return `I think that the next step is line 3.${frameEnd}`;
  }
}
