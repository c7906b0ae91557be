import { writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { extension } from './activation';
import { breakpoint, inFolder, leaveNothing, openFile, until } from './debugging';

/** What happened on the way from F5 to the first stop, each by the clock of all processes (ms since 1970). */
interface Start {
  /** Messages between editor and adapter, such as `launch`, `launch answered`, `stopped`. */
  readonly marks: Record<string, number>;
  /** The processor's time that the extension host used meanwhile: ms. */
  readonly processor: number;
}

/** How many sessions are started in a window: the first one loads what the others find loaded. */
const sessions = 4;

const resultsVariable = 'NEURAL_DEBUG_TEST_RESULTS';

const program = `def total(prices):
    amount = 0
    for price in prices:
        amount = amount + price
    return amount


print(total([400, 20, 3]))
`;

const now = () => performance.timeOrigin + performance.now();

/**
 * Measures in this window what `npm run bench:vscode` reports: the extension's activation, and sessions up to their
 * first stop.
 */
export async function run(): Promise<void> {
  const used = process.cpuUsage();
  const begin = now();
  await extension().activate();
  const activation = { clock: now() - begin, processor: processorTime(used) };
  // The editor's own share is what a debugger that does nothing takes.
  const others = [await start('other-python')];
  const starts: Start[] = [];
  while (starts.length < sessions) {
    starts.push(await start('neural-debug'));
    others.push(await start('other-python'));
  }
  const results = process.env[resultsVariable];
  if (results) writeFileSync(results, JSON.stringify({ activation, starts, others }));
}

function processorTime(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Starts a session as F5 does, up to the first stop that the editor shows: ours has a breakpoint in a function. */
async function start(type: string): Promise<Start> {
  const path = inFolder('timed.py');
  await openFile(path, program);
  vscode.debug.addBreakpoints([breakpoint(path, 4)]);
  // A person looks at a file before they debug it: what comes with it is not what is measured.
  await vscode.commands.executeCommand('vscode.executeCodeLensProvider', vscode.Uri.file(path), 10);
  await new Promise((passed) => setTimeout(passed, 1500));

  const marks: Record<string, number> = {};
  const mark = (name: string) => (marks[name] ??= now());
  const watching = [
    vscode.debug.registerDebugAdapterTrackerFactory(type, {
      createDebugAdapterTracker: () => ({
        onWillStartSession: () => mark('session'),
        onWillReceiveMessage: ({ command }: { command: string }) => mark(command),
        onDidSendMessage: ({ type, command, event }: { type: string; command?: string; event?: string }) => {
          mark(type === 'response' ? `${command ?? ''} answered` : (event ?? type));
        },
      }),
    }),
    vscode.debug.onDidChangeActiveStackItem((item) => {
      if (item instanceof vscode.DebugStackFrame) mark('shown');
    }),
  ];
  const used = process.cpuUsage();
  mark('F5');
  // What F5 starts: the command itself would ask which debugger, for the suite has another one for Python.
  void vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], {
    type,
    request: 'launch',
    name: 'timed',
    program: '${file}',
  });
  await until(() => marks['shown'], 'the first stop');
  const processor = processorTime(used);
  vscode.Disposable.from(...watching).dispose();
  await new Promise((passed) => setTimeout(passed, 1000));
  await vscode.debug.stopDebugging();
  await until(() => vscode.debug.activeDebugSession === undefined, 'the end of the session');
  await leaveNothing();
  return { marks, processor };
}
