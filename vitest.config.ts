import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests of the command line start the bundle.
    globalSetup: ['test/support/bundle.ts'],
    exclude: ['test/vscode/**', 'node_modules/**'],
    sequence: { shuffle: true },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The machines this runs on have two cores: more workers than that only wait for each other.
    maxWorkers: 2,
  },
});
