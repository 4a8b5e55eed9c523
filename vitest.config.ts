import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real agents have a command of their own: npm run e2e
    exclude: ['test/e2e/**'],
    globalSetup: ['test/support/build.ts', 'test/support/sessions.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    env: { NODE_EXTRA_CA_CERTS: '' },
  },
});
