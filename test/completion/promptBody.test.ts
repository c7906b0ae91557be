import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PromptHistory } from '../../adapter/completion/completion';
import { PromptBodyWriter } from '../../adapter/completion/promptBody';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud83d', '\ude00', '"\\\n\u2028', 'é'.repeat(5_000)),
);

it('writes prompts that go on from any of those before, or begin anew, as JSON', () => {
  const request = fc.record({
    added: fc.array(text),
    from: fc.nat(20),
    isNew: fc.boolean(),
    tells: fc.boolean(),
  });
  const fields = fc.dictionary(
    fc.string().filter((name) => name !== 'prompt' && name !== '__proto__'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.array(request, { maxLength: 20 }), fields, (requests, rest) => {
      const writer = new PromptBodyWriter();
      const seen: PromptHistory[] = [];
      for (const { added, from, isNew, tells } of requests) {
        let history: PromptHistory = seen[isNew ? -1 : from % Math.max(1, seen.length)] ?? {
          text: '',
          before: null,
          added: '',
        };
        for (const piece of added) history = { text: history.text + piece, before: history, added: piece };
        seen.push(history);
        const prompt = { kind: 'text', text: history.text, stop: [], ...(tells ? { history } : {}) } as const;
        const body = { prompt: history.text, ...rest };
        expect(JSON.parse(Buffer.from(writer.write(prompt, rest)).toString())).toEqual(
          JSON.parse(JSON.stringify(body)),
        );
      }
    }),
  );
});
