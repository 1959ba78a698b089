import { parseArgs } from 'node:util';
import { TOKENS_FILE } from '../test/support/paths.ts';

export interface Options {
  reference: string;
  server: string;
  /** Of users: `token,user,uid,"groups"`; both servers were started with it. */
  tokens: string;
  seed: number;
  /** How many requests are sent to each server, about. */
  requests: number;
  /** Areas whose name matches. */
  only: RegExp;
  /** This scenario alone. */
  scenario: number | undefined;
  /** Scenarios under way at once. */
  concurrency: number;
  /** Groups of differences that are shrunk and told. */
  show: number;
}

const USAGE = `npm run compare -- --reference URL --server URL [options]
  --seed N         what is generated (1)
  --requests N     how many requests are sent to each server (10000)
  --only REGEXP    areas (all)
  --scenario N     one scenario of the seed alone
  --concurrency N  scenarios at once (2)
  --show N         groups of differences that are shrunk and told (20)
  --tokens FILE    the servers' token file (test/oracle/tokens.csv)`;

/** Throws with the usage where something is missing or no number. */
export function parseOptions(args: string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: { reference: text, server: text, tokens: text, seed: text, requests: text, only: text, scenario: text, concurrency: text, show: text },
  });
  if (values.reference === undefined || values.server === undefined) throw new Error(USAGE);
  return {
    reference: values.reference,
    server: values.server,
    tokens: values.tokens ?? TOKENS_FILE,
    seed: numberOf(values.seed, 1),
    requests: numberOf(values.requests, 10_000),
    only: new RegExp(values.only ?? ''),
    scenario: values.scenario === undefined ? undefined : numberOf(values.scenario, 0),
    concurrency: numberOf(values.concurrency, 2),
    show: numberOf(values.show, 20),
  };
}

function numberOf(text: string | undefined, otherwise: number): number {
  const number = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(number) || number < 0) throw new Error(`${text} is no number\n${USAGE}`);
  return number;
}
