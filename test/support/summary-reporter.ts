import { readFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { findChromium, findEtcd, findEtcdctl, findPrometheus, hasCommand } from './find-etcd.ts';

/** Something that a machine may not have, and how its tests can be told. */
interface Requirement {
  readonly what: string;
  readonly isThere: () => boolean;
  /** In the source of a test file that needs it. */
  readonly pattern: RegExp;
  readonly how: string;
}

const REQUIREMENTS: readonly Requirement[] = [
  {
    what: 'there is no etcd',
    isThere: () => findEtcd() !== undefined,
    pattern: /\bhasEtcd\(/,
    how: 'scripts/etcd.sh && npm test   (Debian and its kin; elsewhere: BINNACLE_ETCD=/path/to/etcd npm test)',
  },
  {
    what: 'there is no etcdctl',
    isThere: () => findEtcdctl() !== undefined,
    pattern: /\bhasEtcdctl\b/,
    how: 'scripts/etcd.sh && npm test   (Debian and its kin; elsewhere: BINNACLE_ETCDCTL=/path/to/etcdctl npm test)',
  },
  {
    what: 'there is no prometheus',
    isThere: () => findPrometheus() !== undefined,
    pattern: /\bhasPrometheus\(/,
    how: 'scripts/prometheus.sh && npm test   (Debian and its kin; elsewhere: put prometheus and promtool on the PATH)',
  },
  {
    what: 'there is no Chromium',
    isThere: () => findChromium() !== undefined,
    pattern: /\bhasChromium\b/,
    how: 'sudo scripts/chromium.sh && npm test   (Debian and its kin; elsewhere: BINNACLE_CHROMIUM=/path/to/chromium npm test)',
  },
  {
    what: 'there is no systemd-analyze',
    isThere: () => hasCommand('systemd-analyze'),
    pattern: /\bhasSystemdAnalyze\b/,
    how: 'apt-get install systemd && npm test',
  },
  { what: 'there is no openssl', isThere: () => hasCommand('openssl'), pattern: /\bhasOpenssl\b/, how: 'apt-get install openssl && npm test' },
  { what: 'the tests do not run as root', isThere: () => process.getuid?.() === 0, pattern: /getuid|isRoot/, how: 'sudo npm test' },
];

/** Ends a run with the tests that failed before they passed, and with what was left out, why, and how to run it. */
export default class SummaryReporter implements Reporter {
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Whoever asked for some tests by name knows that others were left out.
    if (this.#isFiltered) return;
    print('Passed only when they were run again', repeated(modules.flatMap((module) => [...module.children.allTests('passed')])));
    print('Left out of this run', leftOut(modules.flatMap((module) => [...module.children.allTests('skipped')])));
  }
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n ${title}\n${lines.map((line) => `   ${line}`).join('\n')}\n`);
}

/** Only a run with `--retry` has any: `npm test` itself runs every test once. */
function repeated(passed: readonly TestCase[]): string[] {
  return passed.filter((test) => test.diagnostic()?.flaky).map(({ module, fullName }) => `${module.relativeModuleId}: ${fullName}`);
}

function leftOut(skipped: readonly TestCase[]): string[] {
  const counts = new Map<Requirement, number>();
  const others: string[] = [];
  for (const { module, fullName } of skipped) {
    const source = readFileSync(module.moduleId, 'utf8');
    const missing = REQUIREMENTS.find(({ pattern, isThere }) => pattern.test(source) && !isThere());
    if (missing) counts.set(missing, (counts.get(missing) ?? 0) + 1);
    else others.push(`1 test: ${module.relativeModuleId}: ${fullName} (a condition in that file)`);
  }
  const missing = [...counts].flatMap(([{ what, how }, count]) => [`${count} tests: ${what}. To run them:`, `    ${how}`]);
  return [...missing, ...others];
}
