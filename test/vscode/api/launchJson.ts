import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import { z } from 'zod';
import { extension } from './activation';
import { hoverAt, inFolder, leaveNothing, openFile, until } from './debugging';
import type { Group } from './run';

interface Attribute {
  readonly description?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, Attribute>> | undefined;
}

const attribute: z.ZodType<Attribute> = z.object({
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), attribute).optional();
  },
});

const manifest = z.object({
  contributes: z.object({
    debuggers: z.tuple([
      z.object({
        configurationAttributes: z.object({ launch: attribute }),
        configurationSnippets: z.array(z.object({ label: z.string() })),
      }),
    ]),
  }),
});

/** Opens a launch.json with a text; where `‸` stands in it, the cursor is meant to be. */
async function launchJson(configurations: string): Promise<{ uri: vscode.Uri; at: vscode.Position }> {
  const text = `{"version": "0.2.0", "configurations": [${configurations}]}`;
  await mkdir(inFolder('.vscode'), { recursive: true });
  const { document } = await openFile(inFolder('.vscode/launch.json'), text.replace('‸', ''));
  await until(() => document.getText() === text.replace('‸', ''), 'the text in the editor');
  return { uri: document.uri, at: document.positionAt(text.indexOf('‸')) };
}

const ofEveryDebugger: ReadonlySet<string> = new Set([
  ...[
    'type',
    'request',
    'name',
    'presentation',
    'internalConsoleOptions',
    'debugServer',
    'serverReadyAction',
  ],
  ...['preLaunchTask', 'postDebugTask', 'suppressMultipleSessionWarning', 'windows', 'osx', 'linux'],
]);

const ours = (more: string) => `{"type": "neural-debug", "request": "launch", "name": "x", ${more}}`;

/** What the editor offers at the cursor, by its label. */
async function offeredAt(configurations: string): Promise<Map<string, string>> {
  const { uri, at } = await launchJson(configurations);
  const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    uri,
    at,
    undefined,
    100,
  );
  return new Map(
    items.map(({ label, documentation }) => [
      typeof label === 'string' ? label : label.label,
      typeof documentation === 'string' ? documentation : (documentation?.value ?? ''),
    ]),
  );
}

/** What is offered, once all that is wanted is: VS Code reads the schemas of debuggers late. */
async function offers(configurations: string, wanted: readonly string[]): Promise<Map<string, string>> {
  let seen = new Map<string, string>();
  return until(
    async () => {
      seen = await offeredAt(configurations);
      const isThere = wanted.every((label) => seen.has(label));
      if (!isThere) await leaveNothing();
      return isThere && seen;
    },
    () =>
      `${wanted.filter((label) => !seen.has(label)).join(', ')} at ${configurations}; offered: ${[...seen.keys()].join(', ')}`,
  );
}

/** An object with the cursor in it, inside the objects of a path: `"server": {"timeouts": {‸}}`. */
const within = (path: readonly string[]) =>
  path.length === 0 ? '‸' : path.reduceRight((inner, name) => `"${name}": {${inner}}`, '‸');

export const launchAttributes: Group = {
  name: 'launch.json',
  tests: {
    async 'offers every attribute with what it is, and every value of those that have some'() {
      try {
        const { launch } = manifest.parse(extension().packageJSON).contributes.debuggers[0]
          .configurationAttributes;
        const walk = async (properties: Readonly<Record<string, Attribute>>, path: readonly string[]) => {
          const names = Object.keys(properties);
          const seen = await offers(ours(within(path)), names);
          for (const [name, { description, enum: values, properties: inner }] of Object.entries(properties)) {
            const start = (description ?? '').slice(0, 20);
            assert.ok(start.length > 10 && seen.get(name)?.includes(start), `${name}: ${seen.get(name)}`);
            if (inner) await walk(inner, [...path, name]);
            if (!values) continue;
            const place = within(path).replace('‸', `"${name}": ‸`);
            await offers(
              ours(place),
              values.map((value) => JSON.stringify(value)),
            );
          }
        };
        const all = Object.entries(launch.properties ?? {});
        // Those of every debugger are VS Code's own, which puts them among ours.
        const own = all.filter(([name]) => !ofEveryDebugger.has(name));
        assert.ok(own.length > 10);
        await walk(Object.fromEntries(own), []);
      } finally {
        await rm(inFolder('.vscode'), { recursive: true, force: true });
      }
    },
    async 'offers our configurations, tells what an attribute is, and marks what is wrong'() {
      try {
        const { configurationSnippets } = manifest.parse(extension().packageJSON).contributes.debuggers[0];
        await offers(
          '‸',
          configurationSnippets.map(({ label }) => label),
        );
        const told = await launchJson(ours('"en‸try": "gcd(4, 10)"'));
        assert.match(await hoverAt(told.uri, told.at), /The call to debug/);
        await leaveNothing();

        const { uri } = await launchJson(
          ours('"world": "dream", "server": {"modle": "m"}, "budget": {"states": 0}'),
        );
        const problems = await until(
          () => {
            const all = vscode.languages.getDiagnostics(uri);
            return all.length >= 3 && all;
          },
          () => `three problems; shown: ${JSON.stringify(vscode.languages.getDiagnostics(uri))}`,
        );
        const document = await vscode.workspace.openTextDocument(uri);
        const marked = problems.map(({ range }) => document.getText(range)).sort();
        assert.deepEqual(marked, ['"dream"', '"modle"', '0']);
      } finally {
        await rm(inFolder('.vscode'), { recursive: true, force: true });
      }
    },
  },
};
