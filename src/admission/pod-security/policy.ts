import { FieldErrors } from '../../api/field-errors.ts';

/** From the most open to the strictest. */
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** A standard as it was in a version of Kubernetes: its minor number, or Infinity for the newest. */
export interface Standard {
  level: Level;
  minor: number;
}

const MODES = ['enforce', 'audit', 'warn'] as const;
/** What a namespace refuses, records and warns of. */
export type NamespaceLevels = Record<(typeof MODES)[number], Standard>;

export const PREFIX = 'pod-security.kubernetes.io/';
const VERSION = /^v1\.(0|[1-9][0-9]{0,8})$/;

export const standardName = ({ level, minor }: Standard): string => `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`;
export const compareLevels = (a: Level, b: Level): number => LEVELS.indexOf(a) - LEVELS.indexOf(b);
export const equalStandards = (a: Standard, b: Standard): boolean => a.level === b.level && a.minor === b.minor;

const isLevel = (text: string): text is Level => (LEVELS as readonly string[]).includes(text);

/** By what follows `PREFIX` in a label. */
export type PolicyDefaults = Readonly<Record<string, string>>;

/**
 * What a namespace's labels ask for, and where they do not say, the defaults. Always a policy, even where labels are wrong: then enforcement is strict, while audit and warnings are open
 * (pod-security-admission/api PolicyToEvaluate).
 */
export function policyOf(labels: Readonly<Record<string, string>> = {}, defaults: PolicyDefaults = {}): { policy: NamespaceLevels; errors: FieldErrors } {
  const errors = new FieldErrors().at('metadata', 'labels');
  const policy = Object.fromEntries(MODES.map((mode) => [mode, standardOf(labels, defaults, mode, errors)])) as NamespaceLevels;
  const { enforce, warn } = policy;
  const hasEnforceLevel = isLevel(labels[`${PREFIX}enforce`] ?? '');
  if (labels[`${PREFIX}warn`] === undefined && hasEnforceLevel && compareLevels(enforce.level, warn.level) > 0) {
    warn.level = enforce.level;
    if (labels[`${PREFIX}warn-version`] === undefined) warn.minor = enforce.minor;
  }
  return { policy, errors };
}

function standardOf(labels: Readonly<Record<string, string>>, defaults: PolicyDefaults, mode: keyof NamespaceLevels, errors: FieldErrors): Standard {
  const level = labels[PREFIX + mode] ?? defaults[mode] ?? 'privileged';
  const version = labels[`${PREFIX}${mode}-version`] ?? defaults[`${mode}-version`] ?? 'latest';
  const minor = version === 'latest' ? Infinity : Number(VERSION.exec(version)?.[1]);
  if (!isLevel(level)) errors.key(PREFIX + mode).invalid(level, `must be one of ${LEVELS.join(', ')}`);
  if (Number.isNaN(minor)) errors.key(`${PREFIX}${mode}-version`).invalid(version, 'must be "latest" or "v1.x"');
  const fallback = mode === 'enforce' ? 'restricted' : 'privileged';
  return { level: isLevel(level) ? level : fallback, minor: Number.isNaN(minor) ? Infinity : minor };
}
