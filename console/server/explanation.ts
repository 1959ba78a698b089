import type { PolicyRule } from '../api/status.ts';

/** One step on the way of a request, as `POST /console/explain` tells it. */
export interface ExplainedStep {
  name: 'authentication' | 'authorization' | 'decoding' | 'admission' | 'validation' | 'storage';
  plugin?: string;
  result: 'allowed' | 'denied' | 'changed' | 'passed' | 'skipped' | 'failed';
  message?: string;
  details?: Record<string, unknown> & { mode?: string; role?: unknown; binding?: unknown; rule?: PolicyRule; missingRule?: PolicyRule };
  changes?: { path: string; from?: unknown; to?: unknown }[];
  durationMs: number;
}

export interface Explanation {
  steps: ExplainedStep[];
  response: { code: number; body?: unknown };
}

export interface ExplainRequest {
  method: string;
  path: string;
  query?: string;
  body?: string;
  contentType?: string;
  asUser?: string;
  asGroups?: string[];
}

/** What each step is for, in a sentence. */
export const STEP_WORDS: Readonly<Record<ExplainedStep['name'], string>> = {
  authentication: 'Who is it?',
  authorization: 'May they do that?',
  decoding: 'Is the body readable, and are its fields known?',
  admission: 'Do the cluster’s own rules allow it, and do they change it?',
  validation: 'Is the object valid?',
  storage: 'Would it be stored?',
};

/** `GET /api/v1/pods?limit=1`, or a line of kubectl's `-v=6`, or a path alone. */
export function parseRequestLine(text: string): { method: string; path: string; query: string } | undefined {
  const match =
    /\b(GET|POST|PUT|PATCH|DELETE)\s+(?:https?:\/\/[^/\s]+)?(\/[^\s?'"]*)(?:\?([^\s'"]*))?/.exec(text) ??
    /()^\s*(?:https?:\/\/[^/\s]+)?(\/[^\s?'"]*)(?:\?([^\s'"]*))?/.exec(text);
  return match ? { method: match[1] || 'GET', path: match[2]!, query: match[3] ?? '' } : undefined;
}
