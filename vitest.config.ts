import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute or two: begun late, one of them would leave a core without work at the end. */
const long = ['test/chain/datasets.test.ts', 'test/chain/cases.test.ts', 'test/sandbox/attacks.test.ts'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => long.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests of the command line start the bundle.
    globalSetup: ['test/support/bundle.ts'],
    exclude: ['test/vscode/**', 'node_modules/**'],
    sequence: { shuffle: { tests: true }, sequencer: LongFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The machines this runs on have two cores: more workers than that only wait for each other.
    maxWorkers: 2,
  },
});
