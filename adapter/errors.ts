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
} as const;

/** The message of anything that was thrown. */
export function describeCause(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Anything that was thrown as an error of the catalogue. */
export function asCatalogueError(thrown: unknown): CatalogueError {
  return thrown instanceof CatalogueError ? thrown : errors.internal(thrown);
}
