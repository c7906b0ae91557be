import { z } from 'zod';

/* What goes between the server and its client beyond the Language Server Protocol. */

/** Longer texts of trajectories are not taken, in UTF-16 units. */
const maxText = 64 * 1024 * 1024;

/** `initializationOptions`: what the client can do. */
export const initializationOptions = z
  .object({
    /** Commands to offer above every function; each is given the document's URI and the qualified name. */
    functionLenses: z
      .array(
        z.object({
          title: z.string().max(100),
          command: z.string().max(200),
          onlyFunctions: z.boolean().optional(),
        }),
      )
      .max(20)
      .catch([])
      .default([]),
    /** A command that debugs the recording of a document's URI, or null. */
    debugRecordingCommand: z.string().max(200).nullable().catch(null).default(null),
  })
  .catch({ functionLenses: [], debugRecordingCommand: null });

export type ClientOptions = z.infer<typeof initializationOptions>;

const switchShape = z.object({ enabled: z.boolean().catch(true).default(true) }).catch({ enabled: true });

/** The settings of the section `neuralDebug`, as far as the server reads them. */
export const settingsShape = z
  .object({
    inlayHints: switchShape.default({ enabled: true }),
    codeLens: switchShape.default({ enabled: true }),
  })
  .catch({ inlayHints: { enabled: true }, codeLens: { enabled: true } });

export type Settings = z.infer<typeof settingsShape>;

/** The settings as `workspace/didChangeConfiguration` brings them to servers that do not ask. */
export const pushedSettings = z.object({ neuralDebug: settingsShape });

/**
 * Notification `neuralDebug/trajectory`, from the client: a debug session has a newer trajectory, as the text of a
 * recording (ARCHITECTURE.md, "The recording file"). It is kept in memory only, as the newest one of its program.
 */
export const trajectoryNotification = 'neuralDebug/trajectory';
export const trajectoryParameters = z.object({ text: z.string().max(maxText) });

/**
 * Request `neuralDebug/trajectoryFile`: the same with the path of the recording's file, for long ones. It is answered
 * once the file is not needed any more.
 */
export const trajectoryFileRequest = 'neuralDebug/trajectoryFile';
export const trajectoryFileParameters = z.object({ path: z.string().max(10_000) });

/** Request `neuralDebug/exampleCalls`: calls of a function that are written somewhere. */
export const exampleCallsRequest = 'neuralDebug/exampleCalls';
export const exampleCallsParameters = z.object({
  uri: z.string().max(10_000),
  /** The function's qualified name. */
  function: z.string().max(1_000),
});

/** Its result; null where the document has no such function. */
export const exampleCallsResult = z
  .object({
    /** How the function is called, with its parameters: `gcd(a, b)`. */
    signature: z.string(),
    /** How a call of it is written, around and before the arguments (`EntryWriting`). */
    writing: z.object({ before: z.string(), after: z.string(), callee: z.string().nullable() }),
    calls: z.array(
      z.object({
        call: z.string(),
        origin: z.enum(['doctest', 'call', 'parameters']),
        /** The name of the file it stands in. */
        file: z.string(),
        line: z.number().int(),
      }),
    ),
  })
  .nullable();

export type ExampleCalls = z.infer<typeof exampleCallsResult>;

/**
 * Request `neuralDebug/recordingText`: a recording or raw trace as a recording's text with its program under
 * another path, so that it can be debugged. Null where nothing in the document can be read.
 */
export const recordingTextRequest = 'neuralDebug/recordingText';
export const recordingTextParameters = z.object({
  uri: z.string().max(10_000),
  /** The path that the program is to have in the recording. */
  programPath: z.string().max(10_000),
});
export const recordingTextResult = z.object({ text: z.string(), source: z.string() }).nullable();
