import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calibration, sample, seededRandom, share } from '../../adapter/evaluation/statistics';

describe('the interval of a share', () => {
  it.each([
    // Wilson's intervals as R's prop.test(correct = FALSE) gives them.
    [81, 263, 0.2553, 0.3662],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [15, 148, 0.0624, 0.1605],
  ])('of %i of %i is %f to %f', (right, of, low, high) => {
    const { interval } = share(right, of);
    expect(interval?.[0]).toBeCloseTo(low, 4);
    expect(interval?.[1]).toBeCloseTo(high, 4);
  });

  it('holds the share, and is null of nothing', () => {
    expect(share(0, 0)).toEqual({ right: 0, of: 0, share: null, interval: null });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat(10_000), (of, some) => {
        const right = some % (of + 1);
        const { share: value, interval } = share(right, of);
        const [low, high] = interval ?? [1, 0];
        expect(low).toBeLessThanOrEqual((value ?? -1) + 1e-12);
        expect(high).toBeGreaterThanOrEqual((value ?? 2) - 1e-12);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('holds the true share about 95 times of 100', () => {
    const random = seededRandom(11);
    let held = 0;
    for (let trial = 0; trial < 1_000; trial++) {
      let right = 0;
      for (let draw = 0; draw < 100; draw++) if (random() < 0.9) right++;
      const [low, high] = share(right, 100).interval ?? [1, 0];
      if (low <= 0.9 && 0.9 <= high) held++;
    }
    expect(held).toBeGreaterThan(920);
    expect(held).toBeLessThan(985);
  });
});

describe('calibration', () => {
  it('is 0 where confidences are right as often as they say', () => {
    const answers = Array.from({ length: 10 }, (_, index) => ({ confidence: 0.8, isRight: index < 8 }));
    expect(calibration(answers)?.ece).toBeCloseTo(0, 12);
    expect(calibration([])).toBeNull();
  });

  it('is the distance between confidence and accuracy, weighted by how often it is', () => {
    const sure = Array.from({ length: 30 }, (_, index) => ({ confidence: 1, isRight: index < 15 }));
    const unsure = Array.from({ length: 10 }, () => ({ confidence: 0.25, isRight: false }));
    const result = calibration([...sure, ...unsure]);
    expect(result).toMatchObject({ of: 40, accuracy: 15 / 40 });
    expect(result?.meanConfidence).toBeCloseTo(0.8125, 12);
    expect(result?.ece).toBeCloseTo((30 * 0.5 + 10 * 0.25) / 40, 12);
  });
});

describe('a sample', () => {
  it('is drawn without putting back, in order, the same for a seed, and evenly', () => {
    const items = Array.from({ length: 20 }, (_, index) => index);
    const counts = new Map<number, number>();
    const random = seededRandom(5);
    for (let round = 0; round < 4_000; round++) {
      const drawn = sample(items, 5, random);
      expect(drawn).toEqual([...new Set(drawn)].sort((one, other) => one - other));
      expect(drawn).toHaveLength(5);
      for (const item of drawn) counts.set(item, (counts.get(item) ?? 0) + 1);
    }
    for (const item of items) expect(Math.abs((counts.get(item) ?? 0) - 1_000)).toBeLessThan(130);
    expect(sample(items, 7, seededRandom(9))).toEqual(sample(items, 7, seededRandom(9)));
    expect(sample(items, 50, random)).toEqual(items);
  });
});
