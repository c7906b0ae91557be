/**
 * The tokens of this server, which has no model and so no vocabulary: a control token (`<|name|>`) is one
 * token, all other text is cut into pieces of four UTF-16 units, one more where a surrogate pair would be
 * cut. Frames come to about as many tokens as CWM's own tokenizer makes of them (23 on average).
 */
const pieceLength = 4;
const controlToken = /<\|[a-z_]+\|>/g;

/** The tokens of a text, in order; joined, they are the text. */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  let end = 0;
  for (const control of text.matchAll(controlToken)) {
    cut(text, end, control.index, tokens);
    tokens.push(control[0]);
    end = control.index + control[0].length;
  }
  cut(text, end, text.length, tokens);
  return tokens;
}

function cut(text: string, from: number, to: number, tokens: string[]): void {
  for (let at = from; at < to;) {
    let end = Math.min(at + pieceLength, to);
    if (end < to && isLeadSurrogate(text.charCodeAt(end - 1))) end++;
    tokens.push(text.slice(at, end));
    at = end;
  }
}

function isLeadSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
