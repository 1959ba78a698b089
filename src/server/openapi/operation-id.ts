/** Names of operations and tags, unique over all groups (apiserver/pkg/endpoints/openapi). */

/** `readNamespacedPod` at `/api/v1/…` → `readCoreV1NamespacedPod`: the group-version goes behind the verb. */
export function operationIdOf(operation: string, path: string): string {
  const verb = /^(get|read|replace|patch|delete|watch|connect|list|create)/.exec(operation)![0];
  return verb + groupVersionWord(path) + wordOf(operation.slice(verb.length), true);
}

/** What the group-version of a path is in tags, and in operation ids. */
export const groupVersionWords = (path: string): { tag: string; operation: string } => ({ tag: operationTag(path), operation: groupVersionWord(path) });

function groupVersionWord(path: string): string {
  const [group, version] = groupVersionOf(path);
  return (group === undefined ? '' : wordOf(group, true)) + (version === undefined ? '' : wordOf(version, true));
}

/** `core_v1`, `rbacAuthorization_v1`; the first segment for paths outside the API. */
export function operationTag(path: string): string {
  const [group, version] = groupVersionOf(path);
  if (group === undefined) return wordOf(path.split('/')[1]!, false);
  return version === undefined ? wordOf(group, false) : `${wordOf(group, false)}_${wordOf(version, false)}`;
}

function groupVersionOf(path: string): [group: string | undefined, version: string | undefined] {
  const [, prefix, first, second] = path.split('/');
  if (prefix === 'api') return ['core', first || undefined];
  if (prefix !== 'apis' || !first) return [undefined, undefined];
  return [first.endsWith('.k8s.io') ? first.slice(0, -'.k8s.io'.length) : first, second || undefined];
}

/** Letters, digits and underscores; what follows anything else is capital. */
function wordOf(text: string, isCapital: boolean): string {
  const joined = text.replace(/^\d+/, '').replace(/[^\p{L}\p{Nd}_]+(.?)/gu, (_match, next: string) => next.toUpperCase());
  return isCapital ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}
