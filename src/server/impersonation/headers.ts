import type { Exchange } from '../../serving/exchange.ts';
import { badRequest } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { User } from '../../api/user.ts';

const USER = 'impersonate-user';
const UID = 'impersonate-uid';
const GROUP = 'impersonate-group';
const EXTRA = 'impersonate-extra-';

/**
 * The user that the headers ask to be taken for, as they say; undefined where they ask for none. They are taken off: nothing behind may act on them.
 * `isConstrainable`: the feature gate ConstrainedImpersonation, without which upstream words a refusal otherwise.
 */
export function readImpersonation(
  { headers, headerValues }: Pick<Exchange, 'headers'> & { headerValues(name: string): string[] },
  isConstrainable = true,
): User | undefined {
  const names = Object.keys(headers).filter((name) => name.startsWith('impersonate-'));
  if (names.length === 0) return undefined;
  // Of several lines the first counts, as in Go; `headers` would join them to a name that nobody has.
  const wanted = { name: headerValues(USER)[0] ?? '', uid: headerValues(UID)[0] ?? '', groups: headerValues(GROUP), extra: extraOf(names, headerValues) };
  const hasMore = wanted.uid !== '' || wanted.groups.length > 0 || wanted.extra !== undefined;
  if (wanted.name === '' && hasMore)
    throw badRequest(
      isConstrainable
        ? `requested ${printUser(wanted)} without impersonating a user name`
        : `requested [${printReferences(wanted)}] without impersonating a user`,
    );
  for (const name of names) delete headers[name];
  if (wanted.name === '') return undefined;
  return { name: wanted.name, groups: wanted.groups, ...(wanted.uid !== '' && { uid: wanted.uid }), ...(wanted.extra && { extra: wanted.extra }) };
}

function extraOf(names: readonly string[], headerValues: (name: string) => string[]): Record<string, string[]> | undefined {
  const entries = names.filter((name) => name.startsWith(EXTRA)).map((name) => [unescapeKey(name.slice(EXTRA.length)), headerValues(name)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Keys are percent-encoded where a header's name cannot hold them; one that does not decode is taken as it is. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

interface WantedUser {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Record<string, string[]> | undefined;
}

const AUTHENTICATION = 'authentication.k8s.io/v1';

/** As Go's %v prints the references that upstream makes of groups, extra values and the uid: kind, namespace, name, uid, version, resource version, field path. */
function printReferences({ uid, groups, extra = {} }: WantedUser): string {
  const reference = (kind: string, name: string, apiVersion = '', fieldPath = ''): string => `{${[kind, '', name, '', apiVersion, '', fieldPath].join(' ')}}`;
  return [
    ...groups.map((group) => reference('Group', group)),
    ...Object.entries(extra).flatMap(([key, values]) => values.map((value) => reference('UserExtra', value, AUTHENTICATION, key))),
    ...(uid === '' ? [] : [reference('UID', uid, AUTHENTICATION)]),
  ].join(' ');
}

/** As Go's %#v prints upstream's user: the message is part of the API that clients see. */
function printUser({ name, uid, groups, extra }: WantedUser): string {
  const list = (values: readonly string[]): string => (values.length === 0 ? '[]string(nil)' : `[]string{${values.map(quote).join(', ')}}`);
  const pairs =
    extra &&
    Object.keys(extra)
      .sort()
      .map((key) => `${quote(key)}:${list(extra[key]!)}`);
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${list(groups)}, Extra:map[string][]string${pairs ? `{${pairs.join(', ')}}` : '(nil)'}}`;
}
