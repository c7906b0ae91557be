/** Who has to do something about an error: the user, the makers of Neural Debug, or nobody. */
export type Blame = 'user' | 'internal' | 'nobody';

/** An error of the catalogue: what happened, whose it is, and the way out. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    /** The error's number, stable across versions, e.g. 301. */
    readonly code: number,
    readonly blame: Blame,
    message: string,
    /** What the reader can do about it, as a sentence. */
    readonly wayOut: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

function entry(code: number, blame: Blame) {
  return (message: string, wayOut: string, options?: ErrorOptions) =>
    new CatalogueError(code, blame, message, wayOut, options);
}

/**
 * The catalogue: every error that a person can meet. Numbers are given by area: 1xx what the user asked for,
 * 2xx sources, 3xx servers, 4xx what models answer, 5xx real runs, 6xx recordings, 7xx debug sessions,
 * 8xx the model server.
 */
export const errors = {
  internal: (cause: unknown) =>
    entry(100, 'internal')(
      `Neural Debug failed: ${describeCause(cause)}`,
      'This is a fault of Neural Debug: please report it with the steps that led here.',
      { cause },
    ),
  /** The model server was asked to listen where other machines reach it. */
  serverAddress: (host: string) =>
    entry(801, 'user')(
      `The model server does not listen on ${host}: it runs the programs that it is sent, so it answers this machine only.`,
      'Use 127.0.0.1, ::1 or localhost.',
    ),
  /** The model server could not begin to listen. */
  serverPort: (port: number, cause: unknown) =>
    entry(802, 'user')(
      `The model server cannot listen on port ${port}: ${describeCause(cause)}`,
      'Choose another port, or port 0 for any free one.',
      { cause },
    ),
  /** A request that a web page may have sent, or that came by another name than this machine's. */
  requestNotLocal: (what: string) =>
    entry(810, 'user')(
      `The model server answers programs of this machine only: ${what}`,
      'Use the URL that the server printed, from a program that is not a web page.',
    ),
  requestToken: () =>
    entry(811, 'user')(
      'The request does not carry the token of this model server.',
      'Send the token that the server printed as "Authorization: Bearer …" (the API key of clients).',
    ),
  requestRoute: (what: string) =>
    entry(812, 'user')(
      `The model server has no ${what}.`,
      'It answers GET /v1/models and POST /v1/completions.',
    ),
  requestBody: (what: string, wayOut: string) => entry(813, 'user')(what, wayOut),
  /** Something that other servers may do and this one does not. */
  requestUnsupported: (what: string, wayOut: string) => entry(814, 'user')(what, wayOut),
  modelUnknown: (model: string, known: string) =>
    entry(815, 'user')(`The model server has no model ${JSON.stringify(model)}.`, `It serves ${known}.`),
  /** The prompt is not one that a CWM could continue. */
  promptUnreadable: (what: string, wayOut: string) => entry(816, 'user')(what, wayOut),
  seedMissing: (name: string, parameters: readonly string[]) =>
    entry(817, 'user')(
      `The traced function ${name} takes ${parameters.join(', ')}, and the prompt does not say with which values it is called.`,
      'Begin the trace with a call frame whose locals give every parameter a literal.',
    ),
  /** The history of a prompt is not what the program does. */
  historyDiffers: (frame: number, said: string, does: string) =>
    entry(818, 'user')(
      `Frame ${frame} of the history is not what the program does. The prompt has ${said} The program has ${does}`,
      'Continue a history that a real run can have: this server does not make states up.',
    ),
  /** The real run was ended by a limit before the program's end. */
  runCut: (frames: number, why: string) =>
    entry(819, 'user')(
      `The run was cut after ${frames} frames: ${why}`,
      'Ask for fewer frames, or start the server with higher limits.',
    ),
  runsBusy: (runs: number) =>
    entry(820, 'user')(
      `The model server already follows ${runs} programs for other requests.`,
      'Try again when one of them has ended.',
    ),
  recordingLine: (name: string, line: number, problem: string) =>
    entry(601, 'user')(
      `${name} is not a recording that can be opened: line ${line}: ${problem}.`,
      'Choose a file written by "neural-debug trace" or saved from a session, or record it again.',
    ),
  recordingVersion: (name: string, version: number, known: number) =>
    entry(602, 'user')(
      `${name} is a recording of version ${version}; this Neural Debug reads version ${known}.`,
      'Record it again with this version, or open it with the version that wrote it.',
    ),
  nothingToDebug: (path: string) =>
    entry(701, 'user')(
      `${path} has no statement to debug: it only defines, imports, or is empty.`,
      'Give a call to debug as the entry, such as "f(3)", or show the definitions too.',
    ),
  stillPredicting: () =>
    entry(702, 'user')('The last request is still being predicted.', 'Wait for its stop, or pause it first.'),
  notStarted: () => entry(703, 'user')('The program was not started yet.', 'Start it first.'),
  noPrediction: (world: string) =>
    entry(704, 'nobody')(
      `${world} answered, but predicted no state.`,
      'Try the step again; if it stays so, check that the model knows the format that is set.',
    ),
  syntaxProblem: (path: string, line: number, message: string) =>
    entry(705, 'user')(
      `${path} has a syntax error in line ${line}: ${message}`,
      'Mend the line, then start again: a program that Python cannot read has no states.',
    ),
} as const;

/** The message of anything that was thrown. */
export function describeCause(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Anything that was thrown as an error of the catalogue. */
export function asCatalogueError(thrown: unknown): CatalogueError {
  return thrown instanceof CatalogueError ? thrown : errors.internal(thrown);
}
