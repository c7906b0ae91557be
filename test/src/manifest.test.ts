import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const named = z.looseObject({ command: z.string() });

const manifest = z
  .object({
    activationEvents: z.array(z.string()),
    capabilities: z.object({
      untrustedWorkspaces: z.object({
        supported: z.string(),
        description: z.string(),
        restrictedConfigurations: z.array(z.string()),
      }),
    }),
    contributes: z.object({
      commands: z.array(named.extend({ title: z.string(), category: z.string().optional() })),
      menus: z.record(z.string(), z.array(named.extend({ when: z.string().optional() }))),
      keybindings: z.array(named),
      configuration: z.object({
        properties: z.record(
          z.string(),
          z.looseObject({ scope: z.string().optional(), markdownDescription: z.string() }),
        ),
      }),
    }),
  })
  .parse(JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')));

const { commands, menus, keybindings, configuration } = manifest.contributes;
const ours = new Set(commands.map(({ command }) => command));
const places = [...Object.values(menus).flat(), ...keybindings];

describe('settings', () => {
  const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  /** What says where source goes, or what is run. */
  const steering = Object.keys(configuration.properties).filter((name) =>
    /^neuralDebug\.(server\.|python$|sandbox$)/.test(name),
  );

  it('that say where source goes, or what is run, are the user’s alone', () => {
    expect(steering).toHaveLength(5);
    const scopes = steering.map((name) => [name, configuration.properties[name]?.scope]);
    expect(scopes).toEqual(steering.map((name) => [name, 'machine']));
    expect(supported).toBe('limited');
    expect([...restrictedConfigurations].sort()).toEqual([...steering].sort());
  });

  it('say what they are', () => {
    const silent = Object.entries(configuration.properties).filter(
      ([, { markdownDescription }]) => !/\.$/.test(markdownDescription),
    );
    expect(silent).toEqual([]);
  });
});

describe('commands', () => {
  it('carry the extension’s name in the palette', () => {
    expect(commands.filter(({ category }) => category !== 'Neural Debug')).toEqual([]);
    const titles = commands.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  it('in menus and on keys are there', () => {
    const own = places.filter(({ command }) => command.startsWith('neuralDebug.'));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(({ command }) => !ours.has(command))).toEqual([]);
  });

  it('are offered by other debuggers’ sessions and views nowhere', () => {
    const unbound = Object.entries(menus)
      .filter(([menu]) => menu.startsWith('debug/') || menu.startsWith('view/'))
      .flatMap(([menu, entries]) => entries.map(({ command, when = '' }) => ({ menu, command, when })))
      .filter(({ when }) => !/debugType == 'neural-debug'|view == neuralDebug\./.test(when));
    expect(unbound).toEqual([]);
  });
});

describe('activation', () => {
  it('waits for a file or a session that is ours', () => {
    expect(
      manifest.activationEvents.filter((event) => /^(\*|onStartupFinished|workspaceContains)/.test(event)),
    ).toEqual([]);
  });
});
