import { stringifyJson } from '../src/encoding/json.ts';
import type { Answer } from './answer.ts';
import type { Difference } from './differences.ts';
import type { Group } from './groups.ts';
import type { Shrunk } from './shrink.ts';
import type { Step } from './step.ts';

const TEXT_CHARS = 900;

const clip = (text: string, chars = TEXT_CHARS): string => (text.length > chars ? `${text.slice(0, chars)}… (${text.length} characters)` : text);

export function describeGroup(group: Group, { steps, finding }: Shrunk): string {
  const { scenario, count, places } = group;
  return [
    `── ${count} × ${scenario.area}: --seed=${scenario.seed} --scenario=${scenario.index}`,
    `   at ${[...places].join(', ')}`,
    ...steps.map((step, index) => `   ${index + 1}. ${describeStep(step)}`),
    ...finding.differences.map(describeDifference),
    `   reference: ${describeAnswer(finding.reference)}`,
    `   server:    ${describeAnswer(finding.server)}`,
    '',
  ].join('\n');
}

function describeStep({ request, isWatch }: Step): string {
  const { method, path, user = 'admin', headers = {}, body, form = 'json', update } = request;
  const told = [
    `${isWatch ? 'WATCH' : method} ${path}`,
    user === 'admin' ? '' : `as ${user === '' ? 'nobody' : user}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    form === 'json' ? '' : `in ${form}`,
    update ? `what ${update.of} was last said to be, with ${clip(stringifyJson(update.edits), 2000)}, or else` : '',
    body === undefined ? '' : clip(stringifyJson(body), 2000),
  ];
  return told.filter((part) => part !== '').join('\n        ');
}

const DIFFERENCE_CHARS = 400;
/** How much of what is the same is shown before what differs. */
const SAME_CHARS = 100;

/** Of long texts, what stands around the first character that differs. */
export function describeDifference({ at, reference, server }: Difference): string {
  let same = 0;
  while (same < reference.length && reference[same] === server[same]) same++;
  const from = Math.max(reference.length, server.length) > DIFFERENCE_CHARS ? Math.max(0, same - SAME_CHARS) : 0;
  const shown = (text: string): string => (from > 0 ? '…' : '') + clip(text.slice(from), DIFFERENCE_CHARS);
  return `   ≠ ${at}\n       reference ${shown(reference)}\n       server    ${shown(server)}`;
}

const describeAnswer = ({ status, headers, body }: Answer): string => `${status} ${headers['content-type'] ?? ''} ${clip(stringifyJson(body))}`;

/** A line for each area: requests, scenarios, differences. */
export class Totals {
  readonly #areas = new Map<string, { scenarios: number; requests: number; findings: number }>();
  readonly #explained = new Map<string, number>();
  requests = 0;

  add(area: string, requests: number, explained: ReadonlyMap<string, number>, hasFinding: boolean): void {
    const row = this.#areas.get(area) ?? { scenarios: 0, requests: 0, findings: 0 };
    this.#areas.set(area, { scenarios: row.scenarios + 1, requests: row.requests + requests, findings: row.findings + Number(hasFinding) });
    this.requests += requests;
    for (const [name, count] of explained) this.explain(name, count);
  }

  explain(name: string, count: number): void {
    this.#explained.set(name, (this.#explained.get(name) ?? 0) + count);
  }

  describe(): string {
    const rows = [...this.#areas].sort().map(([area, row]) => `${area.padEnd(14)} ${pad(row.scenarios)} ${pad(row.requests)} ${pad(row.findings)}`);
    const known = [...this.#explained].sort().map(([name, count]) => `  ${pad(count)} × ${name}`);
    return [
      `${'area'.padEnd(14)} ${'scenarios'.padStart(10)} ${'requests'.padStart(10)} ${'differ'.padStart(10)}`,
      ...rows,
      ...(known.length > 0 ? ['explained differences (compare/known.json):', ...known] : []),
    ].join('\n');
  }
}

const pad = (count: number): string => String(count).padStart(10);
