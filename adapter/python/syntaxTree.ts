import { Language, Parser, type TreeCursor } from 'web-tree-sitter';
import { resourcePath } from '../resources';

/** Something that Python's grammar does not allow. */
export interface SyntaxProblem {
  /** From 1. */
  readonly line: number;
  /** In UTF-16 units, from 0. */
  readonly column: number;
  readonly message: string;
}

/**
 * A node of the concrete syntax tree (the grammar is tree-sitter-python's), without comments, and of the tokens
 * without names only with those that tell constructs apart. It holds no memory outside of JavaScript's heap.
 */
export class SyntaxNode {
  readonly children: SyntaxNode[] = [];
  private namedChildren: readonly SyntaxNode[] | null = null;

  constructor(
    /** The grammar's name of the node, or the text of a token without a name: `call`, `(`. */
    readonly type: string,
    readonly named: boolean,
    /** The role in the parent, such as `body`, or null. */
    readonly field: string | null,
    /** Offsets into the text, in UTF-16 units. */
    readonly start: number,
    readonly end: number,
    /** The line of the first character, from 1. */
    readonly line: number,
    /** The line on which the node's last character is followed by something else, from 1. */
    readonly endLine: number,
    readonly parent: SyntaxNode | null,
  ) {}

  /** The first child in a role. */
  child(field: string): SyntaxNode | null {
    return this.children.find((child) => child.field === field) ?? null;
  }

  /** All children in a role. */
  all(field: string): SyntaxNode[] {
    return this.children.filter((child) => child.field === field);
  }

  /** The children that are not punctuation, operators or keywords. */
  get parts(): readonly SyntaxNode[] {
    this.namedChildren ??= this.children.filter((child) => child.named);
    return this.namedChildren;
  }

  has(type: string): boolean {
    return this.children.some((child) => child.type === type);
  }
}

export interface SyntaxTree {
  readonly root: SyntaxNode;
  /** The offset at which each line starts; index 0 is line 1. */
  readonly lineStarts: readonly number[];
  readonly problems: readonly SyntaxProblem[];
}

/** More problems than this say nothing new. */
const MAX_PROBLEMS = 100;
const EXTRAS: ReadonlySet<string> = new Set(['comment', 'line_continuation']);
/** Tokens without names that are kept; so are those with a role, such as operators. */
const KEPT_TOKENS: ReadonlySet<string> = new Set([
  ',',
  ':',
  '=',
  '-',
  '_',
  '*',
  '**',
  '|',
  '[',
  ']',
  'async',
  'from',
]);
/** Statements of Python 2 that the grammar still knows. */
const PYTHON_2: ReadonlyMap<string, string> = new Map([
  ['print_statement', 'Missing parentheses in call to print'],
  ['exec_statement', 'Missing parentheses in call to exec'],
]);

let loading: Promise<Language> | null = null;

function loadLanguage(): Promise<Language> {
  loading ??= (async () => {
    const library = resourcePath('web-tree-sitter.wasm', 'web-tree-sitter/web-tree-sitter.wasm');
    await Parser.init({ locateFile: () => library });
    return Language.load(
      resourcePath('tree-sitter-python.wasm', 'tree-sitter-python/tree-sitter-python.wasm'),
    );
  })();
  return loading;
}

/** Parses any text; what is not Python is told by `problems`. */
export async function parseTree(text: string): Promise<SyntaxTree> {
  const language = await loadLanguage();
  const parser = new Parser();
  try {
    parser.setLanguage(language);
    const tree = parser.parse(parserText(text));
    if (tree === null) throw new Error('The parser was given no language.');
    const cursor = tree.walk();
    try {
      return copyTree(text, cursor, language);
    } finally {
      cursor.delete();
      tree.delete();
    }
  } finally {
    parser.delete();
  }
}

/**
 * The text as the parser should see it, of the same length: the parser takes `\n` only for the end of a line,
 * and NUL for the end of the text.
 */
function parserText(text: string): string {
  return text.replace(/\r(?!\n)/g, '\n').replaceAll('\0', '\u0001');
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (const end of text.matchAll(/\r\n|\r|\n/g)) starts.push(end.index + end[0].length);
  return starts;
}

/** The line, from 1, that holds an offset. */
export function lineAt(lineStarts: readonly number[], offset: number): number {
  let low = 0;
  let high = lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

function copyTree(text: string, cursor: TreeCursor, language: Language): SyntaxTree {
  const lineStarts = lineStartsOf(text);
  const named = language.types.map((_, id) => language.nodeTypeIsNamed(id));
  const problems: SyntaxProblem[] = [];
  const report = (offset: number, message: string) => {
    if (problems.length >= MAX_PROBLEMS) return;
    const line = lineAt(lineStarts, offset);
    problems.push({ line, column: offset - (lineStarts[line - 1] ?? 0), message });
  };

  const kept = language.types.map((type, id) => named[id] === true || KEPT_TOKENS.has(type));
  const copyNode = (parent: SyntaxNode | null): SyntaxNode | null => {
    const id = cursor.nodeTypeId;
    const type = language.types[id] ?? 'ERROR';
    const { currentFieldId } = cursor;
    if (currentFieldId === 0 && kept[id] === false) {
      if (cursor.nodeIsMissing) report(cursor.startIndex, `Invalid syntax: expected ${type}`);
      return null;
    }
    const { startIndex: start, endIndex: end } = cursor;
    if (type === 'ERROR') report(start, 'Invalid syntax');
    else if (end === start && cursor.nodeIsMissing) report(start, `Invalid syntax: expected ${type}`);
    else if (end === start && type === 'block') report(start, 'Expected an indented block');
    else {
      const message = PYTHON_2.get(type);
      if (message !== undefined) report(start, message);
    }
    return new SyntaxNode(
      type,
      named[id] ?? true,
      currentFieldId === 0 ? null : (language.fields[currentFieldId] ?? null),
      start,
      end,
      lineAt(lineStarts, start),
      lineAt(lineStarts, end),
      parent,
    );
  };

  const root = copyNode(null);
  if (root === null) throw new Error('The syntax tree has no root.');
  let parent = root;
  const tries: SyntaxNode[] = [];
  // Iterative, since sources may nest deeper than the stack.
  let descending = cursor.gotoFirstChild();
  while (descending) {
    const node = copyNode(parent);
    if (node !== null && !EXTRAS.has(node.type)) parent.children.push(node);
    if (node?.type === 'try_statement') tries.push(node);
    if (node !== null && cursor.gotoFirstChild()) {
      parent = node;
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent() || parent.parent === null) {
        descending = false;
        break;
      }
      parent = parent.parent;
    }
  }

  for (const { children, start } of tries) {
    const isHandled = children.some(({ type }) => type === 'except_clause' || type === 'finally_clause');
    if (!isHandled) report(start, "Expected an 'except' or 'finally' block");
  }
  for (const match of text.matchAll(/\0/g)) report(match.index, 'A source cannot contain null bytes');
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { root, lineStarts, problems };
}
