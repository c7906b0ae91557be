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
  unknownEncoding: (line: number, name: string, options?: ErrorOptions) =>
    entry(201, 'user')(
      `The source names an encoding that is not known: ${JSON.stringify(name)} on line ${line}.`,
      'Correct the coding comment, or save the file as UTF-8 and remove it.',
      options,
    ),
  undecodable: (line: number, encoding: string, options?: ErrorOptions) =>
    entry(202, 'user')(
      `The source cannot be read as ${encoding}: line ${line} has bytes that are no ${encoding} text.`,
      'Save the file as UTF-8, or name its encoding in a comment on the first line: # -*- coding: latin-1 -*-',
      options,
    ),
  contradictingEncoding: (line: number, name: string) =>
    entry(203, 'user')(
      `The source begins with the byte order mark of UTF-8, but line ${line} says that its encoding is ${JSON.stringify(name)}.`,
      'Remove the coding comment, or save the file without a byte order mark in the encoding that it names.',
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
      'It answers GET /v1/models, POST /v1/completions, POST /tokenize and POST /detokenize.',
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
  historyDiffers: (frame: number, said: string, does: string, why: string | null) =>
    entry(818, 'user')(
      `Frame ${frame} of the history is not what the program does. The prompt has ${said} The program has ${does}` +
        (why === null ? '' : ` It was not set in the running program: ${why}.`),
      why === null
        ? 'Continue a history that a real run can have, or start the server with --on-divergence inject.'
        : 'Change only locals, to Python literals, and lines within a function that a debugger could jump to.',
    ),
  /** A prompt says of the frames that it leaves out what no course that is known has. */
  droppedUnknown: (frames: number) =>
    entry(825, 'user')(
      `The prompt leaves out ${frames} frames, and they are not what the program does, nor what this server wrote as far as it remembers.`,
      'Go on from an earlier state, or start the session anew; a server that is started with a larger --context needs no frames to be left out.',
    ),
  /** Courses that differ only in frames that a prompt leaves out go on differently. */
  droppedUndecided: (frames: number) =>
    entry(826, 'user')(
      `The prompt leaves out ${frames} frames in which the program was changed, and what is left fits several of the changed runs, which go on differently.`,
      'Say what was left out, as dropped_digest and dropped_others, send the whole prompt, or start the server anew to forget the changes.',
    ),
  /** The real run was ended by a limit before the program's end. */
  runCut: (frames: number, why: string) =>
    entry(819, 'user')(
      `The run was cut after ${frames} frames: ${why}`,
      'Ask for fewer frames, or start the server with higher limits.',
    ),
  /** In vLLM's words, which clients look for. */
  promptTooLong: (context: number, tokens: number) =>
    entry(821, 'user')(
      `This model's maximum context length is ${context} tokens. However, your request has ${tokens} input tokens.`,
      'Please reduce the length of the input messages.',
    ),
  answerTooLong: (context: number, tokens: number, maxTokens: number) =>
    entry(822, 'user')(
      `'max_tokens' or 'max_completion_tokens' is too large: ${maxTokens}. This model's maximum context length is ${context} tokens and your request has ${tokens} input tokens (${maxTokens} > ${context} - ${tokens}).`,
      'Ask for fewer tokens.',
    ),
  faultsUnreadable: (part: string, known: string) =>
    entry(823, 'user')(
      `The faults cannot be read at ${JSON.stringify(part)}: expected ${known}.`,
      'Write them as in wrong-value=0.1,cut@12: a kind with a rate, or with the index of a frame.',
    ),
  /** A fault that the server was told to make. */
  faultWanted: (what: string) =>
    entry(824, 'nobody')(`This server was told to answer so: ${what}.`, 'Try again.'),
  runsBusy: (runs: number) =>
    entry(820, 'user')(
      `The model server already follows ${runs} programs for other requests.`,
      'Try again when one of them has ended.',
    ),
  noEvaluationData: (path: string, why: string) =>
    entry(120, 'user')(
      `${path} is no data for an evaluation: ${why}.`,
      'Give Python files, a folder of them, the folder of QuixBugs or TheAlgorithms, or the file of CRUXEval.',
    ),
  /** The file that is to hold an evaluation's results holds something else. */
  notResults: (path: string, why: string) =>
    entry(121, 'user')(
      `${path} cannot be gone on with: ${why}.`,
      'Choose another file for the results, or remove this one.',
    ),
  evaluationFails: (times: number, last: CatalogueError) =>
    entry(122, 'nobody')(
      `The world failed ${times} times in a row, at last so: ${last.message}`,
      `${last.wayOut} Then give the same command again: it goes on where it stopped.`,
      { cause: last },
    ),
  evaluationInterrupted: (path: string) =>
    entry(123, 'user')(
      `The evaluation was interrupted; what was asked is in ${path}.`,
      'Give the same command again: it goes on where it stopped.',
    ),
  launchArgument: (argument: string, problem: string) =>
    entry(101, 'user')(
      `The launch argument "${argument}" is wrong: ${problem}.`,
      'Correct it, or the option of that name, and start again.',
    ),
  noProgram: () =>
    entry(102, 'user')('No program is given.', 'Set "program" to the Python file that is to be debugged.'),
  cannotRead: (path: string, cause: string) =>
    entry(103, 'user')(`${path} cannot be read: ${cause}.`, 'Check the path and the rights to the file.'),
  cannotWrite: (path: string, cause: string) =>
    entry(107, 'user')(
      `${path} cannot be written: ${cause}`,
      'Choose another file, or make its folder first.',
    ),
  adapterPort: (port: number, cause: string) =>
    entry(108, 'user')(
      `The debug adapter cannot listen on port ${port}: ${cause}`,
      'Choose another port; 0 takes any free one.',
    ),
  /** A client of the debug adapter's port does not know its token. */
  adapterToken: () =>
    entry(113, 'user')(
      'This debug adapter starts sessions only for those who know its token.',
      'Put the token that was printed at its start, or that is in NEURAL_DEBUG_DAP_TOKEN, into the launch arguments: "token".',
    ),
  noWorld: () =>
    entry(104, 'user')(
      'Nothing is set that could predict the program, and nothing was run.',
      'Choose what answers: connect a server with a model (--base-url on the command line), or take the ' +
        'reference, which really runs the program on this computer (--world reference).',
    ),
  noServer: () =>
    entry(105, 'user')(
      'No server is set.',
      'Set "server.baseUrl" (--base-url on the command line) to an OpenAI-compatible server, such as http://127.0.0.1:8000/v1.',
    ),
  noRecording: () =>
    entry(106, 'user')(
      'No recording is given.',
      'Set "recording" to a file written by "neural-debug trace".',
    ),
  pythonNotStarted: (python: string, cause: unknown) =>
    entry(501, 'user')(
      `Python could not be started as "${python}": ${describeCause(cause)}`,
      'Install Python 3.8 or later, or set "python" to the path of an interpreter.',
      { cause },
    ),
  noPermissionModel: (version: string) =>
    entry(520, 'user')(
      `Pyodide is not run here: the Node that runs Neural Debug (${version}) has no permission model to lock it down.`,
      'Use Node 20.19 or newer, or set "sandbox" to "python" to use an interpreter of this computer.',
    ),
  noPyodide: () =>
    entry(521, 'user')(
      'Pyodide is not part of this installation of Neural Debug.',
      'Install its dependencies (npm ci) and build again, or set "sandbox" to "python".',
    ),
  notLockedDown: (detail: string) =>
    entry(522, 'internal')(
      `Pyodide was not run, since its process is not locked down: ${detail}`,
      'Set "sandbox" to "python" to use an interpreter of this computer, and please report this.',
    ),
  /** The program cannot be compiled. */
  pythonSyntax: (path: string, line: number | null, message: string) =>
    entry(502, 'user')(
      `${path} is not a program that this Python can run${line === null ? '' : `: line ${line}`}: ${message}`,
      'Mend the line, or set "python" to an interpreter of the version that the program is written for.',
    ),
  entrySyntax: (call: string, message: string) =>
    entry(503, 'user')(
      `The entry call ${call} is not a Python expression: ${message}`,
      'Write a call such as f(3, "x").',
    ),
  /** The module's own code failed before the entry call. */
  setUpRaised: (path: string, line: number | null, message: string) =>
    entry(504, 'user')(
      `${path} raised ${message}${line === null ? '' : ` on line ${line}`} before the entry call could be made.`,
      'The code of the module runs before the call. Mend it, or debug the file as a script.',
    ),
  /** The entry call failed before it entered a function of the program. */
  entryRaised: (call: string, message: string) =>
    entry(505, 'user')(
      `The entry call ${call} raised ${message} before it entered a function of the program.`,
      'Check the names and the arguments of the call.',
    ),
  noSuchFunction: (path: string, name: string) =>
    entry(506, 'user')(`${path} has no function ${name}.`, 'Name a function of the module.'),
  argumentsNotLiteral: (message: string) =>
    entry(507, 'user')(
      `The function was not called: ${message}`,
      'Give each argument as a Python literal, such as 3, "x" or [1, 2].',
    ),
  /** The states before are not those of the real run: a model predicted them, or they were edited. */
  notOfTheRun: (state: number) =>
    entry(508, 'user')(
      `A real run cannot go on from here: state ${state} is not what the program does.`,
      'Go back to a state before it, or let a model predict what would follow.',
    ),
  /** A real run cannot be changed as a what-if asks. */
  editRefused: (state: number, why: string) =>
    entry(510, 'user')(
      `State ${state} of the real run cannot be changed: ${why}.`,
      'Give locals of the frame Python literals, at a line or a call; jump to a line of the same function that is not inside another block.',
    ),
  tracerBroken: (detail: string) =>
    entry(509, 'internal')(
      `The real run failed: ${detail || 'Python ended before the program began.'}`,
      'Check that the interpreter is CPython 3.8 or later; if it is, please report this.',
    ),
  comparesRealRun: () =>
    entry(729, 'user')(
      'The values of this session are those of a real run already.',
      'Compare a prediction.',
    ),
  noSuchState: (state: number) =>
    entry(730, 'user')(`There is no state ${state}.`, 'Choose a state of the tree, which may have changed.'),
  /** A function whose inputs cannot be searched for. */
  notSearchable: (name: string, why: string) =>
    entry(523, 'user')(
      `Inputs of ${name} cannot be searched for: ${why}`,
      'Write a function that calls it with positional arguments, and search for the inputs of that one.',
    ),
  outputNotLiteral: (text: string) =>
    entry(109, 'user')(
      `The wanted output is not a Python literal: ${text.slice(0, 100)}`,
      "Write a literal such as 3, 'text', [1, 2] or {'a': 1}; for an exception give its name instead.",
    ),
  exceptionName: (text: string) =>
    entry(110, 'user')(
      `This is not the name of an exception: ${text.slice(0, 100)}`,
      'Write a class such as ValueError, or ValueError: a text that its message holds.',
    ),
  guessNeedsModel: () =>
    entry(111, 'user')(
      'Nothing is chosen that could guess inputs, and nothing was run.',
      'Connect a chat model (--base-url with --format chat), or let the function be really called with many ' +
        'inputs (--by search).',
    ),
  guessNeedsResult: () =>
    entry(112, 'user')(
      'What the call should come to has to be given once.',
      'Give either --output with a Python literal, or --raises with the name of an exception.',
    ),
  guessesUnreadable: (came: string) =>
    entry(410, 'nobody')(
      `The model gave no guesses that can be read; it wrote: ${came || 'nothing'}`,
      'Try again, or choose another model.',
    ),
  guessUnreadable: (came: string) =>
    entry(411, 'nobody')(
      `The model gave no answer that can be read; it wrote: ${came || 'nothing'}`,
      'Ask again, or choose a larger model or a server that holds answers to a JSON schema.',
    ),
  notAsked: (world: string, why: string, reason: string) =>
    entry(720, 'nobody')(
      `${world} is not asked: ${why}; and what is known does not tell it: ${reason}.`,
      'Debug with a model to have it guess, or ask for an expression over known values.',
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
  recordingReplaced: (name: string) =>
    entry(603, 'user')(
      `${name} is another recording than the one that was opened: the file was written anew.`,
      'Begin a new session to debug the recording that is there now.',
    ),
  unknownRequest: (command: string) =>
    entry(710, 'nobody')(
      `The request "${command}" is not supported.`,
      'Use what the capabilities of the initialize response name.',
    ),
  requestArgument: (argument: string, problem: string) =>
    entry(711, 'nobody')(
      `The request's argument "${argument}" is wrong: ${problem}.`,
      'Correct the request.',
    ),
  requestOrder: (request: string, problem: string) =>
    entry(712, 'nobody')(
      `The request "${request}" cannot be answered now: ${problem}.`,
      'Send it in its place.',
    ),
  notLaunched: () =>
    entry(713, 'nobody')(
      'No program was launched.',
      'Send initialize, then launch with the program to debug.',
    ),
  sessionEnded: () => entry(714, 'nobody')('The debug session is over.', 'Start a new one.'),
  notPredicted: (reason: string) =>
    entry(715, 'nobody')(
      `not predicted: ${reason}`,
      'Only known values, and pure expressions over them, can be shown.',
    ),
  expressionRaises: (type: string, message: string) =>
    entry(716, 'nobody')(
      `${type}: ${message}`,
      'The expression raises this over the values that are known here.',
    ),
  noException: () =>
    entry(717, 'nobody')(
      'The program is not stopped at an exception.',
      'Ask again where an exception is raised.',
    ),
  cannotAsk: (reason: string) =>
    entry(718, 'nobody')(
      `The model cannot be asked this: ${reason}.`,
      'Ask for an expression on one line, over values that are known and can be written as Python.',
    ),
  questionEnded: (why: string) =>
    entry(719, 'nobody')(
      `The question to the model was ended before it was answered: ${why}.`,
      'Ask again while the session goes on and the server answers.',
    ),
  requestCancelled: () =>
    entry(721, 'nobody')('The request was cancelled before it was answered.', 'Ask again.'),
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
  /** A state cannot be changed as a person asked. */
  whatIfRefused: (reason: string) =>
    entry(731, 'user')(
      `This change cannot be made here: ${reason}`,
      'Change a local of the frame on top where a line is about to run, or choose a world that can go on from it.',
    ),
  whatIfValue: (text: string, reason: string) =>
    entry(732, 'user')(
      `${JSON.stringify(text)} cannot be set: ${reason}.`,
      "Give a Python literal, such as 3, 'x' or [1, 2], or a pure expression over the locals that comes to one.",
    ),
  whatIfPlace: (target: string, reason: string) =>
    entry(733, 'user')(
      `${JSON.stringify(target)} cannot be set: ${reason}.`,
      'Name a local of the frame on top, or an item inside its value such as d["k"] or items[0].',
    ),
  whatIfOuterFrame: () =>
    entry(734, 'user')(
      'Only the frame on top can be changed: the states of its callers are past, and what follows would not see the change.',
      'Step out to the frame, or go back to a state of it, and change it there.',
    ),
  noSuchBranch: (number: number, branches: number) =>
    entry(735, 'user')(
      `There is no branch ${number}.`,
      branches > 0
        ? `Branches are numbered from 1 to ${branches}.`
        : 'A branch begins with a change or another sample.',
    ),
  cannotSample: (world: string) =>
    entry(736, 'user')(
      `There are no other samples: ${world} gives the same states each time.`,
      'Ask a model on a server for samples.',
    ),
  lineNotRunBefore: (line: number) =>
    entry(740, 'user')(
      `Line ${line} did not run before this, as far as is recorded.`,
      'Choose a line that was passed, or run on to it.',
    ),
  noAlternatives: (reason: string) =>
    entry(739, 'user')(
      `There is nothing else that could stand here: ${reason}.`,
      'Ask about a value that was predicted later.',
    ),
  /** The state that a session was to be started at cannot be. */
  startAtRefused: (reason: string) =>
    entry(737, 'user')(
      `The session cannot start at the given state: ${reason}`,
      'Name a line of a function of the module on which execution can stop, and give its parameters as literals.',
    ),
  commandArgument: (wanted: string, given: string) =>
    entry(738, 'user')(
      `The command takes ${wanted}, not ${JSON.stringify(given.slice(0, 200))}.`,
      '"help" lists what the commands take.',
    ),
  noFunctionHere: () =>
    entry(763, 'user')(
      'There is no function at the cursor that can be called.',
      'Put the cursor into a function of a Python file.',
    ),
  unreadableRecording: (name: string) =>
    entry(761, 'user')(
      `${name} has no state that could be debugged.`,
      'The problems view says what is wrong in it: mend that, or record it again.',
    ),
  unsavedRecording: () =>
    entry(762, 'user')('The recording is not in a file yet.', 'Save it, then debug it.'),
  noPythonFile: () =>
    entry(751, 'user')(
      'There is no Python file to debug.',
      'Open a Python file, or name one as "program" in launch.json.',
    ),
  /** A notebook's cell, an older revision, a shown value: Python that is in no file of its own. */
  noFileOfItsOwn: (name: string) =>
    entry(764, 'user')(
      `What is open as ${name} is no Python file: only files, and texts that were never saved, are debugged.`,
      'Copy the code into a new file, which need not be saved, and debug that.',
    ),
  programNotFound: (path: string) =>
    entry(752, 'user')(
      `The program ${JSON.stringify(path)} does not exist.`,
      'Save the file first, or correct "program" in launch.json.',
    ),
  runInUntrustedWorkspace: () =>
    entry(753, 'user')(
      'A program of an untrusted workspace is not run.',
      'Trust the workspace, or ask a chat model, which runs nothing.',
    ),
  pythonOfUntrustedWorkspace: () =>
    entry(754, 'user')(
      'A Python interpreter that an untrusted workspace names is not used.',
      'Trust the workspace, or remove "python" from launch.json.',
    ),
  baseUrlInvalid: (baseUrl: string) =>
    entry(755, 'user')(
      `${JSON.stringify(baseUrl)} is not the base URL of a server.`,
      'Give it with scheme and version path, such as http://127.0.0.1:8000/v1.',
    ),
  baseUrlWithPassword: () =>
    entry(756, 'user')(
      'The base URL of a server may not hold a user name or a password.',
      'Remove them, and give the key by the command "Neural Debug: Set API Key".',
    ),
  noActiveSession: () =>
    entry(759, 'user')('No Neural Debug session is stopped here.', 'Start one with F5, and stop at a line.'),
  nothingSelected: (wanted: string) =>
    entry(760, 'user')(
      'Nothing is selected that the command could be about.',
      `Select ${wanted} in the State Tree, then try again.`,
    ),
  noFunction: (file: string) =>
    entry(757, 'user')(`${file} has no function at its top level.`, 'Open a file that has one.'),
  noPlaceForDoctest: (name: string) =>
    entry(758, 'user')(
      `The doctest cannot be put into ${name}: its result is not known, or its docstring has no place for it.`,
      'Give the function a docstring in triple quotes, or copy the call instead.',
    ),
  starImportInScript: (line: number) =>
    entry(450, 'user')(
      `Line ${line} imports all names of a module after the script has begun, which the format cwm cannot put to a model.`,
      'Move the import to the top of the file, or give a call to debug as the entry, such as "f(3)".',
    ),
  scriptHasNoBeginning: (path: string) =>
    entry(451, 'user')(
      `${path} has no statement to debug: it only defines, imports, or is empty.`,
      'Give a call to debug as the entry, such as "f(3)".',
    ),
  entryIsNoCall: (entryCall: string) =>
    entry(452, 'user')(
      `The entry ${JSON.stringify(entryCall)} is not a Python expression on one line.`,
      'Give a call of a function of the file, such as "f(3)".',
    ),
  noControlTokens: () =>
    entry(453, 'user')(
      'The answer has none of the control tokens of the format cwm.',
      'Let the server send special tokens ("skip_special_tokens": false for vLLM, --special for llama.cpp), use a model that knows the format, or set the format to "chat".',
    ),
  unreadableFrame: (text: string) =>
    entry(454, 'nobody')(
      `The model answered with something that is no frame of a trace: ${JSON.stringify(text.slice(0, 200))}`,
      'Try the step again; if it stays so, check that the model knows the format that is set.',
    ),
  endlessFrame: (characters: number) =>
    entry(455, 'nobody')(
      `The model wrote more than ${characters} characters without ending a frame.`,
      'Try the step again; values this large are beyond what a model can predict.',
    ),
  malformedTracePrompt: (what: string) =>
    entry(456, 'user')(
      `The prompt is not of the format cwm: ${what}.`,
      'Send a prompt as facebookresearch/cwm describes it in its prompting guide.',
    ),
  serverUrl: (problem: string) =>
    entry(301, 'user')(
      `The server's address cannot be used: ${problem}.`,
      'Give the base URL of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1, without user name, query or fragment.',
    ),
  serverKey: (server: string) =>
    entry(302, 'user')(
      `The API key for ${server} holds characters that no key has.`,
      'Enter the key again, without spaces, line breaks or quotes.',
    ),
  serverNotThere: (server: string) =>
    entry(303, 'user')(
      `Nothing answers at ${server}: the connection was refused.`,
      'Start the server, or correct the address and the port.',
    ),
  serverHostUnknown: (server: string, host: string) =>
    entry(304, 'user')(
      `The host ${host} of ${server} was not found.`,
      'Correct the address, or check the network and its name service.',
    ),
  serverTls: (server: string, code: string) =>
    entry(305, 'user')(
      `No secure connection to ${server} could be made (${code}).`,
      'If the server speaks plain HTTP, write http:// in its address. For a certificate of your own, start the editor or the command with NODE_EXTRA_CA_CERTS set to it.',
    ),
  serverUnreachable: (server: string, cause: string) =>
    entry(306, 'nobody')(
      `${server} cannot be reached: ${cause}.`,
      'Check that the server runs and that the network leads there, then try again.',
    ),
  serverRedirects: (server: string, target: string) =>
    entry(307, 'user')(
      `${server} redirects to ${target}, and redirects are not followed: source text and key go only where you said.`,
      'If you trust that place, set its address as the base URL.',
    ),
  serverRefusesKey: (server: string, status: number, said: string) =>
    entry(308, 'user')(
      `${server} refuses the request as not authorized (${status})${quoted(said)}.`,
      'Set the API key that belongs to this server, or one that may use this model.',
    ),
  serverModelUnknown: (server: string, model: string, said: string) =>
    entry(309, 'user')(
      `${server} has no model ${JSON.stringify(model)}${quoted(said)}.`,
      'Choose a model that the server lists, or set none for the first one.',
    ),
  serverRouteUnknown: (server: string, route: string, said: string) =>
    entry(310, 'user')(
      `${server} has no ${route}${quoted(said)}.`,
      'Correct the base URL (does it end in /v1?), or take a format that the server has a route for.',
    ),
  serverPromptTooLong: (server: string, said: string) =>
    entry(311, 'user')(
      `The prompt is too long for ${server}${quoted(said)}.`,
      'Start the server with a larger context, ask for fewer tokens, or debug a smaller file.',
    ),
  serverBusy: (server: string, retryAfter: string | null, said: string) =>
    entry(312, 'nobody')(
      `${server} takes no more requests for now (429)${quoted(said)}.`,
      retryAfter === null
        ? 'Wait a little, then try again; check the quota of your account if it stays so.'
        : `Try again after ${retryAfter}, as the server asks.`,
    ),
  serverFailed: (server: string, status: number, said: string) =>
    entry(313, 'nobody')(
      `${server} failed (${status})${quoted(said)}.`,
      "Try again; if it stays so, look into the server's own log.",
    ),
  serverRefused: (server: string, status: number, said: string) =>
    entry(314, 'user')(
      `${server} refuses the request (${status})${quoted(said)}.`,
      'Check the model, the extra fields of the request and what the server supports.',
    ),
  serverSendsPage: (server: string, status: number) =>
    entry(315, 'user')(
      `${server} answered with a web page (${status}), not with the OpenAI API.`,
      'Correct the base URL (does it end in /v1?); a proxy or a sign-in page may stand in between.',
    ),
  serverSendsNothing: (server: string) =>
    entry(316, 'nobody')(
      `${server} sent an empty answer.`,
      "Try again; if it stays so, look into the server's own log.",
    ),
  serverCut: (server: string) =>
    entry(317, 'nobody')(
      `The answer of ${server} broke off in the middle.`,
      "What was predicted is kept: try again to go on. If it stays so, look into the server's own log.",
    ),
  serverStalled: (server: string, seconds: number) =>
    entry(318, 'nobody')(
      `${server} stopped sending in the middle of its answer: nothing came for ${seconds} s.`,
      'What was predicted is kept: try again to go on, or allow a longer wait ("timeouts" of the server).',
    ),
  serverSilent: (server: string, seconds: number) =>
    entry(319, 'nobody')(
      `${server} did not begin to answer within ${seconds} s.`,
      'It may still be loading the model: try again, or allow a longer wait ("timeouts" of the server).',
    ),
  serverSendsOther: (server: string, what: string) =>
    entry(320, 'user')(
      `${server} does not answer as the OpenAI API does: ${what}.`,
      'Check that the base URL is that of an OpenAI-compatible server (does it end in /v1?).',
    ),
  serverStreamError: (server: string, said: string) =>
    entry(321, 'nobody')(
      `${server} reported an error in the middle of its answer${quoted(said)}.`,
      "Try again; if it stays so, look into the server's own log.",
    ),
  serverSendsTooMuch: (server: string, limit: string) =>
    entry(322, 'nobody')(
      `${server} sends without end: more than ${limit}.`,
      'Check that the address is that of a model server, and that it honours max_tokens.',
    ),
  serverWithoutModels: (server: string) =>
    entry(323, 'user')(
      `${server} lists no model.`,
      'Load a model in the server, or set the name of the model that it serves.',
    ),
  serverWithholds: (server: string, reason: string) =>
    entry(324, 'nobody')(
      `${server} ended its answer early (${reason}).`,
      'Try again, or use another model: this one, or a filter before it, did not let the answer through.',
    ),
  controlTokensLost: (server: string, profile: string) =>
    entry(325, 'user')(
      `${server} leaves the control tokens out of its answers: without them no state can be read.`,
      profile === 'llama.cpp'
        ? 'Start llama.cpp’s server with --special, or let prompts go as token ids ("mode": "auto").'
        : 'Let the server send special tokens: --special for llama.cpp’s server; "skip_special_tokens": false and "add_special_tokens": false in requests to vLLM, which the profile "vllm" sends.',
    ),
  ollamaTemplates: (server: string) =>
    entry(326, 'user')(
      `${server} is Ollama, which puts a chat template around every prompt: traces of the format cwm cannot be continued there.`,
      'Set the format to "chat" for this server, or serve the model with vLLM or llama.cpp.',
    ),
  serverIsFgserve: (server: string) =>
    entry(327, 'user')(
      `${server} is given as fgserve, which does not speak the OpenAI API: it has no streaming, does not say why an answer ends, and takes token ids of a tokenizer that it does not offer.`,
      'Serve the model with vLLM, as in: vllm serve facebook/cwm --tensor-parallel-size 2',
    ),
  serverTakesNoIds: (server: string, product: string) =>
    entry(328, 'user')(
      `Prompts cannot go to ${server} (${product}) as token ids: it does not tokenize, does not have the control tokens, or does not tell the ids of its answer.`,
      'Set "mode" to "auto" or "text", or use vLLM 0.10.2 or newer.',
    ),
  chatUnreadable: (came: string) =>
    entry(401, 'user')(
      `The model's answer holds no state that can be read. It began: ${JSON.stringify(came)}`,
      'Try again, or use a larger model or a server that holds answers to a JSON schema.',
    ),
  chatCut: (came: string) =>
    entry(402, 'user')(
      `The token limit ended the model's answer before its first state was complete. It began: ${JSON.stringify(came)}`,
      'Allow more tokens for an answer, or debug with smaller values.',
    ),
  chatEmpty: () =>
    entry(403, 'user')(
      'The model answered with nothing.',
      "Try again, or use another model; check that the server has the model's chat template.",
    ),
  chatRepeats: () =>
    entry(405, 'user')(
      'The model only repeats the current state instead of giving the one that follows.',
      'Try again, or use a larger model.',
    ),
  chatOnlyThought: () =>
    entry(404, 'user')(
      'The model thought until its answer ended, and gave no state.',
      'Allow more tokens for an answer, or turn its reasoning off in the server.',
    ),
} as const;

/** What somebody said, to follow a statement; nothing for nothing. */
function quoted(said: string): string {
  return said === '' ? '' : `: "${said}"`;
}

/** An error as people read it: what happened, and the way out. */
export function errorText({ message, wayOut }: CatalogueError): string {
  return `${message}${/[.!?:]$/.test(message) ? '' : '.'} ${wayOut}`;
}

/** What the system refuses, in words, by Node's names of system errors. */
const systemErrors: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['EACCES', 'the rights do not allow it'],
  ['EPERM', 'the system does not allow it'],
  ['EROFS', 'the disk can only be read'],
  ['ENOSPC', 'the disk is full'],
  ['EADDRINUSE', 'another program listens on it'],
]);

/** The message of anything that was thrown; of a system error, what it means. */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return ('code' in cause && systemErrors.get(cause.code)) || cause.message;
}

/** Anything that was thrown as an error of the catalogue. */
export function asCatalogueError(thrown: unknown): CatalogueError {
  return thrown instanceof CatalogueError ? thrown : errors.internal(thrown);
}
