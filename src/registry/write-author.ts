import { parseJson } from '../encoding/json.ts';
import { managerOfUserAgent } from './field-ownership.ts';
import type { RequestContext } from './request-context.ts';
import type { StoreParts } from './store-parts.ts';

/** Who made a write, and how: what a store's history tells of it. */
export interface WriteAuthor {
  verb: 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection';
  subresource: string;
  username: string;
  groups: readonly string[];
  /** Who was authenticated, where that is another than `username`. */
  impersonator: string;
  userAgent: string;
  fieldManager: string;
}

/** The way of a write: what is not the request's own. */
export type WriteWay = Pick<WriteAuthor, 'verb'> & { subresource?: string | undefined; fieldManager?: string | undefined };

/** A header is bounded by the server; what is kept of it is bounded more. */
const MAX_AGENT_CHARACTERS = 256;

/** What a change is annotated with in the store; nothing where nobody wants to know. */
export function annotationOf({ annotatesWrites }: Pick<StoreParts, 'annotatesWrites'>, context: RequestContext, way: WriteWay): { annotation?: Buffer } {
  if (!annotatesWrites) return {};
  const { user, userAgent, auditId = '', clientName = '' } = context;
  const agent = userAgent.length > MAX_AGENT_CHARACTERS ? userAgent.slice(0, MAX_AGENT_CHARACTERS) : userAgent;
  const impersonator = clientName === user.name ? '' : clientName;
  const manager = way.fieldManager || managerOfUserAgent(agent);
  const author = JSON.stringify([way.verb, way.subresource ?? '', user.name, user.groups, impersonator, agent, manager]);
  return { annotation: Buffer.from(`${auditId}\n${author}`) };
}

/** Reads what follows the first line of an annotation, which is the id of the request; it is the same for all writes that differ in nothing else. */
export function authorOf(text: string): WriteAuthor | undefined {
  const parts = parseJson(text);
  if (!Array.isArray(parts)) return undefined;
  const [verb, subresource, username, groups, impersonator, userAgent, fieldManager] = parts;
  return { verb, subresource, username, groups, impersonator, userAgent, fieldManager } as unknown as WriteAuthor;
}
