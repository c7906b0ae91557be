import { existsSync } from 'node:fs';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { capabilitiesFor } from '../../adapter/dap/capabilities';
import { Client } from '../../adapter/dap/client';
import { dimmed } from '../../adapter/dap/styling';
import { capabilitiesIn } from '../../adapter/dap/whatIfRequests';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openReference } from '../../adapter/debugger/open';
import { type Entry, has, readTranscript } from '../support/transcript';

/** What a transcript has to show, in this order; something else may stand between. */
type Evidence = readonly (readonly [Entry['kind'], string, unknown?])[];

/** What the adapter does of the protocol: which transcript shows it, and by what. */
interface Row {
  readonly file: string;
  readonly shows: Evidence;
}

const row = (file: string, ...shows: Evidence): Row => ({ file, shows });

const expression = (context: string, result: object | null): Evidence => [
  ['request', 'evaluate', { context }],
  result ? ['response', 'evaluate', result] : ['error', 'evaluate', { error: { showUser: false } }],
];

const rows: Readonly<Record<string, Row>> = {
  'no prediction before the configuration is done': row(
    'recursion',
    ['request', 'setBreakpoints'],
    ['request', 'configurationDone'],
    ['event', 'output', { output: /^Showing/ }],
    ['event', 'stopped'],
  ),
  'a step back over calls': row(
    'recursion',
    ['request', 'stepBack'],
    ['event', 'stopped', { reason: 'step' }],
  ),
  'reverse continue': row(
    'recursion',
    ['request', 'reverseContinue'],
    ['event', 'stopped', { reason: 'breakpoint' }],
  ),
  'a variable that is set': row(
    'setVariable',
    ['request', 'setVariable', { value: '[10, 20] * 2' }],
    ['response', 'setVariable', { value: '[10, 20, 10, 20]' }],
    ['event', 'output', { output: /what if/ }],
    ['request', 'neuralDebug/switchBranch'],
    ['response', 'variables', { variables: [{ name: 'items', value: '[1, 2]' }] }],
  ),
  'an expression that is set': row(
    'setVariable',
    ['request', 'setExpression', { expression: 'prices["a"][0]' }],
    ['response', 'setExpression', { value: '7' }],
    ['error', 'setExpression'],
  ),
  'a hover': row('evaluate', ...expression('hover', { result: /./ })),
  'a hover over what is not known': row('evaluate', ...expression('hover', null)),
  'a watch that is evaluated': row(
    'evaluate',
    ['request', 'evaluate', { expression: 'sum(items) * 2', context: 'watch' }],
    ['response', 'evaluate', { result: /^\d+$/ }],
  ),
  'a watch that is not predicted': row('evaluate', ...expression('watch', null)),
  'commands of the debug console': row(
    'console',
    ['request', 'evaluate', { expression: '.help', context: 'repl' }],
    ['response', 'evaluate', { result: /\.ask EXPRESSION/ }],
  ),
  'copying a value': row('evaluate', ...expression('clipboard', { variablesReference: 0 })),
  'a value in full for the variables': row('evaluate', ...expression('variables', { variablesReference: 0 })),
  'a condition': row(
    'hitConditions',
    ['request', 'setBreakpoints', { breakpoints: [{ condition: 'amount > 1', hitCondition: '>=1' }] }],
    ['event', 'stopped', { reason: 'breakpoint' }],
  ),
  'a hit count that cannot be read': row('hitConditions', [
    'response',
    'setBreakpoints',
    { breakpoints: [{ verified: false, message: /./ }] },
  ]),
  'a log point': row('logPoints', ['event', 'output', { output: /^predicted: amount 1, twice 2/ }]),
  'a function breakpoint': row(
    'functionBreakpoints',
    ['request', 'setFunctionBreakpoints'],
    ['event', 'stopped', { reason: 'function breakpoint' }],
  ),
  'a data breakpoint': row(
    'dataBreakpoints',
    ['response', 'dataBreakpointInfo', { accessTypes: ['write'] }],
    ['request', 'setDataBreakpoints'],
    ['event', 'stopped', { reason: 'data breakpoint' }],
  ),
  'raised exceptions': row(
    'raised',
    ['request', 'setExceptionBreakpoints', { filters: ['raised'] }],
    ['event', 'stopped', { reason: 'exception' }],
    ['response', 'exceptionInfo', { description: /real|predicted/ }],
  ),
  'uncaught exceptions': row(
    'uncaught',
    ['event', 'stopped', { reason: 'exception' }],
    ['response', 'exceptionInfo', { breakMode: 'unhandled' }],
  ),
  doubts: row(
    'exceptionFilters',
    ['request', 'setExceptionBreakpoints', { filters: ['doubt'] }],
    ['event', 'stopped', { description: /doubt: line 20 is 62% sure; it may also be on line 21/ }],
  ),
  'exception types': row(
    'exceptionFilters',
    [
      'request',
      'setExceptionBreakpoints',
      { filterOptions: [{ filterId: 'raised', condition: 'KeyError, ValueError' }] },
    ],
    ['event', 'stopped', { reason: 'exception', text: /^ValueError/ }],
  ),
  'a frame that is restarted': row(
    'restartFrame',
    ['request', 'restartFrame'],
    ['event', 'stopped', { reason: 'goto' }],
  ),
  'a jump': row(
    'goto',
    ['response', 'gotoTargets', { targets: [{ label: /What if/ }] }],
    ['request', 'goto'],
    ['event', 'stopped', { description: /what if/ }],
  ),
  'a step into one of several calls': row(
    'stepInTargets',
    ['response', 'stepInTargets', { targets: [{ id: 0 }, { id: 1 }] }],
    ['request', 'stepIn', { targetId: 1 }],
    ['event', 'stopped', { reason: 'step' }],
  ),
  'where breakpoints can sit': row(
    'breakpoints',
    ['response', 'setBreakpoints', { breakpoints: [{ verified: true, message: /^Moved to line/ }] }],
    ['response', 'setBreakpoints', { breakpoints: [{ verified: false, message: /./ }] }],
    ['response', 'breakpointLocations', { breakpoints: [{}] }],
  ),
  completions: row('completions', [
    'response',
    'completions',
    { targets: [{ label: 'amount' }, { label: 'amounts' }] },
  ]),
  'the files that the model sees': row('paging', [
    'response',
    'loadedSources',
    { sources: [{ path: '/project/sure.py' }] },
  ]),
  'progress that is cancelled': row(
    'progress',
    ['event', 'progressStart', { cancellable: true }],
    ['event', 'progressUpdate', { message: '1 state' }],
    ['request', 'cancel', { progressId: /./ }],
    ['event', 'stopped', { reason: 'pause' }],
    ['event', 'progressEnd'],
  ),
  'a question to the model that is cancelled': row(
    'cancel',
    ['request', 'variables'],
    ['request', 'cancel', { requestId: 1 }],
    ['error', 'variables', { error: { id: 721, showUser: false } }],
    ['response', 'variables', { variables: [{ name: '', type: /the model's guess/ }] }],
    ['request', 'evaluate', { expression: '.ask TABLE[2]' }],
    ['error', 'evaluate', { error: { id: 721 } }],
    ['response', 'evaluate', { result: /^4 / }],
  ),
  'what is shown has changed': row(
    'setVariable',
    ['response', 'setVariable'],
    ['event', 'invalidated', { areas: ['all'] }],
  ),
  'a value that is asked for by a click': row(
    'lazy',
    ['response', 'variables', { variables: [{ name: 'TABLE', presentationHint: { lazy: true } }] }],
    ['response', 'variables', { variables: [{ name: '', type: /the model's guess/ }] }],
  ),
  'frames page by page': row(
    'paging',
    ['request', 'stackTrace', { startFrame: 0, levels: 1 }],
    ['response', 'stackTrace', { totalFrames: 3, stackFrames: [{ name: /^half/ }] }],
    ['request', 'stackTrace', { startFrame: 1, levels: 1 }],
    ['response', 'stackTrace', { totalFrames: 3, stackFrames: [{ name: /^f/ }] }],
  ),
  'values page by page, and what was cut off': row(
    'paging',
    ['response', 'variables', { variables: [{ indexedVariables: 128 }] }],
    ['request', 'variables', { filter: 'indexed', start: 100, count: 2 }],
    ['response', 'variables', { variables: [{ name: '100' }, { name: '101' }] }],
    ['request', 'variables', { filter: 'indexed', start: 126 }],
    ['response', 'variables', { variables: [{ name: '…', value: /more, cut off/ }] }],
  ),
  'doubtful frames': row('sure', [
    'response',
    'stackTrace',
    { stackFrames: [{ presentationHint: 'subtle', name: /path \d+%/ }] },
  ]),
  'separators in the stack': row('labels', [
    'response',
    'stackTrace',
    { stackFrames: [{ presentationHint: 'label', name: /what if found = 40/ }] },
  ]),
  'the past is read-only': row(
    'past',
    ['response', 'variables', { variables: [{ name: 'n', presentationHint: { attributes: ['readOnly'] } }] }],
    ['error', 'setVariable'],
  ),
  'rows that are no values': row('sure', [
    'response',
    'variables',
    { variables: [{ name: 'confidence', presentationHint: { kind: 'virtual' } }] },
  ]),
  'what was returned': row(
    'past',
    ['response', 'scopes', { scopes: [{ presentationHint: 'returnValue' }] }],
    ['response', 'variables', { variables: [{ name: 'look()', value: '7' }] }],
  ),
  'doubtful values and output are dimmed': row(
    'styling',
    ['request', 'initialize', { supportsANSIStyling: true }],
    [
      'event',
      'output',
      { output: `${dimmed("Doubtful at line 8 of <module>: label = '\\x1b[31mred' is 30% sure")}\n` },
    ],
    ['response', 'variables', { variables: [{ value: dimmed("'\\x1b[31mred'") }] }],
    ['event', 'output', { output: `${dimmed('predicted output: cost 5')}\n` }],
  ),
  'what is predicted says so': row(
    'recursion',
    ['event', 'stopped', { description: /^Predicted: / }],
    ['response', 'threads', { threads: [{ name: 'MainThread (predicted)' }] }],
    ['response', 'scopes', { scopes: [{ name: /\(predicted\)$/ }] }],
  ),
  'what really ran says so': row(
    'past',
    ['event', 'stopped', { description: /^Real run: / }],
    ['response', 'scopes', { scopes: [{ name: /\(real run\)$/ }] }],
  ),
  'a restart': row('restart', ['request', 'restart'], ['event', 'stopped', { reason: 'entry' }]),
  'a session that is ended': row('restart', ['request', 'terminate'], ['event', 'terminated']),
};

/** The row that shows what each capability claims. */
const claims: Readonly<Record<string, keyof typeof rows>> = {
  supportsConfigurationDoneRequest: 'no prediction before the configuration is done',
  supportsConditionalBreakpoints: 'a condition',
  supportsHitConditionalBreakpoints: 'a condition',
  supportsLogPoints: 'a log point',
  supportsFunctionBreakpoints: 'a function breakpoint',
  supportsDataBreakpoints: 'a data breakpoint',
  supportsStepBack: 'a step back over calls',
  supportsEvaluateForHovers: 'a hover',
  supportsClipboardContext: 'copying a value',
  supportsBreakpointLocationsRequest: 'where breakpoints can sit',
  supportsExceptionInfoRequest: 'raised exceptions',
  supportsDelayedStackTraceLoading: 'frames page by page',
  supportsLoadedSourcesRequest: 'the files that the model sees',
  supportsStepInTargetsRequest: 'a step into one of several calls',
  supportsCompletionsRequest: 'completions',
  completionTriggerCharacters: 'completions',
  supportsRestartRequest: 'a restart',
  supportsRestartFrame: 'a frame that is restarted',
  supportsTerminateRequest: 'a session that is ended',
  supportsCancelRequest: 'progress that is cancelled',
  supportsExceptionFilterOptions: 'exception types',
  exceptionBreakpointFilters: 'doubts',
  supportsSetVariable: 'a variable that is set',
  supportsSetExpression: 'an expression that is set',
  supportsGotoTargetsRequest: 'a jump',
  supportsANSIStyling: 'doubtful values and output are dimmed',
};

const fileOf = (name: string): URL => new URL(`golden/${name}.txt`, import.meta.url);

/** Where the evidence stops being found in a transcript; null where all of it is there. */
function missing(entries: readonly Entry[], shows: Evidence): Evidence[number] | null {
  let from = 0;
  for (const wanted of shows) {
    const [kind, name, shape] = wanted;
    const at = entries.findIndex(
      (entry, index) =>
        index >= from &&
        entry.kind === kind &&
        entry.name === name &&
        (shape === undefined || has(entry.body, shape)),
    );
    if (at < 0) return wanted;
    from = at + 1;
  }
  return null;
}

/** What a transcript's adapter claimed. */
function claimed(entries: readonly Entry[]): Map<string, unknown> {
  return new Map(
    entries.flatMap(({ kind, name, body }): [string, unknown][] => {
      if (kind === 'response' && name === 'initialize') return Object.entries(body as object);
      if (kind !== 'event' || name !== 'capabilities') return [];
      return Object.entries((body as DebugProtocol.CapabilitiesEvent['body']).capabilities);
    }),
  );
}

describe('a golden transcript', () => {
  it.each(Object.entries(rows))('shows %s', (_, { file, shows }) => {
    expect(existsSync(fileOf(file)), `golden/${file}.txt`).toBe(true);
    expect(missing(readTranscript(fileOf(file)), shows)).toBeNull();
  });
});

describe('a capability', () => {
  it('is claimed only where a transcript shows it', async () => {
    const client = new Client({ supportsANSIStyling: true });
    const configuration = parseConfiguration({ world: 'reference', program: 'none.py' });
    const program = { path: '/none.py', source: 'x = 1\n', entry: null, args: [] };
    const world = await openReference(configuration, program);
    const all = { ...capabilitiesFor(client), ...capabilitiesIn(world) };
    await world.close();
    expect(Object.keys(all).sort()).toEqual(Object.keys(claims).sort());
    for (const [capability, value] of Object.entries(all)) {
      const shown = rows[claims[capability] ?? ''];
      expect(shown, capability).toBeDefined();
      if (shown) expect(claimed(readTranscript(fileOf(shown.file))).get(capability)).toEqual(value);
    }
  });
});
