// The process in which Pyodide runs one of our scripts, locked down before anything of Python is loaded.
//
//     node <flags of pyodide.ts> pyodideHost.mjs PYODIDE_FOLDER MEMORY_IN_MIB [snapshot]
//
// To Python, descriptors 0 to 3 are those of this process: input, output, errors, and the script's messages. It
// has no other way out. Descriptor 4 is the script and 5 the snapshot, where there is one: they are read first, so that
// no path of theirs has to be allowed. What keeps the rest away, from the outside in:
//
//  1. limits of the system, set by the starter;
//  2. Node's permission model: no file but Pyodide's own can be read, none written, and no process, worker or
//     native code started. Where it is missing, nothing is run;
//  3. no network: what connects, listens or looks names up throws;
//  4. no code from strings (a flag of V8), no WebAssembly but Python's own, no environment, no signals, a limit on
//     Python's memory, and none of Node's other ways to files and processes;
//  5. Python has no module that leads to JavaScript, can load none, and has no ctypes.
//
// Python's code may well get past 5 one day. 2 to 4 do not rely on it: test/sandbox/escapes.test.ts runs JavaScript
// in here that wants out.
import child from 'node:child_process';
import cluster from 'node:cluster';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import inspector from 'node:inspector';
import module, { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import tls from 'node:tls';
import traceEvents from 'node:trace_events';
import tty from 'node:tty';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import wasi from 'node:wasi';
import workers from 'node:worker_threads';

/** Exit codes that pyodide.ts knows: the process is not locked down; Python itself broke. */
const notLockedDown = 97;
const pythonBroke = 98;

const messagesDescriptor = 3;
const scriptDescriptor = 4;
const snapshotDescriptor = 5;
const pageSize = 65536;

const { readSync, writeSync, readFileSync } = fs;
const exit = process.exit.bind(process);

function leave(code, why) {
  writeSync(2, `${why}\n`);
  exit(code);
}

/** What an open file holds, which is closed then. */
function readWhole(descriptor) {
  const bytes = readFileSync(descriptor);
  fs.closeSync(descriptor);
  return bytes;
}

/** Makes functions of an owner throw, for good. */
function forbid(owner, ...names) {
  for (const name of names) {
    if (typeof owner?.[name] !== 'function') continue;
    const value = () => {
      throw new Error(`${name} is not available in the sandbox`);
    };
    Object.defineProperty(owner, name, { value, writable: false, configurable: false });
  }
}

function checkPermissions() {
  const { permission } = process;
  if (!permission) leave(notLockedDown, 'This Node has no permission model.');
  for (const scope of ['fs.write', 'child', 'worker']) {
    if (permission.has(scope)) leave(notLockedDown, `The permission model does not refuse ${scope}.`);
  }
  for (const file of [path.parse(process.execPath).root, process.execPath]) {
    if (permission.has('fs.read', file)) leave(notLockedDown, `The permission model lets ${file} be read.`);
  }
}

function closeNetwork() {
  forbid(net.Socket.prototype, 'connect');
  // A socket of a descriptor has a handle whose class makes others, which bind to paths and open descriptors.
  for (const [fd, name] of ['stdin', 'stdout', 'stderr'].entries()) {
    const write = (bytes, _, done) => {
      writeSync(fd, bytes);
      done();
    };
    const value = new Writable({ write });
    Object.defineProperty(process, name, { value, writable: false, configurable: false });
  }
  Object.defineProperty(net.Socket.prototype, 'constructor', { value: undefined, writable: false });
  forbid(net, 'Socket', 'Stream');
  forbid(tty, 'ReadStream', 'WriteStream');
  forbid(net.Server.prototype, 'listen');
  forbid(net, 'connect', 'createConnection', 'createServer');
  forbid(tls, 'connect', 'createServer', 'TLSSocket');
  forbid(dgram, 'createSocket');
  forbid(dgram.Socket.prototype, 'bind', 'connect', 'send');
  for (const owner of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    const names = Object.getOwnPropertyNames(owner);
    forbid(owner, ...names.filter((name) => /^(lookup|resolve|reverse)/.test(name)));
  }
  for (const name of ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource']) {
    Reflect.deleteProperty(globalThis, name);
  }
}

function closeProcess() {
  forbid(inspector, 'open');
  forbid(inspector.Session?.prototype, 'connect', 'connectToMainThread', 'post');
  forbid(child, 'spawn', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork');
  forbid(child.ChildProcess.prototype, 'spawn');
  // What os.system() calls: as if there were no such command.
  Object.defineProperty(child, 'spawnSync', {
    value: () => ({ status: 127 }),
    writable: false,
    configurable: false,
  });
  forbid(cluster, 'fork');
  forbid(workers, 'Worker');
  // Signals reach every process of the user.
  forbid(
    process,
    'kill',
    '_kill',
    '_debugProcess',
    '_debugEnd',
    '_linkedBinding',
    'dlopen',
    'execve',
    'getBuiltinModule',
    'loadEnvFile',
  );
  // A report tells the computer's name and addresses, and is a file.
  Object.defineProperty(process, 'report', { value: undefined, writable: false, configurable: false });
  // Ways to files, threads and other processes that the permission model of some version has not minded.
  forbid(wasi, 'WASI');
  forbid(traceEvents, 'createTracing');
  forbid(v8, 'setFlagsFromString', 'writeHeapSnapshot', 'setHeapSnapshotNearHeapLimit', 'startCpuProfile');
  forbid(module, 'register', 'registerHooks', 'enableCompileCache');
  forbid(crypto, 'setEngine');
  forbid(os, 'setPriority', 'networkInterfaces', 'userInfo', 'hostname');
  forbid(fs, 'fchmod', 'fchmodSync', 'fchown', 'fchownSync', 'futimes', 'futimesSync');
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  // Emscripten asks here for the numbers of flags; the permission model refuses that, and all else.
  const constants = { fs: fs.constants };
  const binding = (name) => {
    if (name !== 'constants') throw new Error('process.binding is not available in the sandbox');
    return constants;
  };
  Object.defineProperty(process, 'binding', { value: binding, writable: false, configurable: false });
  syncBuiltinESMExports();
}

/** Lowers how many pages the memory of a WebAssembly module can grow to; null where it says no such number. */
function withMemoryLimit(bytes, pages) {
  const limited = new Uint8Array(bytes);
  let at = 8; // After the magic number and the version.
  const number = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = limited[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < limited.length) {
    const section = limited[at++];
    const size = number();
    if (section !== 5) {
      at += size;
      continue;
    }
    number(); // How many memories there are.
    const hasMaximum = (limited[at++] & 1) === 1;
    const initial = number();
    const start = at;
    if (!hasMaximum || number() < pages || initial > pages) return null;
    // In as many bytes as before, so that nothing else moves.
    for (let byte = start, left = pages; byte < at; byte++, left >>>= 7) {
      limited[byte] = (left & 0x7f) | (byte < at - 1 ? 0x80 : 0);
    }
    return limited;
  }
  return null;
}

/** What Python calls to load native code from its own file system, and to run JavaScript from a text. */
const loaders = [
  ...['_dlopen_js', '_emscripten_dlopen_js'],
  ...['emscripten_run_script', 'emscripten_run_script_int', 'emscripten_run_script_string'],
];

/** The first module that is instantiated with a memory of its own is Python: it gets the limit, and no loader. */
function limitMemory(mebibytes) {
  const { instantiate } = WebAssembly;
  let isLimited = false;
  WebAssembly.instantiate = (source, imports) => {
    if (isLimited || source instanceof WebAssembly.Module) return instantiate(source, imports);
    for (const name of loaders) if (imports.env[name]) imports.env[name] = () => 0;
    const limited = withMemoryLimit(source, Math.ceil((mebibytes * 2 ** 20) / pageSize));
    isLimited = limited !== null;
    return instantiate(limited ?? source, imports);
  };
  return () => isLimited;
}

/** Ends what makes WebAssembly run that is not Python. */
function closeWebAssembly() {
  forbid(
    WebAssembly,
    'compile',
    'compileStreaming',
    'instantiate',
    'instantiateStreaming',
    'Module',
    'Instance',
  );
}

/**
 * Renames modules in the table of those that are built in, so that no import finds them: names are compared as ASCII,
 * which has no such byte.
 */
function removeBuiltins(module, names) {
  const entrySize = 8; // A pointer to the name and one to the function.
  for (let entry = module.HEAPU32[module._PyImport_Inittab >> 2]; ; entry += entrySize) {
    const pointer = module.HEAPU32[entry >> 2];
    if (pointer === 0) return;
    const name = module.UTF8ToString(pointer);
    if (names.test(name)) module.HEAPU8.fill(0xff, pointer, pointer + name.length);
  }
}

/** Takes out of Python what leads to JavaScript, and random numbers that were seeded with the snapshot. */
const hidePyodide = `
def hide():
    import asyncio, gc, sys
    import _testinternalcapi
    # Modules are kept apart from sys.modules too, and given again to who asks for them below the import system.
    for name in ('_pyodide_core', '_ctypes'):
        _testinternalcapi.clear_extension(name, name)
    asyncio.run = asyncio.runners.run
    asyncio.events._event_loop_policy = None
    asyncio.events._set_running_loop(None)
    for finder in sys.meta_path[:]:
        if 'frozen_importlib' not in finder.__module__:
            sys.meta_path.remove(finder)
            getattr(finder, 'jsproxies', {}).clear()
    led = ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core', 'ctypes', '_ctypes')
    for name in list(sys.modules):
        if name.partition('.')[0] in led:
            names = getattr(sys.modules.pop(name), '__dict__', None)
            if type(names) is dict:
                names.clear()
        elif name in ('random', 'tempfile', '_testinternalcapi'):
            del sys.modules[name]
    gc.collect()
def loop_without_sockets():
    from asyncio.selector_events import BaseSelectorEventLoop as Loop
    # The pipe wakes a loop from other threads. There are none, and no sockets.
    Loop._ssock = Loop._csock = None
    Loop._make_self_pipe = Loop._close_self_pipe = lambda self: None
hide()
loop_without_sockets()
del hide, loop_without_sockets
`;

checkPermissions();
const [folder, memory, hasSnapshot] = process.argv.slice(2);
const source = readWhole(scriptDescriptor).toString('utf8');
const snapshot = hasSnapshot ? { _loadSnapshot: readWhole(snapshotDescriptor) } : {};
closeNetwork();
closeProcess();
const memoryIsLimited = limitMemory(Number(memory));

const { loadPyodide } = await import(pathToFileURL(path.join(folder, 'pyodide.mjs')).href);
const pyodide = await loadPyodide({
  indexURL: folder,
  ...snapshot,
  jsglobals: Object.create(null),
  // `_` would be the path of this file.
  env: { HOME: '/home/pyodide', PYTHONHASHSEED: '0', PYTHONINSPECT: '', _: 'python' },
});
if (!memoryIsLimited()) leave(notLockedDown, 'The memory of Python cannot be limited.');

const { FS, _module: python } = pyodide;
pyodide.setStdin({ read: (buffer) => readSync(0, buffer) });
pyodide.setStdout({ write: (bytes) => writeSync(1, bytes) });
pyodide.setStderr({ write: (bytes) => writeSync(2, bytes) });

// The script's messages: a device that is open at the descriptor where the script expects it, and at no path.
const device = FS.makedev(64, 0);
FS.registerDevice(device, {
  write: (_stream, heap, offset, length) => writeSync(messagesDescriptor, heap, offset, length),
});
FS.mkdev('/dev/messages', device);
const opened = FS.open('/dev/messages', 'w');
if (opened.fd !== messagesDescriptor) FS.dupStream(opened, messagesDescriptor);
FS.unlink('/dev/messages');

pyodide.runPython(hidePyodide);
// Those of CPython's own tests read and write its memory.
removeBuiltins(python, /^(_ctypes|_pyodide_core|_remote_debugging|_test\w+|_xxtestfuzz|xxsubtype)$/);
closeWebAssembly();

python.SOCKFS.createSocket = () => {
  throw new FS.ErrnoError(pyodide.ERRNO_CODES.EACCES);
};

const text = python.stringToNewUTF8(source);
try {
  exit(python._PyRun_SimpleString(text) === 0 ? 0 : 1);
} catch (thrown) {
  if (thrown?.name === 'ExitStatus') exit(thrown.status);
  leave(pythonBroke, String(thrown?.message ?? thrown).slice(0, 1000));
}
