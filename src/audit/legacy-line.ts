import { quote } from '../util/go-quote.ts';
import type { AuditEvent } from './event.ts';

/** An event on one line of text, with its line end: `--audit-log-format=legacy` (apiserver/pkg/audit/format.go). */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIps } = event;
  const pairs = {
    id: event.auditId,
    stage: event.stage,
    ip: sourceIps[0] ?? '<unknown>',
    method: event.verb,
    user: user?.name || '<none>',
    groups: user?.name && user.groups.length > 0 ? quoted(user.groups) : '<none>',
    as: impersonatedUser?.name ?? '<self>',
    asgroups: impersonatedUser ? quoted(impersonatedUser.groups) : '<lookup>',
    'user-agent': event.userAgent,
    namespace: objectRef?.namespace || '<none>',
    uri: event.requestUri,
    response: responseStatus ? String(responseStatus.code ?? 0) : '<deferred>',
  };
  const text = Object.entries(pairs).map(([key, value]) => `${key}=${quote(value)}`);
  return `${nanoTime(event.receivedAt)} AUDIT: ${text.join(' ')}\n`;
}

const quoted = (texts: readonly string[]): string => texts.map(quote).join(',');

/** Go's RFC3339Nano: no zeros at the end of the fraction, and no fraction of zero. */
const nanoTime = (microTime: string): string => microTime.replace(/\.?0*Z$/, 'Z');
