import { asCatalogueError, type CatalogueError } from '../errors';
import { shownText } from '../shownText';
import { lineProblem, readHeaderLine, readStepLine } from '../trajectory/recording';
import { placeIn, type Span, syntaxErrorIn } from './jsonPlaces';
import { Breath, maxProblems, maxTraceLength, TraceBuilder, type TraceDocument } from './traceDocument';

const stepInto = { name: 'step_into' } as const;

/**
 * Reads the text of a recording as far as it goes: lines that are wrong are reported, and left out.
 *
 * @param name what the text is called in messages
 * @param signal aborted when the result is not wanted any more; the promise then rejects with its reason
 */
export async function readRecordingText(
  text: string,
  name: string,
  signal: AbortSignal | null = null,
): Promise<TraceDocument> {
  const breath = new Breath();
  const headerEnd = lineEnd(text, 0);
  const builder = begin(text.slice(0, headerEnd), name);
  const length = Math.min(text.length, maxTraceLength);
  let last = -1;
  let hasEnded = false;
  let number = 1;
  for (let start = headerEnd + 1; start < text.length;) {
    const end = lineEnd(text, start);
    if (end > length || builder.isFull || builder.problems.length >= maxProblems) {
      builder.reportRest(start, text.length);
      break;
    }
    number++;
    const line = text.slice(start, end);
    if (line.trim() !== '') {
      const span = { start, end };
      if (hasEnded) {
        builder.report(trimmed(line, start), 'Nothing may follow the end.', 601);
        break;
      }
      try {
        const step = readStepLine(line, name, number);
        if (step.kind === 'end') {
          builder.trajectory.end(last, step);
          hasEnded = true;
        } else {
          last = builder.trajectory.append(last, stepInto, step);
          builder.spans.push(span);
        }
      } catch (thrown) {
        reportLine(builder, line, number, start, asCatalogueError(thrown));
      }
    }
    start = end + 1;
    await breath.take(signal);
  }
  return builder;
}

function begin(line: string, name: string): TraceBuilder {
  try {
    const { program, world } = readHeaderLine(line, name);
    return new TraceBuilder(program, world);
  } catch (thrown) {
    const builder = new TraceBuilder(null, { name: 'an unknown world', isReal: false });
    reportLine(builder, line, 1, 0, asCatalogueError(thrown));
    return builder;
  }
}

/** Reports a line at the part of it that is wrong. */
function reportLine(
  builder: TraceBuilder,
  line: string,
  number: number,
  start: number,
  error: CatalogueError,
): void {
  const problem = lineProblem(line, number);
  const place = problem === null ? placeIn(line, ['version']) : placeOf(line, problem.path);
  const path = problem?.path?.map(String).join('.') ?? '';
  const said = problem ? `${path === '' ? '' : `${path}: `}${problem.message}` : error.message;
  builder.report(
    { start: start + place.start, end: start + place.end },
    shownText(`${said[0]?.toUpperCase() ?? ''}${said.slice(1)}.`.replace(/\.+$/, '.')),
    error.code,
  );
}

function placeOf(line: string, path: readonly PropertyKey[] | null): Span {
  return path === null ? (syntaxErrorIn(line) ?? trimmed(line, 0)) : placeIn(line, path);
}

function trimmed(line: string, start: number): Span {
  const before = line.length - line.trimStart().length;
  return { start: start + before, end: start + Math.max(before, line.trimEnd().length) };
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}
