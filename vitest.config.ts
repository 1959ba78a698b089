import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Each file gets a process of its own: tests start servers, kill processes and read their own memory.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
