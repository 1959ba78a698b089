import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CACHE_DIR, KUBECTL, ORACLE_DIR } from './paths.ts';

/* Runs the recorded scenarios and sessions of test/oracle against a server, and keeps what was reached from falling. */

/** Percentages by what they measure: `code`, `semantic` and `exact` of scenarios, `exit` and `letter` of kubectl sessions. */
export type Score = Record<string, number>;
/** By area: `surface`, `security/rbac`, `transcripts/first-steps`. */
export type Scores = Record<string, Score>;

interface StepResult {
  scenario: string;
  title: string;
  grade: 'wrong' | 'code' | 'semantic' | 'exact';
}

const RESULTS_DIR = join(CACHE_DIR, 'oracle');
const FLOOR_FILE = join(ORACLE_DIR, 'floor.json');
const GRADES = ['wrong', 'code', 'semantic', 'exact'] as const;

/** One decimal, downwards: what is measured is never below what is written. */
const percent = (part: number, whole: number): number => Math.floor((1000 * part) / whole) / 10;

/** Replays a whole corpus, by its folder in test/oracle. The answers that differ are left in node_modules/.cache/oracle. */
export async function replayCorpus(server: string, corpus = 'corpus'): Promise<Scores> {
  mkdirSync(RESULTS_DIR, { recursive: true });
  const results = join(RESULTS_DIR, corpus === 'corpus' ? 'results.json' : `${corpus.replaceAll('/', '-')}.json`);
  const args = [join(ORACLE_DIR, 'replay.mjs'), '--server', server, '--corpus', join(ORACLE_DIR, corpus), '--show', '0', '--json', results];
  await promisify(execFile)(process.execPath, args);
  const byArea = new Map<string, StepResult[]>();
  for (const step of JSON.parse(readFileSync(results, 'utf8')) as StepResult[]) {
    if (step.title.startsWith('pause')) continue;
    const area = areaOf(step.scenario);
    byArea.set(area, [...(byArea.get(area) ?? []), step]);
  }
  return Object.fromEntries([...byArea].map(([area, steps]) => [area, scoreOf(steps)]));
}

/** The scenarios about security differ too much to be one figure. */
const areaOf = (scenario: string): string => scenario.split('/', scenario.startsWith('security/') ? 2 : 1).join('/');

function scoreOf(steps: readonly StepResult[]): Score {
  const reached = (grade: number): number => steps.filter((step) => GRADES.indexOf(step.grade) >= grade).length;
  return { code: percent(reached(1), steps.length), semantic: percent(reached(2), steps.length), exact: percent(reached(3), steps.length) };
}

/** Types one recorded kubectl session again. */
export async function replaySession(server: string, name: string): Promise<Score> {
  const args = [join(ORACLE_DIR, 'transcripts.mjs'), '--kubectl', KUBECTL, '--server', server, '--only', `^${name}$`, '--show', '99'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 });
  mkdirSync(RESULTS_DIR, { recursive: true });
  writeFileSync(join(RESULTS_DIR, `${name}.txt`), stdout);
  const match = /^\d+ commands: ([\d.]+) % the same exit code, ([\d.]+) % the same to the letter$/m.exec(stdout);
  if (!match) throw new Error(`transcripts.mjs said no figures:\n${stdout}`);
  return { exit: Number(match[1]), letter: Number(match[2]) };
}

export const readFloor = (): Scores => JSON.parse(readFileSync(FLOOR_FILE, 'utf8')) as Scores;

/** What of the floor is not reached, in words. */
export function belowFloor(scores: Scores, floor: Scores): string[] {
  return Object.entries(scores).flatMap(([area, score]) =>
    Object.entries(score)
      .filter(([measure, reached]) => reached < (floor[area]?.[measure] ?? 0))
      .map(([measure, reached]) => `${area}: ${measure} ${reached} % is below the floor of ${floor[area]![measure]} %`),
  );
}

/** Writes the higher of both, figure by figure. */
export function raiseFloor(scores: Scores): void {
  const floor = readFloor();
  for (const [area, score] of Object.entries(scores)) {
    const old = floor[area] ?? {};
    floor[area] = Object.fromEntries(Object.entries(score).map(([measure, reached]) => [measure, Math.max(reached, old[measure] ?? 0)]));
  }
  const lines = Object.keys(floor)
    .toSorted()
    .map((area) => `  ${JSON.stringify(area)}: ${JSON.stringify(floor[area]).replaceAll(/[:,{]/g, '$& ').replace('}', ' }')}`);
  writeFileSync(FLOOR_FILE, `{\n${lines.join(',\n')}\n}\n`);
}
