import type { Answer, ApiClient } from '../support/api-client.ts';

/** Who an attack may come from. */
export interface AttackClients {
  /** In `system:masters`: for preparations, and for attacks of those who may write anything. */
  admin: ApiClient;
  /** Holds the cluster role `admin` in the namespace `stalls`. */
  namespaceAdmin: ApiClient;
  /** The same, but all that it sends and is answered is in the audit log. */
  audited: ApiClient;
  /** The same, but that the log leaves out who owns which field. */
  auditedInPart: ApiClient;
  /** Shows no credentials. */
  nobody: ApiClient;
  /** Runs when the attack is over. */
  onEnd(cleanup: () => unknown): void;
}

/** One request, or a few, that once held the server's thread for long. The later catalogue runs these too. */
export interface Attack {
  name: string;
  /** Of the table of findings in issue 17. */
  row: number;
  /** What must be there before; not measured. */
  prepare?(clients: AttackClients): Promise<unknown>;
  /** Measured while another client GETs all the time. The last answer's status is told in the table. */
  send(clients: AttackClients): Promise<Answer>;
  /** Much like another: only in the long form. */
  isLong?: boolean;
  /** What it is answered with, where that is a 5xx as upstream's is; all others must be the client's to mend. */
  status?: number;
  /** Whether a 5xx is upstream's own answer to such a request, where not all of its kind get one. */
  isUpstreams?(answer: Answer): boolean;
}

export const NAMESPACE = 'stalls';

export const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

export const repeated = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

/** A text of two letters that never repeats itself: a pattern that remembers the last hundreds of them has a new state for each. */
export const unevenText = (length: number): string => repeated(length, (index) => (Math.sin(index * index) < 0 ? 'a' : 'b')).join('');

export const inNamespace = (group: string, plural: string, name = ''): string =>
  `${group === 'v1' ? '/api/v1' : `/apis/${group}`}/namespaces/${NAMESPACE}/${plural}${name === '' ? '' : `/${name}`}`;

export const post = (client: ApiClient, path: string, body: object): Promise<Answer> => client.send({ method: 'POST', path, body });

export const patch = (client: ApiClient, path: string, type: 'json-patch' | 'merge-patch' | 'strategic-merge-patch', body: object): Promise<Answer> =>
  client.send({ method: 'PATCH', path, body, headers: { 'content-type': `application/${type}+json` } });
