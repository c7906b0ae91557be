import type { AnswerConstraint, ConstraintPart } from './completion';
import type { ServerProfile } from './profile';

const jsonString = '"([^"\\\\]|\\\\.)*"';
const jsonPair = `${jsonString}: ?${jsonString}`;

/** The parts of JSON as regular expressions. */
const regexOf = { string: jsonString, object: `\\{(${jsonPair}(, ?${jsonPair})*)?\\}` } as const;

/** The same as rules of a GBNF grammar. */
const rules = [
  'json-string ::= "\\"" ([^"\\\\] | "\\\\" [^\\n])* "\\""',
  'json-pair ::= json-string ":" " "? json-string',
  'json-object ::= "{" (json-pair ("," " "? json-pair)*)? "}"',
  'rest ::= [^\\x00]*',
];

/**
 * The fields that hold an answer to a constraint, for servers that have such; none for others.
 *
 * @param shown a text of the constraint as the model sees it
 */
export function constraintFields(
  constraint: AnswerConstraint,
  profile: ServerProfile,
  shown: (text: string) => string,
): Readonly<Record<string, unknown>> {
  switch (profile) {
    case 'vllm':
      return { structured_outputs: { regex: constraintRegex(constraint, shown) } };
    case 'llama.cpp':
      return { grammar: constraintGrammar(constraint, shown) };
    default:
      return {};
  }
}

function constraintRegex({ beginnings }: AnswerConstraint, shown: (text: string) => string): string {
  const part = (of: ConstraintPart): string => {
    if ('json' in of) return regexOf[of.json];
    const texts = of.oneOf.map((text) => quoted(shown(text)));
    return texts.length === 1 ? (texts[0] ?? '') : `(${texts.join('|')})`;
  };
  return `(${beginnings.map((parts) => parts.map(part).join('')).join('|')})[\\s\\S]*`;
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\n', '\\n');
}

function constraintGrammar({ beginnings }: AnswerConstraint, shown: (text: string) => string): string {
  const part = (of: ConstraintPart): string => {
    if ('json' in of) return `json-${of.json}`;
    return `(${of.oneOf.map((text) => literal(shown(text))).join(' | ')})`;
  };
  const alternatives = beginnings.map((parts) => parts.map(part).join(' '));
  return [`root ::= (${alternatives.join(' | ')}) rest`, ...rules].join('\n');
}

/** A text as GBNF quotes it. */
function literal(text: string): string {
  const escaped = text
    .replace(/["\\]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${escaped}"`;
}
