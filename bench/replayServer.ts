import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';

/*
 * A completions server, in a process of its own, that answers each request with the next frame of a trace that
 * it was given, and tells its parent how long it was busy: the time that a measurement of the adapter leaves out.
 */

const frames = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as string[];
let next = 0;

const server = createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    const begin = performance.now();
    const chunk = { choices: [{ index: 0, text: frames[next++] ?? '', finish_reason: null }] };
    const end = { choices: [{ index: 0, text: '', finish_reason: 'stop', stop_reason: '<|frame_sep|>' }] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
    process.send?.({ busy: performance.now() - begin });
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ port: address.port });
});
