/** How long a request may take before its progress is shown, in milliseconds. */
const delay = 500;

/** How far apart updates are at least, in milliseconds. */
const interval = 500;

/** Shows the progress of a long request; every start is followed by an end. */
export class Progress {
  #number = 0;
  #timer: NodeJS.Timeout | null = null;
  #isShown = false;
  #updated = 0;
  #states = 0;

  constructor(private readonly send: (event: string, body: object) => void) {}

  /** The id of the progress that is running, or null. */
  get id(): string | null {
    return this.#timer ? `prediction-${this.#number}` : null;
  }

  /** Begins a request. */
  start(title: string): void {
    this.end();
    this.#number++;
    this.#states = 0;
    this.#timer = setTimeout(() => {
      this.#isShown = true;
      this.send('progressStart', { progressId: this.id, title, cancellable: true, message: this.#message });
    }, delay);
  }

  /** Tells how many states the request has brought. */
  update(states: number): void {
    this.#states = states;
    if (!this.#isShown || Date.now() - this.#updated < interval) return;
    this.#updated = Date.now();
    this.send('progressUpdate', { progressId: this.id, message: this.#message });
  }

  /** The request is over. */
  end(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    if (this.#isShown) this.send('progressEnd', { progressId: this.id });
    this.#isShown = false;
    this.#timer = null;
  }

  get #message(): string {
    return this.#states === 1 ? '1 state' : `${this.#states} states`;
  }
}
