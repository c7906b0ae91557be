import { docstringOf } from './compileStatements';
import { Constants } from './constants';
import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

const DEFINITIONS: ReadonlySet<string> = new Set([
  'function_definition',
  'class_definition',
  'decorated_definition',
  'import_statement',
  'import_from_statement',
  'future_import_statement',
]);

/** An annotated assignment at module scope: `target: annotation = value`. */
export interface AnnotatedAssignment {
  /** The text of the target. */
  readonly target: string;
  /** Whether the target is a bare name. */
  readonly isName: boolean;
  readonly hasValue: boolean;
  /** The lines of the whole statement. */
  readonly line: number;
  readonly endLine: number;
  /** Offsets of the whole assignment. */
  readonly start: number;
  readonly end: number;
  /** Offsets of `: annotation`, so that it can be cut out. */
  readonly annotationStart: number;
  readonly annotationEnd: number;
}

/** What has to be known to turn a script's statements into the body of a function. */
export interface ScriptNames {
  /** Names that statements of module scope bind, from the beginning on. */
  readonly bound: ReadonlySet<string>;
  /** Those of them that a `def`, a `class` or an import binds. */
  readonly definitions: ReadonlySet<string>;
  /** Module names that any inner code object reads or binds as globals. */
  readonly readByUnits: ReadonlySet<string>;
  /** The annotated assignments of module scope, from the beginning on. */
  readonly annotated: readonly AnnotatedAssignment[];
  /** Lines of `from x import *`, from the beginning on. */
  readonly starImports: readonly number[];
  /** Every identifier of the file, also of attributes and keywords. */
  readonly taken: ReadonlySet<string>;
}

/**
 * The line on which a script begins: that of its first top-level statement which is not a definition, an import
 * or a docstring. Where that one shares a line with others, it is the line on which the first of them begins.
 */
export function scriptBeginning(source: PythonSource): number | null {
  const statements = source.tree.root.parts;
  const docstring = docstringOf(statements, new Constants(source.text));
  let index = statements.findIndex(
    (statement) => statement !== docstring && !DEFINITIONS.has(statement.type),
  );
  let first = statements[index];
  if (first === undefined) return null;
  for (;;) {
    const before = statements[--index];
    if (before?.endLine !== first.line) return first.line;
    first = before;
  }
}

/** The lines that begin inside a string literal: their leading white space is part of the string. */
export function linesInsideStrings(source: PythonSource): ReadonlySet<number> {
  const lines = new Set<number>();
  forEachNode(source.tree.root, (node) => {
    if (node.type !== 'string') return true;
    for (let line = node.line + 1; line <= node.endLine; line++) lines.add(line);
    return node.line < node.endLine;
  });
  return lines;
}

/** @param beginning the line on which the script begins */
export function scriptNames(source: PythonSource, beginning: number): ScriptNames {
  const { root, lineStarts } = source.tree;
  const start = lineStarts[beginning - 1] ?? source.text.length;
  const bindings = source.scopes.module.bindings.filter(({ offset }) => offset >= start);
  const readByUnits = new Set<string>();
  for (const unit of source.units.slice(1)) {
    for (const name of [...unit.globalsRead, ...unit.globalsWritten]) {
      if (source.module.names.has(name)) readByUnits.add(name);
    }
  }
  const annotated: AnnotatedAssignment[] = [];
  const starImports: number[] = [];
  const taken = new Set<string>();
  forEachNode(root, (node) => {
    if (node.type === 'identifier') taken.add(source.text.slice(node.start, node.end).normalize('NFKC'));
    return true;
  });
  forEachNode(root, (node) => {
    if (node.type === 'function_definition' || node.type === 'class_definition' || node.type === 'lambda') {
      return false;
    }
    if (node.start < start) return true;
    if (node.type === 'import_from_statement' && node.has('wildcard_import')) starImports.push(node.line);
    if (node.type !== 'assignment') return true;
    const assignment = annotatedAssignment(source.text, node);
    if (assignment !== null) annotated.push(assignment);
    return true;
  });
  return {
    bound: new Set(bindings.map(({ name }) => name)),
    definitions: new Set(bindings.filter(({ isDefinition }) => isDefinition).map(({ name }) => name)),
    readByUnits,
    annotated,
    starImports,
    taken,
  };
}

function annotatedAssignment(text: string, node: SyntaxNode): AnnotatedAssignment | null {
  const target = node.child('left');
  const type = node.child('type');
  const colon = node.children.find((child) => child.type === ':');
  if (target === null || type === null || colon === undefined) return null;
  return {
    target: text.slice(target.start, target.end),
    isName: target.type === 'identifier',
    hasValue: node.child('right') !== null,
    line: node.line,
    endLine: node.endLine,
    start: node.start,
    end: node.end,
    annotationStart: colon.start,
    annotationEnd: type.end,
  };
}

/** Visits all nodes in the order of the text; `visit` says whether to go into one. */
function forEachNode(root: SyntaxNode, visit: (node: SyntaxNode) => boolean): void {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!visit(node)) continue;
    for (const child of node.children.toReversed()) pending.push(child);
  }
}
