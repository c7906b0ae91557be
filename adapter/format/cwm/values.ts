/** A repr as the format shows it: without addresses, and without the files that modules come from. */
export function plainRepr(repr: string): string {
  if (!repr.includes(' at 0x') && !repr.includes('<module ')) return repr;
  return repr.replace(
    /(<module '[^']*') from (?:'[^']*'|"[^"]*")(?=>)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')| at 0x[0-9a-fA-F]+/g,
    (_, module: string | undefined, literal: string | undefined) => module ?? literal ?? '',
  );
}

const qualifiedName = String.raw`[^\W\d]\w*(?:\.[^\W\d]\w*)*`;
const typeOnly = new RegExp(`^(?:<class '(${qualifiedName})'>|(${qualifiedName}))$`, 'u');
const typeAndMessage = new RegExp(`^(${qualifiedName}): ?(.*)$`, 'su');
const traceArgument = /^\(<class '[^']*'>, (.*), (?:<traceback object>|None)\)$/s;

/**
 * An exception as `Type(arguments)`. How a model shows one is not documented: a type's name, the exception's
 * repr, `Type: message` and the tuple that a trace function is given are taken.
 */
export function exceptionRepr(shown: string): string {
  const text = traceArgument.exec(shown)?.[1] ?? shown;
  const type = typeOnly.exec(text);
  if (type) return `${lastName(type[1] ?? type[2] ?? text)}()`;
  const message = typeAndMessage.exec(text);
  if (message) {
    const name = lastName(message[1] ?? '');
    const rest = message[2] ?? '';
    // `Type: Type('message')` says the repr itself.
    if (rest.startsWith(`${name}(`) && rest.endsWith(')')) return rest;
    // A KeyError's message is the key's repr.
    return `${name}(${name === 'KeyError' ? rest : stringRepr(rest)})`;
  }
  return text;
}

/** The name of an exception's type, from its repr. */
export function exceptionType(repr: string): string {
  return /^[^(]*/.exec(repr)?.[0] ?? repr;
}

function lastName(dotted: string): string {
  return dotted.slice(dotted.lastIndexOf('.') + 1);
}

const escapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** The repr of a Python string. */
function stringRepr(text: string): string {
  if (text === '') return '';
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[\\\n\r\t'"]/g, (char) => {
    const escaped = escapes.get(char);
    return escaped ?? (char === quote ? `\\${char}` : char);
  });
  return quote + inner + quote;
}
