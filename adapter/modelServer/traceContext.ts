import { errors } from '../errors';
import { startMarker, withoutLineEnd, withoutMarker } from '../format/cwm/tokens';
import { parseTree, type SyntaxNode } from '../python/syntaxTree';
import { readHead } from './cwmPrompt';
import { Refusal } from './refusal';
import { countTokens } from './tokens';

/** The function that a trace begins with. */
export interface EntryFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  /** Whether the function stands for a script: its body is the script's statements. */
  readonly isScript: boolean;
}

/** The source context of a prompt: a program with a mark at the function that is traced. */
export interface TraceContext {
  /** The program as Python should see it. */
  readonly source: string;
  /** The lines as frames show them, with their line ends. */
  readonly lines: readonly string[];
  readonly entry: EntryFunction;
  /** How many tokens the context is, with those that begin and end it. */
  readonly tokens: number;
}

/**
 * Reads the source context of a prompt.
 *
 * @param head the prompt up to the first frame
 * @throws Refusal when it does not say where the trace begins
 */
export async function readTraceContext(head: string): Promise<TraceContext> {
  const { source, lines, entry } = readHead(head);
  return {
    source,
    lines: lines.map((line) => {
      const text = withoutLineEnd(line);
      return withoutMarker(text) + line.slice(text.length);
    }),
    entry: await findFunction(source, entry.line),
    tokens: countTokens(head),
  };
}

/** The function of the module that is defined on a line. */
async function findFunction(source: string, line: number): Promise<EntryFunction> {
  const { root } = await parseTree(source);
  const statements = root.parts;
  const textOf = (node: SyntaxNode) => source.slice(node.start, node.end);
  for (const statement of statements) {
    const definition = statement.type === 'decorated_definition' ? statement.child('definition') : statement;
    if (definition?.type !== 'function_definition' || definition.line !== line) continue;
    const name = definition.child('name');
    const body = definition.child('body');
    if (!name || !body) continue;
    const parameters = (definition.child('parameters')?.parts ?? []).flatMap((parameter) => {
      const named = parameter.child('name') ?? firstIdentifier(parameter);
      return named ? [textOf(named)] : [];
    });
    const isLast = statement === statements.at(-1);
    const isScript = isLast && parameters.length === 0 && !returnsOneCall(body);
    return { name: textOf(name), parameters, isScript };
  }
  const error = errors.promptUnreadable(
    `The line with "${startMarker.trim()}" does not define a function of the module.`,
    'Mark the line of the function that is to be traced.',
  );
  throw new Refusal(400, 'prompt_unreadable', error, 'prompt');
}

function returnsOneCall(body: SyntaxNode): boolean {
  const [statement, ...more] = body.parts;
  return statement?.type === 'return_statement' && more.length === 0 && statement.parts[0]?.type === 'call';
}

function firstIdentifier(node: SyntaxNode): SyntaxNode | null {
  if (node.type === 'identifier') return node;
  const [first] = node.parts;
  return first ? firstIdentifier(first) : null;
}
