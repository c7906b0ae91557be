import type { Usage, UsageTotals } from './usage';

/** One message of a chat. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A JSON schema as servers take it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A prompt's text as another one's and what was added to it. */
export interface PromptHistory {
  readonly text: string;
  /** Null where `added` is the whole text. */
  readonly before: PromptHistory | null;
  readonly added: string;
}

/** Frames that a prompt leaves out after its first one, and what tells them from others. */
export interface DroppedFrames {
  readonly count: number;
  /** The SHA-256 of those that the model wrote, one after the other, in hexadecimal. */
  readonly digest: string;
  /** Those that somebody else wrote, such as edits, by their index among all frames from 0. */
  readonly others: readonly (readonly [index: number, text: string])[];
}

/** A part of a text: one of several texts, or JSON of one kind (objects have strings only). */
export type ConstraintPart = { readonly oneOf: readonly string[] } | { readonly json: 'object' | 'string' };

/** How an answer may begin: as one of these. Anything may follow. */
export interface AnswerConstraint {
  readonly beginnings: readonly (readonly ConstraintPart[])[];
}

/** What a model is asked to continue. */
export type Prompt =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** How the text came to be, where that is known: it saves the work of what was written before. */
      readonly history?: PromptHistory;
      readonly stop: readonly string[];
      /** What was left out to fit the context; nothing where it is missing. */
      readonly droppedFrames?: DroppedFrames;
      /** How an answer can begin, where that is known: servers that can are held to it, where that is wanted. */
      readonly constraint?: () => AnswerConstraint | null;
    }
  | {
      readonly kind: 'chat';
      readonly messages: readonly ChatMessage[];
      /** The schema of the answer, and the name that servers want for it. */
      readonly schema: { readonly name: string; readonly schema: JsonSchema };
    };

export interface Token {
  readonly text: string;
  /** The natural logarithm of the token's probability, or null where the server gives none. */
  readonly logprob: number | null;
}

/** A piece of an answer: at least one text piece, then exactly one end, unless the stream fails. */
export type CompletionChunk =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** The tokens of the text where the server tells them, else empty. */
      readonly tokens: readonly Token[];
    }
  | {
      readonly kind: 'end';
      /** `stop`: a stop string or the end of the text; `length`: the token limit. */
      readonly reason: 'stop' | 'length';
      /** The stop string that fired, or null for the end of the text, or where the server does not tell. */
      readonly stopString: string | null;
      readonly usage: Usage | null;
    };

/**
 * The control tokens of a format of text prompts. In the prompts and answers of this interface their texts are
 * always control tokens: elsewhere such a text is escaped.
 */
export interface ControlText {
  /** The texts of the tokens, such as `<|frame_sep|>`. */
  readonly tokens: readonly string[];
  /** The one that every prompt begins with. */
  readonly begin: string;
  /** A short prompt after which a model that knows the format writes a control token. */
  readonly example: string;
  /** Text in which nothing can be taken for a control token. */
  escape(text: string): string;
  /** The text that `escape` was given. */
  unescape(text: string): string;
}

/** What is known of a source, for those who write prompts for it. */
export interface SourceTraits {
  /** How many tokens a prompt and its answer may have together, or null where nothing tells. */
  readonly contextTokens: number | null;
  /** How many characters (UTF-16 units) of prompts make a token: measured, or a low guess. */
  readonly charactersPerToken: number;
  /** Whether the model sees escaped text as what it stands for, since control tokens go apart from text. */
  readonly separatesControl: boolean;
}

/** Where tokens come from. */
export interface CompletionSource {
  /** For messages: the model and where it is. */
  readonly name: string;
  readonly traits: SourceTraits;
  /** What people should know about the source, in sentences; more may be known after `ready`. */
  readonly notes: readonly string[];
  readonly usage: UsageTotals;
  /**
   * Finds out what there is to know about the source, in bounded time; later calls cost nothing.
   *
   * @throws CatalogueError where the source can be seen to be of no use
   */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * Streams the answer to a prompt. Aborting the signal, or leaving the iteration, ends the request.
   *
   * @throws CatalogueError naming the server, the cause and the way out
   */
  complete(
    prompt: Prompt,
    options: {
      readonly maxTokens: number;
      readonly signal: AbortSignal;
      /** Another temperature than the source's own, where one is given. */
      readonly temperature?: number | undefined;
    },
  ): AsyncIterable<CompletionChunk>;
  /**
   * A text that quotes an answer, without what the source was given in confidence: a server may write the key that
   * it was sent into what it answers. Where it is missing, there is nothing to hide.
   */
  readonly hide?: (text: string) => string;
  close(): void;
}
