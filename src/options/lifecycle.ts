import { kindLifecycles } from '../apis/facts/lifecycles.ts';
import { type Release, compareReleases, releaseOf } from './effective-version.ts';

/** When a kind of a group-version came, and went; of those that can be emulated only. */
export interface Lifecycle {
  readonly introduced?: Release;
  readonly removed?: Release;
}

const ALWAYS: Lifecycle = {};
let lifecycles: ReadonlyMap<string, Lifecycle> | undefined;

/** Read when it is first asked for: a server that emulates nothing never does. */
const table = (): ReadonlyMap<string, Lifecycle> => (lifecycles ??= new Map(kindLifecycles().trim().split('\n').map(readLine)));

export const lifecycleOf = (groupVersion: string, kind: string): Lifecycle => table().get(`${groupVersion} ${kind}`) ?? ALWAYS;

/** Whether a group-version had kinds at that release which are gone by now. */
export const hadFormerKinds = (groupVersion: string, release: Release): boolean =>
  [...table()].some(([name, { removed }]) => name.startsWith(`${groupVersion} `) && removed !== undefined && compareReleases(removed, release) > 0);

/** `resource.k8s.io/v1 ResourceClaim introduced=1.34` */
function readLine(line: string): [string, Lifecycle] {
  const [groupVersion, kind, ...words] = line.split(' ');
  const told = words.map((word) => word.split('=') as [string, string]).map(([what, version]) => [what, releaseOf(version)]);
  return [`${groupVersion} ${kind}`, Object.fromEntries(told) as Lifecycle];
}
