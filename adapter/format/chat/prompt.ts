import type { ChatMessage } from '../../completion/completion';
import type { PythonSource } from '../../python/source';
import type { Program } from '../../trajectory/program';
import type { Locals, State } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';

/** How many states are asked for at once where many are wanted. */
const manyStates = 16;
/** How many of the last states are told at least; at most it is less than twice as many. */
const leastStates = 16;
/** How long the told states may be together, in characters; the newest is told in any case. */
const historyLength = 24_000;
/** How long a told value may be, in characters. */
export const valueLength = 2_000;

const task = `You predict the execution of a Python program, as a debugger would show it. You do not run code: you work out what CPython 3.11 does, event by event, exactly as sys.settrace reports it for this one file.

A state is one event:
- "call": a function of this file was entered. "line" is the line of its def (of its first decorator, if it has any), "locals" are its arguments.
- "line": a line is about to run. "locals" are those BEFORE it runs; what it does shows in the next state of the same function.
- "return": a function is left, from "line"; "value" is the repr of what it returns ("None" if nothing).
- "exception": an exception is raised in, or passes through, "function" at "line"; "value" is it as "Type(arguments)".

Rules:
- Only code of this file has events. Calls of builtins and libraries have none: they are part of their line.
- When a line calls a function of this file, the next state is that function's "call", then its first "line".
- After a "return" there is no event for coming back: the next state is the caller's next "line" (or its next "call", or its "return").
- A "for" or "while" line has a "line" event before every turn, and one more at the loop's end.
- A def or class statement is a "line" event of its own. A class body, a lambda and a comprehension are functions that are called: "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"; the top level is "<module>".
- A generator's yield is a "return" event, its resumption a "call" event on the line of the yield.
- After an "exception" comes a "line" event of its handler in the same function; without one, a "return" with value "None", then the same exception in the caller, on the line of the call.
- "locals" are ALL variables of the function that are set at that time, each value as its repr: 3, 'text', [1, 2], None, <function name>, <__main__.Class object>. For "<module>" they are its globals.
- A state with "setInDebugger" was changed by a person: what it names was set so before the line runs. Go on from it as it stands.
- "value" is null for "call" and "line" events. "output" is what was printed since the state before, "" for nothing.

Answer with one JSON object and nothing else:
{"states": [{"event": "line", "function": "f", "line": 3, "locals": [{"name": "n", "value": "2"}, {"name": "s", "value": "'ab'"}], "value": null, "output": ""}], "ended": false}
The states are in the order of execution and begin right after the current state, which is not repeated. "ended" is true if the program is over after the last of them.`;

/** The messages that ask for what follows a state (-1: for the first state). */
export function chatMessages(
  program: Program,
  source: PythonSource,
  beginning: number | null,
  trajectory: Trajectory,
  from: number,
  wanted: 'one' | 'many',
): ChatMessage[] {
  const parts = [...programParts(program, source, beginning), ...situationParts(trajectory, from)];
  parts.push(
    wanted === 'one'
      ? 'Give the next state: exactly one.'
      : `Give the next states: up to ${manyStates}, fewer if the program ends or you are no longer sure.`,
  );
  return [
    { role: 'system', content: task },
    { role: 'user', content: parts.join('\n\n') },
  ];
}

/** What is told of a program: its source, and how it is run. */
export function programParts(program: Program, source: PythonSource, beginning: number | null): string[] {
  return [`The program, each line with its number:\n${numbered(source.lines)}`, entrance(program, beginning)];
}

/** What is told of the way to a state, and of the frames that are open there. */
export function situationParts(trajectory: Trajectory, from: number): string[] {
  if (from < 0) return ['Nothing has happened yet.'];
  // Shown the module's call, small models repeat it.
  if (trajectory.line(from) === 0) return ['The module was entered, and no line of it has run yet.'];
  return [
    `The last states, oldest first; the last one is the current state:\n${toldStates(trajectory, from)}`,
    `The open frames after the current state, outermost first:\n${openFrames(trajectory, from)}`,
  ];
}

function numbered(lines: readonly string[]): string {
  const width = String(lines.length).length;
  return lines.map((line, index) => `${String(index + 1).padStart(width)} | ${line}`).join('\n');
}

function entrance({ entry, args }: Program, beginning: number | null): string {
  if (entry !== null) {
    return `The file's top level has already run as an import; that is no part of the trace. The trace begins with the "call" event of what this call enters: ${entry}`;
  }
  const first =
    beginning === null
      ? ''
      : ` Its definitions and imports before line ${beginning} have already run: the first "line" event is on line ${beginning}.`;
  return `The file is run as a script (__name__ is '__main__'), with sys.argv[1:] == ${JSON.stringify(args)}.${first}`;
}

/**
 * The last states, one a line. Their beginning moves in steps, so that a server's prefix cache holds most of
 * one prompt for the next.
 */
function toldStates(trajectory: Trajectory, from: number): string {
  const path: number[] = [];
  for (let at = from; at >= 0; at = trajectory.previous(at)) path.push(at);
  const first = Math.max(0, Math.floor(path.length / leastStates) - 1) * leastStates;
  const texts: string[] = [];
  let left = historyLength;
  for (const state of path.slice(0, path.length - first)) {
    const text = stateText(trajectory, state);
    left -= text.length;
    if (left < 0 && texts.length > 0) break;
    texts.push(text);
  }
  return texts.reverse().join('\n');
}

/** A state as it is told: as the model wrote it, unless that was mended. */
function stateText(trajectory: Trajectory, index: number): string {
  const { text, doubt } = trajectory.prediction(index);
  if (text !== null && doubt === null && text.length <= historyLength / 4)
    return text.replace(/\s*\n\s*/g, ' ');
  const { event, function: name, line, locals, argument }: State = trajectory.state(index);
  return JSON.stringify({
    event,
    function: name,
    line,
    locals: locals ? toldLocals(locals) : [],
    value: argument ? toldValue(argument.repr) : null,
    output: trajectory.prediction(index).output ?? '',
    ...changedByHand(trajectory, index),
  });
}

/** A model has to know what did not follow from the program, or it would put it right. */
function changedByHand(trajectory: Trajectory, index: number): object {
  const action = trajectory.action(index);
  if (action.name !== 'what_if') return {};
  const changed = [...action.locals.keys(), ...(action.line === null ? [] : ['line'])];
  return { setInDebugger: changed };
}

function openFrames(trajectory: Trajectory, from: number): string {
  const entries = trajectory.stack(from);
  if (trajectory.event(from) === 'return') entries.shift();
  if (entries.length === 0) return 'none';
  return entries
    .reverse()
    .map(({ frame, state }) => {
      const known = trajectory.locals(state);
      return JSON.stringify({
        function: frame.function,
        line: trajectory.line(state),
        locals: known ? toldLocals(known.locals) : [],
      });
    })
    .join('\n');
}

/** Values as they are told: cut where they are long. */
export function toldLocals(locals: Locals): { name: string; value: string }[] {
  return [...locals].map(([name, { repr }]) => ({ name, value: toldValue(repr) }));
}

function toldValue(repr: string | null): string {
  if (repr === null) return '?';
  return repr.length > valueLength ? `${repr.slice(0, valueLength)}...` : repr;
}
