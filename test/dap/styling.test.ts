import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, expect, it } from 'vitest';
import { DapClient } from '../support/dapClient';

const recordings = fileURLToPath(new URL('recordings', import.meta.url));
const path = '/project/styles.py';

let client: DapClient;
afterEach(() => client.end());

/** Plays a session with all that can be styled. The program itself writes an escape that colours. */
async function play(can: object): Promise<void> {
  client = new DapClient();
  await client.launch({ world: 'recording', recording: `${recordings}/styles.jsonl` }, can);
  await client.ask('setBreakpoints', {
    source: { path },
    breakpoints: [
      { line: 2, logMessage: 'n is {n}' },
      { line: 4, logMessage: 'cost is {cost}' },
    ],
  });
  await client.ask('setExceptionBreakpoints', { filters: ['doubt'] });
  await client.ask('configurationDone');
  await client.event('stopped');
  await look();
  await client.move('continue');
  await look();
  await client.move('stepOut');
  await look();
}

/** Asks for all values, and copies them as an editor does: those without an expression as they are shown. */
async function look(): Promise<void> {
  const [frame] = await client.stack();
  const frameId = frame?.id;
  const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId });
  for (const { variablesReference } of scopes) {
    const { variables } = await client.ask<DebugProtocol.VariablesResponse['body']>('variables', {
      variablesReference,
    });
    for (const { evaluateName, value, presentationHint } of variables) {
      if (presentationHint?.kind === 'virtual') continue;
      for (const context of ['clipboard', 'watch']) {
        await client.request('evaluate', { expression: evaluateName ?? value, frameId, context });
      }
    }
  }
}

const escape = '\x1b';

/** All that was answered or told, but what the client itself had said. */
function texts(): string[] {
  return client.messages.filter(({ type }) => type !== 'request').map((message) => JSON.stringify(message));
}

it('dims what is doubtful, and nothing that is copied or evaluated', async () => {
  await play({ supportsANSIStyling: true });
  const values = client.messages.flatMap((message) =>
    message.type === 'response' && 'command' in message && message.command === 'variables'
      ? (message as DebugProtocol.VariablesResponse).body.variables.map(({ value }) => value)
      : [],
  );
  expect(values).toContain(`${escape}[2m5${escape}[22m`);
  expect(values).toContain('3');
  // Only ours are left of all escapes.
  for (const text of texts()) {
    expect(text.replaceAll('\\u001b[2m', '').replaceAll('\\u001b[22m', '')).not.toContain('\\u001b');
    if (text.includes('"evaluate"')) expect(text).not.toContain('\\u001b');
  }
  await expect(client.transcript([[recordings, 'RECORDINGS']])).toMatchFileSnapshot('golden/styling.txt');
});

it('styles nothing for a client that does not say that it shows styles', async () => {
  await play({});
  const said = texts();
  expect(said.join('\n')).not.toContain('\\u001b');
  expect(said.join('\n')).not.toContain('supportsANSIStyling');
  expect(said.join('\n')).toContain('predicted output: cost 5');
});
