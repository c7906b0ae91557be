import { shortText, shownText } from '../shownText';
import type { RecordedWorld } from '../trajectory/recording';
import type { Locals, Value } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';

/** More locals than this are not listed in a hover. */
const maxLocals = 40;
/** Longer values are cut in a hover, in UTF-16 units. */
const maxValue = 200;

/** Text as Markdown that shows it as it is: no links, no HTML, no emphasis. */
export function plainMarkdown(text: string): string {
  return shownText(text)
    .replace(/[\t\n]+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-.!|<>~&$:@/]/g, (mark) => `\\${mark}`);
}

/** A block of Python that nothing inside can end. */
export function pythonBlock(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}python\n${code}\n${fence}`;
}

/** How a world's values are to be called. */
export function worldText({ name, isReal }: RecordedWorld): string {
  return isReal ? `a real run: ${shownText(name)}` : `predicted: ${shownText(name)}`;
}

/** A value on one line; what is not known says so. */
export function valueText({ repr }: Value, most = maxValue): string {
  return repr === null ? '…  # not known' : shortText(repr, most).replace(/[\t\n]+/g, ' ');
}

/**
 * Locals as Python, a name a line.
 *
 * @param others those to compare with, and the word for them: `was` or `then`
 */
export function localsText(
  locals: Locals,
  others: { readonly locals: Locals; readonly word: string } | null = null,
): string[] {
  const lines = [...locals].slice(0, maxLocals).map(([name, value]) => {
    const notes: string[] = [];
    const other = others?.locals.get(name);
    if (others && other && other.repr !== value.repr) {
      notes.push(`${others.word} ${valueText(other, 60)}`);
    }
    if (value.confidence !== null && value.confidence < 0.95) notes.push(percent(value.confidence));
    const text = `${shownText(name)} = ${valueText(value)}`;
    return notes.length === 0 ? text : `${text}  # ${notes.join(', ')}`;
  });
  const rest = locals.size - maxLocals;
  return rest > 0 ? [...lines, `# and ${rest} more`] : lines;
}

/** A probability as a whole percentage that is never rounded up to certainty. */
function percent(probability: number): string {
  return `${Math.floor(probability * 100)}%`;
}

const events = {
  call: 'is entered on',
  line: 'before',
  return: 'returns from',
  exception: 'raises on',
} as const;

/** A state as Markdown: where it is, the source line, its value, and the frame's locals. */
export function stateMarkdown(trajectory: Trajectory, index: number, world: RecordedWorld): string {
  const frame = trajectory.frame(index);
  const line = trajectory.line(index);
  const event = trajectory.event(index);
  const { confidence, doubt } = trajectory.prediction(index);
  const argument = trajectory.argument(index);
  const code = sourceLine(trajectory, line);
  const known = trajectory.locals(index);
  const before = trajectory.previousInFrame(index);
  const old = before === null ? null : trajectory.locals(before);
  const listed = known ? localsText(known.locals, old && { locals: old.locals, word: 'was' }) : [];
  const asOf = known && known.state !== index ? [`# as of line ${trajectory.line(known.state)}`] : [];
  const value =
    argument === null ? [] : [`# ${event === 'exception' ? 'raises' : 'returns'} ${valueText(argument)}`];
  const sure = confidence === null ? '' : `, ${percent(confidence)} sure`;
  const parts = [
    `**${plainMarkdown(frame.function)}** ${events[event]} line ${line}, depth ${frame.depth} (${plainMarkdown(worldText(world))}${sure})`,
    pythonBlock([...(code === null ? [] : [code]), ...value].join('\n') || '# no source'),
  ];
  if (listed.length > 0) parts.push(pythonBlock([...asOf, ...listed].join('\n')));
  if (doubt !== null) parts.push(`Doubtful: ${plainMarkdown(doubt)}`);
  return parts.join('\n\n');
}

const sourceLines = new WeakMap<Trajectory, readonly string[]>();

/** The text of a line of a trajectory's program, made safe to show; null where there is none. */
export function sourceLine(trajectory: Trajectory, line: number): string | null {
  let lines = sourceLines.get(trajectory);
  if (!lines) sourceLines.set(trajectory, (lines = trajectory.program.source.split(/\r\n|\r|\n/)));
  const text = lines[line - 1];
  return text === undefined ? null : shortText(text.trim(), 500);
}
