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
  return { annotation: Buffer.from(`${context.auditId ?? ''}\n${RECENT_AUTHORS.textOf(context, way)}`) };
}

/** What was written of an author, and of what. */
interface KnownAuthor extends Omit<WriteAuthor, 'impersonator' | 'username'> {
  clientName: string;
  text: string;
}

const MAX_USERS = 1_000;
const MAX_AUTHORS_A_USER = 8;
/** A user may have thousands of groups, and a header many kilobytes: of such authors nothing is held. */
const MAX_KNOWN_CHARACTERS = 512;

/** The same client makes the same kind of write again and again: encoding it anew each time took longer than to compare it with the last ones. */
class RecentAuthors {
  readonly #byUser = new Map<string, KnownAuthor[]>();

  textOf({ user, userAgent, clientName = '' }: RequestContext, { verb, subresource = '', fieldManager = '' }: WriteWay): string {
    const known = this.#ofUser(user.name);
    for (const author of known) {
      if (author.verb !== verb || author.subresource !== subresource || author.fieldManager !== fieldManager) continue;
      if (author.userAgent === userAgent && author.clientName === clientName && areEqual(author.groups, user.groups)) return author.text;
    }
    const agent = userAgent.length > MAX_AGENT_CHARACTERS ? userAgent.slice(0, MAX_AGENT_CHARACTERS) : userAgent;
    const impersonator = clientName === user.name ? '' : clientName;
    const text = JSON.stringify([verb, subresource, user.name, user.groups, impersonator, agent, fieldManager || managerOfUserAgent(agent)]);
    if (text.length > MAX_KNOWN_CHARACTERS || agent !== userAgent) return text;
    if (known.length >= MAX_AUTHORS_A_USER) known.shift();
    known.push({ verb, subresource, groups: [...user.groups], userAgent, fieldManager, clientName, text });
    return text;
  }

  #ofUser(name: string): KnownAuthor[] {
    let known = this.#byUser.get(name);
    if (known === undefined) {
      if (this.#byUser.size >= MAX_USERS) this.#byUser.clear();
      this.#byUser.set(name, (known = []));
    }
    return known;
  }
}

const RECENT_AUTHORS = new RecentAuthors();

const areEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);

/** Reads what follows the first line of an annotation, which is the id of the request; it is the same for all writes that differ in nothing else. */
export function authorOf(text: string): WriteAuthor | undefined {
  const parts = parseJson(text);
  if (!Array.isArray(parts)) return undefined;
  const [verb, subresource, username, groups, impersonator, userAgent, fieldManager] = parts;
  return { verb, subresource, username, groups, impersonator, userAgent, fieldManager } as unknown as WriteAuthor;
}
