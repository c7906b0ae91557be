/* global folder, fs, net, tls, dgram, dns, child, cluster, workers, inspector */
/* global Buffer, EventSource, TextEncoder, WebSocket, fetch, setTimeout */
// What JavaScript could try in the sandbox's process once Python's code has got to it: escapes.test.ts puts this in
// place of the part of pyodideHost.mjs that runs the script, in the scope of its imports. `target` says what is to be
// had outside. Each attempt returns what it got, or throws.
const target = JSON.parse(fs.readFileSync(0, 'utf8'));

/** What a callback or an emitter comes to. */
const come = (begin) =>
  new Promise((resolve, reject) => {
    const done = (error, value) => (error ? reject(error) : resolve(value ?? 'came'));
    const emitter = begin(done);
    emitter?.on?.('error', reject);
    setTimeout(() => reject(new Error('nothing came')), 3000);
  });

/** A module that reads the file /secret.txt of the folder that is opened to it first: WASI's path_open and fd_read. */
const emptyModule = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

const attempts = {
  // Files.
  read: () => fs.readFileSync(target.secret, 'utf8'),
  readPath: () => fs.readFileSync(Buffer.from(target.secret)).toString(),
  readBytes: () => fs.readFileSync(new TextEncoder().encode(target.secret)).toString(),
  readUrl: () => fs.readFileSync(new URL(`file://${target.secret}`), 'utf8'),
  readAround: () => fs.readFileSync(`${folder}/../../../../../../../../../..${target.secret}`, 'utf8'),
  readAroundBytes: () =>
    fs.readFileSync(Buffer.from(`${folder}/../../../../../../../../../..${target.secret}`)).toString(),
  readLater: async () => String(await fs.promises.readFile(target.secret)),
  stream: () =>
    come((done) => fs.createReadStream(target.secret).on('data', (data) => done(null, `${data}`))),
  blob: async () => (await fs.openAsBlob(target.secret)).text(),
  open: () => fs.openSync(target.secret, 'r'),
  openProc: () => fs.readFileSync('/proc/self/environ', 'utf8'),
  openParent: () => fs.readFileSync(`/proc/${process.ppid}/environ`, 'utf8'),
  openOwnFd: () => fs.readFileSync('/proc/self/fd/0', 'utf8'),
  list: () => fs.readdirSync('/'),
  listAbove: () => fs.readdirSync(`${folder}/..`),
  listTemporary: () => fs.readdirSync(target.folder),
  glob: () => fs.globSync?.(`${target.folder}/*`) ?? thrown('no glob'),
  exists: () => fs.existsSync(target.secret) || thrown('not seen'),
  stat: () => fs.statSync(target.secret).size,
  link: () => fs.symlinkSync(target.secret, `${folder}/link`) ?? fs.readFileSync(`${folder}/link`, 'utf8'),
  hardLink: () => fs.linkSync(target.secret, `${folder}/link`) ?? 'linked',
  copy: () => fs.copyFileSync(target.secret, `${folder}/copy`) ?? 'copied',
  write: () => fs.writeFileSync(target.written, 'x') ?? 'written',
  writeHere: () => fs.writeFileSync(`${folder}/written`, 'x') ?? 'written',
  append: () => fs.appendFileSync(`${folder}/package.json`, ' ') ?? 'written',
  remove: () => fs.rmSync(target.secret) ?? 'removed',
  truncate: () => fs.truncateSync(target.secret) ?? 'truncated',
  mode: () => fs.fchmodSync(fs.openSync(`${folder}/package.json`, 'r'), 0o600) ?? 'changed',
  times: () => fs.futimesSync(fs.openSync(`${folder}/package.json`, 'r'), 1, 1) ?? 'changed',
  modeLater: async () => (await (await fs.promises.open(`${folder}/package.json`)).chmod(0o644)) ?? 'changed',
  folder: () => fs.mkdtempSync(`${target.folder}/x`),
  watch: () => come((done) => fs.watch(target.folder, () => done(null, 'seen'))),
  environmentFile: () => process.loadEnvFile(target.secret) ?? 'loaded',
  imported: () => import(`file://${target.module}`),
  required: async () => (await import('node:module')).createRequire(target.module)(target.module),
  wasi: async () => {
    const { WASI } = await import('node:wasi');
    return new WASI({ version: 'preview1', preopens: { '/': '/' } });
  },
  database: async () => new (await import('node:sqlite')).DatabaseSync(target.written),
  trace: async () =>
    (await import('node:trace_events')).createTracing({ categories: ['v8'] }).enable() ?? 'traced',
  snapshot: async () => (await import('node:v8')).writeHeapSnapshot(target.written),
  report: () => process.report.writeReport(target.written),
  reported: () => process.report.getReport(),
  native: () => process.dlopen({ exports: {} }, target.secret) ?? 'loaded',
  engine: async () => (await import('node:crypto')).setEngine(target.secret) ?? 'loaded',

  // The network.
  connect: () => come((done) => net.connect(target.port, '127.0.0.1', () => done())),
  connectSocket: () => come((done) => new net.Socket().connect(target.port, '127.0.0.1', () => done())),
  connectPath: () => come((done) => net.connect(target.socket, () => done())),
  encrypted: () => come((done) => tls.connect(target.port, '127.0.0.1', () => done())),
  http: async () => {
    const http = await import('node:http');
    return come((done) => http.get(target.url, () => done()));
  },
  https: async () => {
    const https = await import('node:https');
    return come((done) => https.get(target.url.replace('http', 'https'), () => done()));
  },
  http2: async () => {
    const http2 = await import('node:http2');
    return come((done) => http2.connect(target.url, () => done()));
  },
  fetch: () => fetch(target.url),
  socket: () => new WebSocket(target.url),
  events: () => new EventSource(target.url),
  datagram: () => dgram.createSocket('udp4').send('x', target.port, '127.0.0.1') ?? 'sent',
  datagramSocket: () => new dgram.Socket('udp4').send('x', target.port, '127.0.0.1') ?? 'sent',
  lookup: () => come((done) => dns.lookup('localhost', done)),
  lookupLater: () => dns.promises.lookup('localhost'),
  resolve: () => come((done) => new dns.Resolver().resolve4('localhost', done)),
  listen: () => come((done) => new net.Server().listen(0, () => done())),
  listenHttp: async () => {
    const http = await import('node:http');
    return come((done) => http.createServer().listen(0, () => done()));
  },
  handle: () => new net.Socket({ fd: 3 })._handle.constructor,
  handleOfOutput: () => process.stdout._handle.constructor,
  handleOfInput: () => new process.stdin.constructor({ fd: 0 })._handle.constructor,
  handleBelow: () => new net.Socket.prototype.constructor({ fd: 3 })._handle.constructor,
  binding: () => process.binding('tcp_wrap').TCP,
  linkedBinding: () => process._linkedBinding('tcp_wrap'),
  builtin: () => process.getBuiltinModule('net'),

  // Processes, threads, the parent.
  spawn: () => child.spawn('true').pid,
  spawnSync: () => child.spawnSync('true').pid ?? thrown('not started'),
  spawnProcess: () =>
    new child.ChildProcess().spawn({ file: 'true', args: ['true'], stdio: [] }) ?? 'started',
  spawnLater: async () => (await import('node:child_process')).execFileSync('true') ?? 'started',
  fork: () => cluster.fork(),
  replaced: () => process.execve?.('/bin/true', ['true'], {}) ?? thrown('no execve'),
  worker: () => new workers.Worker('1', { eval: true }),
  workerLater: async () => new (await import('node:worker_threads')).Worker('1', { eval: true }),
  hooks: async () => (await import('node:module')).register(`data:text/javascript,`) ?? 'registered',
  post: () => workers.parentPort?.postMessage('x') ?? thrown('no parent'),
  send: () => process.send?.('x') ?? thrown('no channel'),
  kill: () => process.kill(process.ppid, 0),
  killBelow: () => process._kill(process.ppid, 0),
  debugParent: () => process._debugProcess(process.ppid) ?? 'debugged',
  priority: async () => (await import('node:os')).setPriority(process.ppid, 19) ?? 'set',
  inspect: () => inspector.open(0) ?? inspector.url(),
  inspectSelf: () => new inspector.Session().connect() ?? 'connected',
  inspectLater: async () => new (await import('node:inspector/promises')).Session().connect() ?? 'connected',

  // Code, and what is known of this computer.
  evaluate: () => (0, eval)('1'),
  construct: () => new Function('return 1')(),
  module: () => new WebAssembly.Module(emptyModule),
  instantiate: () => WebAssembly.instantiate(emptyModule),
  flags: async () => (await import('node:v8')).setFlagsFromString('--expose-gc') ?? 'set',
  environment: () =>
    process.env.PATH ?? process.env.HOME ?? process.env.NEURAL_DEBUG_API_KEY ?? thrown('empty'),
  addresses: async () => (await import('node:os')).networkInterfaces(),
  restored: () => {
    delete net.Socket.prototype.connect;
    net.Socket.prototype.connect = () => 'restored';
    return net.Socket.prototype.connect();
  },
};

function thrown(why) {
  throw new Error(String(why));
}

const said = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    said[name] = `GOT ${String(await attempt()).slice(0, 200)}`;
  } catch (error) {
    said[name] = `KEPT IN: ${String(error?.message ?? error).slice(0, 200)}`;
  }
}
fs.writeSync(3, JSON.stringify(said));
process.exit(0);
