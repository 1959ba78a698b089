import { defineConfig } from 'vitest/config';

/** `npm run test:faults` (scripts/test-faults.mjs). Its tests are among the system tests too, with few faults. */
const wantsFaults = process.argv.some((argument) => argument === 'faults' || argument === '--project=faults');
const etcd = 'test/support/etcd-setup.ts';
const system = { globalSetup: [etcd, 'test/support/global-setup.ts'], testTimeout: 60_000 };

export default defineConfig({
  test: {
    // Each file gets a process of its own: tests start servers, kill processes and read their own memory.
    pool: 'forks',
    // CI's machine does other things too: a test that waited in vain once is asked again before it counts. Locally it counts at once.
    retry: process.env['CI'] ? 2 : 0,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/left-out-reporter.ts'],
    projects: [
      { extends: true, test: { name: 'unit', globalSetup: etcd, include: ['src/**/*.test.ts'], testTimeout: 30_000 } },
      // The built server as a process, with real clients; its global setup builds and unzips, and runs only when one of these tests does.
      { extends: true, test: { ...system, name: 'system', include: ['test/**/*.test.ts'], provide: { faultInjections: 6 } } },
      ...(wantsFaults
        ? [
            {
              extends: true as const,
              test: {
                ...system,
                name: 'faults',
                include: ['test/faults/*.test.ts'],
                provide: { faultInjections: Number(process.env['FAULT_INJECTIONS'] ?? 200) },
              },
            },
          ]
        : []),
    ],
  },
});
