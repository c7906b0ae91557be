import type { CodeUnit } from '../python/codeUnits';
import type { PythonSource } from '../python/source';
import type { Frame, Trajectory } from '../trajectory/trajectory';

/**
 * The functions of a source that a name means: `f`, `Class.method`, or a name in full such as
 * `outer.<locals>.inner`, with or without `<locals>`.
 */
export function functionsNamed(source: PythonSource, name: string): readonly CodeUnit[] {
  const wanted = normalized(name);
  if (wanted === '') return [];
  return source.units.filter(
    (unit) => unit.kind !== 'module' && `.${normalized(unit.qualifiedName)}`.endsWith(`.${wanted}`),
  );
}

function normalized(name: string): string {
  return name.trim().replace(/\(\)$/, '').replaceAll('<locals>.', '').normalize('NFKC');
}

/**
 * Whether a state is the first line of a call of one of some functions, or may be; a generator that goes on is no
 * call.
 */
export function isEntryOf(units: readonly CodeUnit[], trajectory: Trajectory, index: number): boolean {
  if (trajectory.event(index) !== 'line') return false;
  const frame = trajectory.frame(index);
  if (frame.resumed || trajectory.previousInFrame(index) !== frame.firstState) return false;
  return units.some(
    (unit) => isFrameOf(unit, trajectory, frame) || mayBeFrameOf(unit, trajectory, frame, index),
  );
}

/** Whether a frame runs a code object. */
export function isFrameOf(unit: CodeUnit, trajectory: Trajectory, frame: Frame): boolean {
  if (unit.name !== frame.function) return false;
  const line = trajectory.line(frame.firstState);
  // A frame whose call was not seen begins anywhere in its code.
  if (trajectory.event(frame.firstState) !== 'call') return line >= unit.firstLine && line <= unit.lastLine;
  return line === unit.callLine || line === unit.headerLine;
}

/** Whether the places that are in doubt in a frame's first two states leave it open that it runs a code object. */
function mayBeFrameOf(unit: CodeUnit, trajectory: Trajectory, frame: Frame, entry: number): boolean {
  if (unit.name !== frame.function) return false;
  const called = trajectory.prediction(frame.firstState).otherLines;
  const entered = trajectory.prediction(entry).otherLines;
  return (
    called.includes(unit.callLine) ||
    called.includes(unit.headerLine) ||
    entered.some((line) => unit.entryLines.includes(line))
  );
}
