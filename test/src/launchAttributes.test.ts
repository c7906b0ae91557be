import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configurationSchema, parseConfiguration } from '../../adapter/debugger/configuration';

const attribute = z.looseObject({
  type: z.string(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.string()).optional(),
  enumDescriptions: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
});

type Attribute = z.infer<typeof attribute>;

const manifest = z
  .object({
    contributes: z.object({
      debuggers: z.tuple([
        z.object({
          variables: z.record(z.string(), z.string()),
          configurationAttributes: z.object({
            launch: z.object({ properties: z.record(z.string(), z.unknown()) }),
          }),
          initialConfigurations: z.array(z.record(z.string(), z.unknown())),
          configurationSnippets: z.array(
            z.object({ label: z.string(), description: z.string(), body: z.record(z.string(), z.unknown()) }),
          ),
        }),
      ]),
      commands: z.array(z.object({ command: z.string() })),
    }),
  })
  .parse(JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')));

const [ours] = manifest.contributes.debuggers;

/** Attributes whose default is the editor's own, or that of the user's settings. */
const otherDefaults: ReadonlySet<string> = new Set(['program', 'server.format']);

/** What the adapter takes of a nullable attribute besides null: null stands for an attribute that is not set. */
function withoutNull(given: unknown): Attribute {
  const { anyOf, type, ...others } = z
    .looseObject({
      anyOf: z.array(z.unknown()).optional(),
      type: z.union([z.string(), z.array(z.string())]).optional(),
    })
    .parse(given);
  const rest = {
    ...others,
    ...(type !== undefined && { type: Array.isArray(type) ? type.find((one) => one !== 'null') : type }),
  };
  const options = (anyOf ?? []).map((one) => z.looseObject({ type: z.string() }).parse(one));
  const [option = {}] = options.filter(({ type }) => type !== 'null');
  return attribute.parse({ ...option, ...rest });
}

/** An attribute in the words that both schemas have, with the least integer instead of an open bound. */
function comparable(path: string, given: Attribute): Record<string, unknown> {
  const { type, exclusiveMinimum, maximum, properties } = given;
  const isInteger = type === 'integer';
  return {
    path,
    type,
    enum: given.enum ?? null,
    minimum: given.minimum ?? (isInteger && exclusiveMinimum !== undefined ? exclusiveMinimum + 1 : null),
    exclusiveMinimum: isInteger ? null : (exclusiveMinimum ?? null),
    maximum: maximum === undefined || maximum > 2 ** 50 ? null : maximum,
    isClosed: properties !== undefined && given.additionalProperties === false,
    default:
      otherDefaults.has(path) || properties !== undefined || path === 'startAt.locals'
        ? null
        : (given.default ?? null),
  };
}

/** All attributes, and those in them, by their paths. */
function flat(properties: Readonly<Record<string, unknown>>, within = ''): Map<string, Attribute> {
  const all = new Map<string, Attribute>();
  for (const [name, given] of Object.entries(properties)) {
    const one = withoutNull(given);
    all.set(within + name, one);
    for (const [path, inner] of flat(one.properties ?? {}, `${within}${name}.`)) all.set(path, inner);
  }
  return all;
}

describe('the launch attributes that the editor offers', () => {
  const offered = flat(ours.configurationAttributes.launch.properties);
  const taken = flat(
    z.looseObject({ properties: z.record(z.string(), z.unknown()) }).parse(configurationSchema()).properties,
  );

  it('are those that the debug adapter takes', () => {
    expect([...offered.keys()].sort()).toEqual([...taken.keys()].sort());
  });

  it.each([...taken])('has the type, values, bounds and default of %s', (path, one) => {
    const there = offered.get(path);
    expect(there && comparable(path, there)).toEqual(comparable(path, one));
  });

  it.each([...offered])('says what %s is', (_, { description, enum: values, enumDescriptions }) => {
    expect(description).toMatch(/\.$|: [\w.[\]:(), ]+$|\}\.$/);
    expect(enumDescriptions?.length).toBe(values?.length);
  });
});

describe('the configurations that the editor offers', () => {
  const text = (snippet: string) =>
    snippet.replace(/\$\{\d+:([^}]*)\}/g, '$1').replace(/\$\{\d+\|([^,|]*)[^}]*\}/g, '$1');
  /** A snippet as it is when a person leaves all its places as they are; `^` begins what is no string. */
  const filled = (value: unknown): unknown =>
    typeof value === 'string'
      ? value.startsWith('^')
        ? (JSON.parse(text(value.slice(1)).replaceAll('\\$', '$')) as unknown)
        : text(value)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), filled(inner)]))
        : value;
  const attributes = new Set([
    ...['type', 'request', 'name'],
    ...Object.keys(ours.configurationAttributes.launch.properties),
  ]);

  it.each([
    ...ours.configurationSnippets.map(({ label, body }) => [label, body] as const),
    ...ours.initialConfigurations.map((body) => [String(body['name']), body] as const),
  ])('can be started: %s', (_, body) => {
    const configuration = filled(body);
    expect(() => parseConfiguration(configuration)).not.toThrow();
    expect(Object.keys(body).filter((name) => !attributes.has(name))).toEqual([]);
    expect(body).toMatchObject({ type: 'neural-debug', request: 'launch' });
  });

  it('use variables that there are commands for', () => {
    const all = JSON.stringify([ours.configurationSnippets, ours.initialConfigurations]);
    const used = [...all.matchAll(/\$\{command:(\w+)\}/g)].map(([, name = '']) => name);
    expect(used.length).toBeGreaterThan(0);
    for (const name of used) expect(Object.keys(ours.variables)).toContain(name);
  });
});
