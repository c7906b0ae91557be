import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** VS Code's own grammar for Python, where the VS Code of the end-to-end tests is installed. */
const pythonGrammar = `${root}test/vscode/node_modules/code-server/lib/vscode/extensions/python/syntaxes/MagicPython.tmLanguage.json`;

export const hasPythonGrammar = existsSync(pythonGrammar);

const files: Readonly<Record<string, string>> = {
  'source.neural-debug-recording': `${root}syntaxes/neural-debug-recording.tmLanguage.json`,
  'source.cwm-trace': `${root}syntaxes/cwm-trace.tmLanguage.json`,
  ...(hasPythonGrammar ? { 'source.python': pythonGrammar } : {}),
};

/** A piece of a line with its scopes, the grammar's own at first. */
export interface Piece {
  readonly text: string;
  readonly scopes: readonly string[];
}

/** Divides a text by a grammar, as VS Code does. */
export async function tokenize(scope: string, text: string): Promise<Piece[][]> {
  const wasm = createRequire(import.meta.url).resolve('vscode-oniguruma/release/onig.wasm');
  await (loaded ??= oniguruma.loadWASM(readFileSync(wasm)));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (given) => new oniguruma.OnigString(given),
    }),
    loadGrammar: (name) => {
      const file = files[name];
      return Promise.resolve(
        file === undefined ? null : textmate.parseRawGrammar(readFileSync(file, 'utf8'), file),
      );
    },
  });
  const grammar = await registry.loadGrammar(scope);
  if (!grammar) throw new Error(`There is no grammar ${scope}.`);
  let state = textmate.INITIAL;
  return text.split('\n').map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.map(({ startIndex, endIndex, scopes }) => ({
      text: line.slice(startIndex, endIndex),
      scopes,
    }));
  });
}

let loaded: Promise<void> | null = null;

/** The scopes of the first piece of a line that is, or holds, a text. */
export function scopesOf(pieces: readonly Piece[], text: string): readonly string[] {
  const piece = pieces.find((each) => each.text === text) ?? pieces.find((each) => each.text.includes(text));
  if (!piece) throw new Error(`No piece holds ${text}: ${pieces.map((each) => each.text).join(' | ')}`);
  return piece.scopes;
}
