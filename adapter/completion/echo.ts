import { z } from 'zod';

/** So many words in a row that were sent are taken for a repetition of it. */
const runLength = 3;

/** Token ids in a row, as servers repeat prompts of them. */
const idsInARow = /\d+(?:\s*,\s*\d+){7,}/g;

/**
 * What a server said without what it repeats of the program that it was sent: some put the whole request into
 * their errors, which are shown and may be kept where the program must not be.
 *
 * @param sent the text that was sent
 */
export function withoutEcho(said: string, sent: string): string {
  const plain = said.replace(/\\(?:[nrt]|u[0-9a-f]{4})/gi, ' ').replace(idsInARow, '…');
  const known = new Set<string>();
  const words = wordsOf(sent).map(([word]) => word);
  for (let at = 0; at + runLength <= words.length; at++) known.add(runAt(words, at));
  const found = wordsOf(plain);
  const texts = found.map(([word]) => word);
  const isRepeated = texts.map(() => false);
  for (let at = 0; at + runLength <= texts.length; at++) {
    if (known.has(runAt(texts, at))) isRepeated.fill(true, at, at + runLength);
  }
  // What was said may be cut within a word.
  if (plain.endsWith('…') && isRepeated.at(-2)) isRepeated[isRepeated.length - 1] = true;
  let shown = '';
  let from = 0;
  for (let at = 0; at < found.length; at++) {
    if (!isRepeated[at]) continue;
    const first = at;
    while (isRepeated[at + 1]) at++;
    shown += `${plain.slice(from, found[first]?.index)}…`;
    from = (found[at]?.index ?? 0) + (texts[at]?.length ?? 0);
  }
  return shown + plain.slice(from);
}

const sentBody = z.object({
  prompt: z.string().catch(''),
  content: z.string().catch(''),
  messages: z.array(z.object({ content: z.string() })).catch([]),
});

/** The text that a request's body holds of a prompt. */
export function promptOf(body: unknown): string {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : body;
  if (typeof text !== 'string') return '';
  const { data } = sentBody.safeParse(JSON.parse(text));
  if (!data) return '';
  return [data.prompt, data.content, ...data.messages.map(({ content }) => content)].join('\n');
}

function wordsOf(text: string): RegExpExecArray[] {
  return [...text.matchAll(/[\p{L}\p{N}_]+/gu)];
}

function runAt(words: readonly string[], at: number): string {
  return words.slice(at, at + runLength).join(' ');
}
