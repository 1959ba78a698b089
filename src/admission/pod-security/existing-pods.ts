import type { Pod } from '../../apis/facts/types/core-v1.ts';
import { quote } from '../../util/go-quote.ts';
import { violationsOf } from './evaluate.ts';
import { type Standard, standardName } from './policy.ts';

/** More would hold up other requests. */
const MAX_PODS = 3_000;

/** What a namespace's tightened standard forbids of the pods that it has: they stay, and the client is told. */
export function existingPodWarnings(pods: readonly Pod[], namespace: string, standard: Standard): string[] {
  const checked = oneOfEachControllerFirst(pods).slice(0, MAX_PODS);
  const namesByWarning = new Map<string, string[]>();
  for (const pod of checked) {
    const warning = violationsOf(standard, pod)
      .map(({ reason }) => reason)
      .join(', ');
    if (warning !== '') namesByWarning.set(warning, [...(namesByWarning.get(warning) ?? []), pod.metadata.name!]);
  }
  return [
    ...(checked.length < pods.length ? [`new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`] : []),
    ...(namesByWarning.size > 0
      ? [`existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${quote(standardName(standard))}`]
      : []),
    ...[...namesByWarning].map(([warning, names]) => `${namesText(names)}: ${warning}`).toSorted(),
  ];
}

/** The first by name, and how many others. */
function namesText(names: string[]): string {
  const first = names.toSorted()[0]!;
  if (names.length === 1) return first;
  return names.length === 2 ? `${first} (and 1 other pod)` : `${first} (and ${names.length - 1} other pods)`;
}

/** Pods of one controller are alike, so one of each says most. */
function oneOfEachControllerFirst(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>();
  const others: Pod[] = [];
  const first = pods.filter((pod) => {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (uid === undefined) return true;
    const isFirst = !seen.has(uid);
    seen.add(uid);
    if (!isFirst) others.push(pod);
    return isFirst;
  });
  return [...first, ...others];
}
