import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { State } from '../../adapter/trajectory/state';

const body = z.looseObject({ messages: z.array(z.object({ role: z.string(), content: z.string() })) });
const toldState = z.looseObject({
  event: z.string(),
  function: z.string(),
  line: z.number(),
  locals: z.array(z.object({ name: z.string(), value: z.string() })),
});

/** A chat server that knows the states of one program, which must all differ, and tells what follows one. */
export class ChatModel {
  private constructor(private readonly server: Server) {}

  /** @param states the states of a real run, in order */
  static async start(states: readonly State[]): Promise<ChatModel> {
    const told = states.map(({ event, function: name, line, locals, argument }) => ({
      event,
      function: name,
      line,
      locals: [...(locals ?? [])].map(([local, { repr }]) => ({ name: local, value: repr ?? '?' })),
      value: argument?.repr ?? null,
      output: '',
    }));
    const keys = told.map(keyOf);
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (part) => (text += String(part)));
      request.on('end', () => {
        if (request.url !== '/v1/chat/completions') {
          response.writeHead(request.url === '/v1/models' ? 200 : 404, {
            'Content-Type': 'application/json',
          });
          response.end('{"object":"list","data":[{"id":"chat","owned_by":"tests"}]}');
          return;
        }
        const prompt = body.parse(JSON.parse(text)).messages.at(-1)?.content ?? '';
        const [, history = ''] = /the last one is the current state:\n([^]*?)\n\n/.exec(prompt) ?? [];
        const last = history.split('\n').at(-1) ?? '';
        const at = last === '' ? -1 : keys.indexOf(keyOf(toldState.parse(JSON.parse(last))));
        const wanted = told.slice(at + 1, at + 1 + 1);
        const ended = at + 1 + wanted.length >= told.length;
        const pieces = ['{"states": [', wanted.map((state) => JSON.stringify(state)).join(', ')];
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        const say = (content: string, finish: string | null) =>
          response.write(
            `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`,
          );
        for (const piece of pieces) say(piece, null);
        say(`], "ended": ${ended}}`, 'stop');
        response.end('data: [DONE]\n\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ChatModel(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function keyOf({ event, function: name, line, locals }: z.infer<typeof toldState>): string {
  return JSON.stringify([event, name, line, locals.map(({ name: local, value }) => [local, value])]);
}
