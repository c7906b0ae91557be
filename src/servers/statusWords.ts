import { z } from 'zod';
import { shownText } from '../../adapter/shownText';
import type { ServerConfiguration } from '../settings';

const failure = z.object({
  state: z.literal('failed'),
  code: z.int(),
  message: z.string(),
  wayOut: z.string(),
  during: z.enum(['start', 'step', 'question']),
});

/** What the debug adapter tells of what answers. */
export const healthShape = z.discriminatedUnion('state', [
  z.object({ state: z.enum(['unasked', 'answers', 'slow']) }),
  failure,
]);

export type Health = z.infer<typeof healthShape>;

/** A failure of what answers. */
export type Failure = z.infer<typeof failure>;

/** How something answers, and since when that is known. */
export interface Known {
  readonly health: Health;
  readonly at: Date;
}

/** What answers in a session. */
export interface Answering {
  readonly isReal: boolean;
  readonly kind: string;
  readonly name: string;
  /** In words: `Predicting with …`. */
  readonly words: string;
}

/** What the status bar is about. */
export interface StatusSubject {
  /** What answers in the session that is shown; null outside of sessions. */
  readonly answering: Answering | null;
  /** The session's server, or else that of the settings; null where there is none. */
  readonly server: ServerConfiguration | null;
  /** What is known of it; null where it was not asked. */
  readonly known: Known | null;
  /** Whether there is a request that failed and can be sent again. */
  readonly canTryAgain: boolean;
}

/** What the status bar shows. */
export interface StatusWords {
  /** With theme icons: `$(sparkle) …`. */
  readonly text: string;
  /** The sentences of the tooltip. */
  readonly sentences: readonly string[];
  /** What screen readers say. */
  readonly label: string;
  readonly level: 'calm' | 'warning' | 'error';
}

/** What can be done about what answers. */
export type StatusAction =
  'tryAgain' | 'stopWaiting' | 'test' | 'connect' | 'setKey' | 'otherWorld' | 'showLog' | 'openSettings';

/** Faults that another key may mend: a key that can be none, and one that is refused. */
const keyFaults: ReadonlySet<number> = new Set([302, 308]);

/** Whether a failure is that of a key. */
export function isKeyFault({ code }: Failure): boolean {
  return keyFaults.has(code);
}

/** @param timeOf how a time of day is written */
export function statusWords(
  { answering, server, known }: StatusSubject,
  timeOf: (time: Date) => string = (time) => time.toLocaleTimeString(),
): StatusWords {
  const what = answering
    ? `${answering.isReal ? 'real run' : 'predicted'}: ${short(answering.name)}`
    : server
      ? short(nameOf(server))
      : 'Neural Debug';
  const about = answering
    ? [
        `${answering.words}.`,
        `The values of this session are ${answering.isReal ? 'those of a real run' : 'predicted'}.`,
      ]
    : [
        server
          ? `Neural Debug predicts with ${nameOf(server)} at ${shownText(server.baseUrl)}.`
          : 'No model server is connected to Neural Debug.',
      ];
  const health = known && (answering || server) ? healthWords(known, timeOf) : null;
  const isUnasked = !health && server !== null && answering?.kind !== 'recording';
  const icon = health?.icon ?? (answering?.isReal ? 'play-circle' : server || answering ? 'sparkle' : 'plug');
  const suffix = health?.suffix ?? '';
  return {
    text: `$(${icon}) ${what}${suffix}`,
    sentences: [...about, ...(health?.sentences ?? []), ...(isUnasked ? ['It was not asked yet.'] : [])],
    label: `Neural Debug, ${what}${suffix}`,
    // Outside of sessions nothing waits for it.
    level: answering ? (health?.level ?? 'calm') : 'calm',
  };
}

interface HealthWords {
  readonly icon: string | null;
  readonly suffix: string;
  readonly sentences: readonly string[];
  readonly level: StatusWords['level'];
}

function healthWords({ health, at }: Known, timeOf: (time: Date) => string): HealthWords | null {
  const time = timeOf(at);
  switch (health.state) {
    case 'unasked':
      return null;
    case 'answers':
      return { icon: null, suffix: '', sentences: [`It answered at ${time}.`], level: 'calm' };
    case 'slow':
      return {
        icon: 'watch',
        suffix: ', no answer yet',
        sentences: [`It was asked, and at ${time} nothing had come for some seconds.`],
        level: 'warning',
      };
    case 'failed': {
      const { message, wayOut, code } = health;
      return {
        icon: 'error',
        suffix: ', failed',
        sentences: [`It failed at ${time}: ${message} (${code})`, wayOut],
        level: 'error',
      };
    }
  }
}

/** What can be done, the likeliest first. */
export function statusActions({ answering, server, known, canTryAgain }: StatusSubject): StatusAction[] {
  const health = known?.health;
  const failed = health?.state === 'failed' ? health : null;
  const hasServer = server !== null && (answering === null || answering.kind === 'server');
  return [
    ...(failed && canTryAgain ? (['tryAgain'] as const) : []),
    ...(answering && health?.state === 'slow' ? (['stopWaiting'] as const) : []),
    ...(failed && isKeyFault(failed) ? (['setKey'] as const) : []),
    ...(hasServer ? (['test'] as const) : []),
    'connect',
    ...(answering ? (['otherWorld'] as const) : []),
    ...(hasServer && !(failed && isKeyFault(failed)) ? (['setKey'] as const) : []),
    'showLog',
    'openSettings',
  ];
}

function nameOf({ model, baseUrl }: ServerConfiguration): string {
  return shownText(model ?? `the first model of ${URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl}`);
}

/** The part of a world's name that has room in the status bar: up to where details begin. */
function short(name: string): string {
  const [first = name] = name.split(/ at https?:|, /);
  return first.length > 40 ? `${first.slice(0, 40)}…` : first;
}
