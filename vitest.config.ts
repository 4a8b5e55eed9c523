import { defineConfig } from 'vitest/config';

const SLOW = 'test/**/*.slow.test.ts';

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/sessions.ts'],
    setupFiles: ['test/support/end-file.ts'],
    // For what hangs: no test needs nearly as long, but a machine may be busy.
    testTimeout: 120_000,
    maxWorkers: 2,
    expect: { poll: { timeout: 45_000 } },
    hookTimeout: 120_000,
    env: { NODE_EXTRA_CA_CERTS: '' },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          // Files of one worker share what they import: nothing in src has state that one test could leave to another.
          isolate: false,
          include: ['test/**/*.test.ts'],
          // Real agents have a command of their own: npm run e2e
          exclude: ['test/e2e/**', SLOW],
        },
      },
      { extends: true, test: { name: 'slow', include: [SLOW] } },
    ],
  },
});
