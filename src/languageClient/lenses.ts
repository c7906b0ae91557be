import type { LensCommand } from '../../adapter/lsp/codeLenses';

/**
 * What is offered above every function of a Python file. Each command is given the document's URI and the
 * function's qualified name.
 */
export const functionLenses: readonly LensCommand[] = [
  { title: 'Neural Debug', command: 'neuralDebug.debugFunction' },
  { title: 'Guess input', command: 'neuralDebug.guessInput', onlyFunctions: true },
];
