// Loaded into every Node of VS Code before anything else (`node --require`): writes down which processes there are, and
// what each connects to, looks up and starts. Each record is a line of JSON in the file that a variable names.
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';

const file = process.env.NEURAL_DEBUG_TEST_CONNECTIONS;

function record(kind, what) {
  const { stack } = new Error();
  // The first three lines are the message, this function and the one that watches.
  const from = stack
    .split('\n')
    .slice(3, 9)
    .map((line) => line.trim());
  appendFileSync(file, `${JSON.stringify({ pid: process.pid, kind, what, from })}\n`);
}

/** Has a method written down before it is called; `describe` gets its arguments. */
function watch(owner, name, kind, describe) {
  const original = owner[name];
  if (typeof original !== 'function') throw new Error(`This Node has no ${name} to watch.`);
  const watched = function (...args) {
    record(kind, describe(args));
    return Reflect.apply(original, this, args);
  };
  // Some carry more, such as what promisify makes of them.
  Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
  owner[name] = watched;
}

/** Where `connect` is led to: options, port and host, or the path of a pipe. A list is what net makes of them. */
function target([first, second]) {
  const given = Array.isArray(first) ? first[0] : first;
  if (typeof given !== 'object' || given === null) {
    return Number.isNaN(Number(given)) ? String(given) : `${hostOf(second)}:${given}`;
  }
  return given.path ?? `${given.host ?? 'localhost'}:${given.port}`;
}

const hostOf = (value) => (typeof value === 'string' ? value : 'localhost');

if (file) {
  if (isMainThread) {
    const { pid, ppid, argv } = process;
    // For what the process starts; VS Code's server leaves it out of the environment of its extension host.
    process.env.NODE_OPTIONS = `--require ${JSON.stringify(import.meta.filename)}`;
    appendFileSync(file, `${JSON.stringify({ pid, ppid, kind: 'process', what: argv.join(' ') })}\n`);
  }
  // TCP, TLS, HTTP and fetch all connect by this one.
  watch(net.Socket.prototype, 'connect', 'connect', target);
  for (const name of Object.keys(dns).filter((each) => /^(lookup|resolve|reverse)/.test(each))) {
    watch(dns, name, 'lookup', ([host]) => String(host));
    if (dns.promises[name]) watch(dns.promises, name, 'lookup', ([host]) => String(host));
  }
  for (const resolver of [dns.Resolver, dns.promises.Resolver]) {
    const { prototype } = resolver;
    for (const name of Object.getOwnPropertyNames(prototype).filter((each) =>
      /^(resolve|reverse)/.test(each),
    ))
      watch(prototype, name, 'lookup', ([host]) => String(host));
  }
  watch(dgram.Socket.prototype, 'send', 'datagram', (args) => args.slice(1).filter(isPlain).join(' '));
  watch(dgram.Socket.prototype, 'connect', 'datagram', (args) => args.filter(isPlain).join(' '));
  // All ways to start a process, but for those that wait for its end, go by this one.
  watch(childProcess.ChildProcess.prototype, 'spawn', 'start', ([{ file: command, args }]) =>
    (args ?? [command]).join(' '),
  );
  for (const name of ['spawnSync', 'execFileSync', 'execSync'])
    watch(childProcess, name, 'start', ([command, args]) =>
      [command, ...(Array.isArray(args) ? args : [])].join(' '),
    );
  // For those who import single functions.
  syncBuiltinESMExports();
}

function isPlain(value) {
  return ['string', 'number'].includes(typeof value);
}
