import { defineConfig } from 'vitest/config';

/** `npm run test:faults` (scripts/test-faults.mjs), `test:stalls` and `test:workers`. Their tests are among the system tests too, in a short form. */
const wants = (project: string): boolean => process.argv.some((argument) => argument === project || argument === `--project=${project}`);
/** Short forms, for the system tests: few faults, and a bound that a busy machine keeps too. */
const SHORT = { faultInjections: 6, stallBoundMs: 1_000, workers: 0 };
const WORKERS = Number(process.env['WORKERS'] ?? 2);
const FAULT_INJECTIONS = Number(process.env['FAULT_INJECTIONS'] ?? 200);
const etcd = 'test/support/etcd-setup.ts';
const system = { globalSetup: [etcd, 'test/support/chromium-setup.ts', 'test/support/global-setup.ts'], testTimeout: 60_000 };

export default defineConfig({
  test: {
    // Each file gets a process of its own: tests start servers, kill processes and read their own memory.
    pool: 'forks',
    hookTimeout: 60_000,
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          globalSetup: etcd,
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'fuzz/*.test.ts', 'console/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      // The built server as a process, with real clients; its global setup builds and unzips, and runs only when one of these tests does.
      { extends: true, test: { ...system, name: 'system', include: ['test/**/*.test.ts'], provide: SHORT } },
      ...(wants('faults')
        ? [
            {
              extends: true as const,
              test: { ...system, name: 'faults', include: ['test/faults/*.test.ts'], provide: { ...SHORT, faultInjections: FAULT_INJECTIONS } },
            },
          ]
        : []),
      ...(wants('stalls')
        ? [{ extends: true as const, test: { ...system, name: 'stalls', include: ['test/stalls/*.test.ts'], provide: { ...SHORT, stallBoundMs: 50 } } }]
        : []),
      // Each server of these tests is one of several processes.
      ...(wants('workers')
        ? [
            {
              extends: true as const,
              test: { ...system, name: 'workers', include: ['test/{oracle,kubectl,client,apply,selectors}.test.ts'], provide: { ...SHORT, workers: WORKERS } },
            },
          ]
        : []),
    ],
  },
});
