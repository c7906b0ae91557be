/** How far samples of a state agree: shares of all samples that were asked for, 0 to 1. */
export interface Agreement {
  readonly samples: number;
  /** The share with the state's event, function and line. */
  readonly share: number;
  /** For each local that the state changed, the share that gave it the same value. */
  readonly locals: ReadonlyMap<string, number>;
  /** The share with the same argument; null where the state has none. */
  readonly argument: number | null;
}
