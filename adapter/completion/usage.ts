/** What a request has cost, as a server tells it. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that the server reused, where it tells. */
  readonly cachedTokens: number | null;
}

/** What the answers of a server have cost so far. */
export interface UsageTotals {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that the server reused, of requests where it told; null where it never did. */
  readonly cachedTokens: number | null;
  /** The prompt tokens of those requests. */
  readonly comparedTokens: number;
  /** The time that answers took, in seconds. */
  readonly seconds: number;
}

export const noUsage: UsageTotals = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: null,
  comparedTokens: 0,
  seconds: 0,
};

/** Adds up what requests cost, as soon as it is known: most answers are left before they end. */
export class UsageMeter {
  #ended = noUsage;
  readonly #open = new Set<RequestMeter>();

  get totals(): UsageTotals {
    return [...this.#open].reduce((sum, request) => plus(sum, request.cost), this.#ended);
  }

  /** Begins a request; its `end` has to be called. */
  begin(): RequestMeter {
    const request = new RequestMeter((cost) => {
      if (this.#open.delete(request)) this.#ended = plus(this.#ended, cost);
    });
    this.#open.add(request);
    return request;
  }
}

/** What one request costs. */
export class RequestMeter {
  readonly #begun = performance.now();
  #usage: Usage | null = null;
  #tokens = 0;
  #promptTokens = 0;

  constructor(private readonly ended: (cost: UsageTotals) => void) {}

  /** The prompt's tokens are known, as they are sent. */
  prompt(tokens: number): void {
    this.#promptTokens = tokens;
  }

  /** Tokens have come. */
  tokens(count: number): void {
    this.#tokens += count;
  }

  /** The server told the usage so far. */
  told(usage: Usage): void {
    const cachedTokens = usage.cachedTokens ?? this.#usage?.cachedTokens ?? null;
    this.#usage = { ...usage, cachedTokens };
  }

  end(): void {
    this.ended(this.cost);
  }

  get cost(): UsageTotals {
    const promptTokens = this.#usage?.promptTokens ?? this.#promptTokens;
    const cachedTokens = this.#usage?.cachedTokens ?? null;
    return {
      requests: 1,
      promptTokens,
      completionTokens: Math.max(this.#tokens, this.#usage?.completionTokens ?? 0),
      cachedTokens,
      comparedTokens: cachedTokens === null ? 0 : promptTokens,
      seconds: (performance.now() - this.#begun) / 1000,
    };
  }
}

function plus(a: UsageTotals, b: UsageTotals): UsageTotals {
  return {
    requests: a.requests + b.requests,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    cachedTokens: sumOfKnown(a.cachedTokens, b.cachedTokens),
    comparedTokens: a.comparedTokens + b.comparedTokens,
    seconds: a.seconds + b.seconds,
  };
}

function sumOfKnown(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

/** What was used between two readings of the totals. */
export function usageSince(before: UsageTotals, now: UsageTotals): UsageTotals {
  return {
    requests: now.requests - before.requests,
    promptTokens: now.promptTokens - before.promptTokens,
    completionTokens: now.completionTokens - before.completionTokens,
    cachedTokens: now.cachedTokens === null ? null : now.cachedTokens - (before.cachedTokens ?? 0),
    comparedTokens: now.comparedTokens - before.comparedTokens,
    seconds: now.seconds - before.seconds,
  };
}

/** The totals in a sentence for people; null before any request. */
export function describeUsage({
  requests,
  cachedTokens,
  comparedTokens,
  ...totals
}: UsageTotals): string | null {
  if (requests === 0) return null;
  const asked = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  // A server that counts nothing says so by leaving the count out.
  const wrote =
    totals.completionTokens === 0
      ? `The model was asked ${asked.replace('requests', 'times').replace('request', 'time')}`
      : `The model wrote ${totals.completionTokens} tokens for ${asked}`;
  if (cachedTokens === null || comparedTokens === 0) {
    return `${wrote}; the server does not tell what it reused of the prompts.`;
  }
  const share = Math.floor((100 * cachedTokens) / comparedTokens);
  return `${wrote}; ${share}% of ${comparedTokens} prompt tokens were reused by the server.`;
}
