import { parsePath } from '../api/resource-path.ts';
import type { ApiError, PolicyRule } from '../api/status.ts';
import { commandLine } from './kubectl.ts';

/** What a user would have to be allowed, and how an administrator would allow it. */
export interface MissingRule {
  rule: PolicyRule;
  namespace?: string;
  commands: string[];
}

const WRITES: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** The rule that a refused request lacks: what the server asked its authorizers about, written as RBAC has it. */
export function missingRule({ method, path }: Pick<ApiError, 'method' | 'path'>, username: string, isWatched = false): MissingRule {
  const [plainPath = '', query = ''] = path.split('?');
  const place = parsePath(plainPath);
  if (place === undefined) {
    const rule = { nonResourceURLs: [plainPath], verbs: [method.toLowerCase()] };
    return { rule, commands: clusterCommands(['--verb', rule.verbs[0]!, '--non-resource-url', plainPath], username) };
  }
  const { group, plural, namespace, name } = place;
  const verbs = WRITES[method] ? [WRITES[method]] : name !== undefined ? ['get'] : isWatched || query.includes('watch=') ? ['list', 'watch'] : ['list'];
  const rule: PolicyRule = { apiGroups: [group], resources: [plural], verbs };
  const words = ['--verb', verbs.join(','), '--resource', group === '' ? plural : `${plural}.${group}`];
  if (namespace === undefined) return { rule, commands: clusterCommands(words, username) };
  return {
    rule,
    namespace,
    commands: [
      commandLine('create', 'role', 'console-user', ...words, '-n', namespace),
      commandLine('create', 'rolebinding', 'console-user', '--role', 'console-user', '--user', username, '-n', namespace),
    ],
  };
}

const clusterCommands = (words: readonly string[], username: string): string[] => [
  commandLine('create', 'clusterrole', 'console-user', ...words),
  commandLine('create', 'clusterrolebinding', 'console-user', '--clusterrole', 'console-user', '--user', username),
];
