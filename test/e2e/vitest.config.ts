import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    setupFiles: ['test/support/end-file.ts'],
    include: ['test/e2e/**/*.test.ts'],
    // Each real agent takes a core or two and some hundred megabytes.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
