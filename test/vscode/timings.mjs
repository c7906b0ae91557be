// How long the extension takes in a real VS Code: its activation, and sessions from F5 to the first stop.
import { mkdtempSync, readFileSync, existsSync, rmSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { bundleSuite, otherDebugger, suiteEnvironment } from './apiSuite.mjs';
import { runInPage } from './apiTests.mjs';
import { connected } from './modelServer.mjs';
import { root } from './setup.mjs';
import { VsCodeServer } from './vscodeServer.mjs';

const suite = join(root, 'test-results/timings.cjs');

/** From F5 to the stop that is shown: each phase ends with a message, or with what the editor does. */
const phases = [
  ['resolve the configuration', 'session'],
  ['make the adapter', 'initialize'],
  ['initialize', 'initialize answered'],
  ['launch', 'initialized'],
  ['set breakpoints', 'configurationDone'],
  ['first request to the server', 'asked'],
  ['the server answers', 'server'],
  ['first stop', 'stopped'],
  ['show it', 'shown'],
];

/** Passes requests on to a server, and keeps when each began and ended. */
async function startStopwatch(baseUrl) {
  const origin = new URL(baseUrl);
  const requests = [];
  const now = () => performance.timeOrigin + performance.now();
  const server = createServer((asked, answer) => {
    const times = { begin: now(), end: Infinity };
    requests.push(times);
    answer.once('close', () => (times.end = now()));
    const { hostname, port } = origin;
    const headers = { ...asked.headers, host: origin.host };
    const passed = send({ hostname, port, path: asked.url, method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    passed.once('error', () => answer.destroy());
    answer.once('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}${origin.pathname}`,
    /** Begin and end of each request, and how long one at least was open from one time to another. */
    between(from, to) {
      const within = requests.filter(({ begin, end }) => end > from && begin < to);
      let covered = 0;
      let until = from;
      for (const { begin, end } of within) {
        covered += Math.max(0, Math.min(end, to) - Math.max(begin, until));
        until = Math.max(until, Math.min(end, to));
      }
      return { first: within[0]?.begin ?? to, covered };
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}

/**
 * Opens windows one after the other and prints what their sessions took.
 *
 * @param {number} windows how many
 */
export async function measure(browser, modelServer, vsix, windows) {
  await bundleSuite('timings.ts', suite);
  const stopwatch = await startStopwatch(modelServer.baseUrl);
  const activations = [];
  const firsts = [];
  const laters = [];
  const others = [];
  try {
    for (let window = 0; window < windows; window++) {
      const {
        activation,
        starts,
        others: theirs,
      } = await measureWindow(browser, { ...modelServer, baseUrl: stopwatch.baseUrl }, vsix);
      activations.push(activation);
      const [first, ...rest] = starts.map((start) => inPhases(start, stopwatch));
      firsts.push(first);
      laters.push(...rest);
      // The first one is the editor's first session at all.
      others.push(...theirs.slice(1).map((start) => inPhases(start, stopwatch)));
    }
  } finally {
    await stopwatch.stop();
  }
  console.log('\nMilliseconds by the clock (median; least to most), in a real VS Code.');
  console.log(
    `\nActivation of the extension, with loading it: ${spread(activations.map(({ clock }) => clock))};`,
  );
  console.log(`  the processor's time: ${spread(activations.map(({ processor }) => processor))}`);
  print('First session of a window', firsts);
  print('Later sessions', laters);
  print('A debugger that does nothing: the editor’s own share', others);
}

async function measureWindow(browser, modelServer, vsix) {
  const scratch = mkdtempSync(join(tmpdir(), 'neural-debug-timings-'));
  const file = join(scratch, 'results.json');
  const { machineSettings, environment } = connected({ modelServer });
  const vscode = await VsCodeServer.start({
    vsix,
    runsApiTests: true,
    machineSettings,
    environment: { ...environment, ...suiteEnvironment(file) },
  });
  try {
    const folder = mkdtempSync(join(scratch, 'folder-'));
    const { log } = await runInPage(browser, vscode.apiTestsUrl(folder, otherDebugger, suite));
    if (!existsSync(file)) throw new Error(`The window measured nothing:\n${log.slice(-3000)}`);
    return JSON.parse(readFileSync(file, 'utf8'));
  } finally {
    await vscode.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** How long each phase of a start took, and all of them without the server. */
function inPhases({ marks, processor }, stopwatch) {
  const { first, covered } = stopwatch.between(marks.F5, marks.stopped);
  const ends = { ...marks, asked: first, server: first + covered };
  const took = {};
  let before = marks.F5;
  for (const [name, end] of phases) {
    took[name] = ends[end] - before;
    before = ends[end];
  }
  const all = marks.shown - marks.F5;
  return {
    ...took,
    'all of it': all,
    'without the server': all - covered,
    'the processor’s time': processor,
  };
}

function print(title, starts) {
  console.log(`\n${title} (${starts.length}), from F5 to the stop that is shown:`);
  for (const name of Object.keys(starts[0])) {
    console.log(`  ${name.padEnd(30)} ${spread(starts.map((start) => start[name]))}`);
  }
}

function spread(times) {
  const sorted = times.toSorted((one, other) => one - other);
  const [least, median, most] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) =>
    Math.round(sorted[at]),
  );
  return `${String(median).padStart(5)}  (${least} to ${most})`;
}
