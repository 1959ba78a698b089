import type { OutgoingHttpHeaders } from 'node:http';
import { quote } from '../util/go-quote.ts';
import type { User } from '../api/user.ts';

/**
 * Who asks, as a server that trusts our client certificate reads it (client-go/transport, SetAuthProxyHeaders). Throws for a name that a header cannot
 * hold: changed on its way, it might be somebody else's.
 */
export function identityHeaders({ name, uid, groups, extra }: User, sendsUid: boolean): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'x-remote-user': wire('X-Remote-User', name) };
  if (sendsUid && uid !== undefined && uid !== '') headers['x-remote-uid'] = wire('X-Remote-Uid', uid);
  if (groups.length > 0) headers['x-remote-group'] = groups.map((group) => wire('X-Remote-Group', group));
  for (const key in extra) {
    const header = `x-remote-extra-${escapeKey(key)}`;
    // Keys that differ by case are one to a header.
    headers[header] = [...((headers[header] as string[] | undefined) ?? []), ...extra[key]!.map((value) => wire(header, value))];
  }
  return headers;
}

const UNSENDABLE = /[^\t\x20-\x7e\x80-\u{10ffff}]|^[ \t]|[ \t]$/u;
const ASCII = /^[\x20-\x7e]*$/;

/** Text in UTF-8, as Go sends it: one character a byte, which is how Node takes it. */
function wire(header: string, value: string): string {
  if (UNSENDABLE.test(value)) throw new Error(`net/http: invalid header field value for ${quote(header)}`);
  return ASCII.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');
}

/** Percent-encoded where a header's name cannot hold the byte, and where a percent sign stands for itself. */
function escapeKey(key: string): string {
  return Buffer.from(key, 'utf8')
    .toString('latin1')
    .replace(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
