import type { CatalogueError } from '../errors';

/** The error of a request in the shape that OpenAI's API gives it. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** `error.type`, by HTTP status. */
const errorTypes: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [429, 'rate_limit_error'],
]);

/** A request that is not answered: an error of the catalogue with what HTTP and OpenAI's API say about it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** `error.code`: what programs can tell errors apart by. */
    readonly code: string,
    readonly error: CatalogueError,
    /** `error.param`: the field of the request that is wrong. */
    readonly param: string | null = null,
    /** Headers that belong to the status. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(error.message);
  }

  get body(): ErrorBody {
    const type =
      errorTypes.get(this.status) ?? (this.status < 500 ? 'invalid_request_error' : 'server_error');
    const message = `${this.error.message} ${this.error.wayOut}`;
    return { error: { message, type, param: this.param, code: this.code } };
  }
}
