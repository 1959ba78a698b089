import type { Exchange } from '../../serving/exchange.ts';
import { badRequest } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { User } from '../../api/user.ts';

const USER = 'impersonate-user';
const UID = 'impersonate-uid';
const GROUP = 'impersonate-group';
const EXTRA = 'impersonate-extra-';

/** The user that the headers ask to be taken for, as they say; undefined where they ask for none. They are taken off: nothing behind may act on them. */
export function readImpersonation({ headers, headerValues }: Pick<Exchange, 'headers'> & { headerValues(name: string): string[] }): User | undefined {
  const names = Object.keys(headers).filter((name) => name.startsWith('impersonate-'));
  if (names.length === 0) return undefined;
  // Of several lines the first counts, as in Go; `headers` would join them to a name that nobody has.
  const wanted = { name: headerValues(USER)[0] ?? '', uid: headerValues(UID)[0] ?? '', groups: headerValues(GROUP), extra: extraOf(names, headerValues) };
  const hasMore = wanted.uid !== '' || wanted.groups.length > 0 || wanted.extra !== undefined;
  if (wanted.name === '' && hasMore) throw badRequest(`requested ${printUser(wanted)} without impersonating a user name`);
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

/** As Go's %#v prints upstream's user: the message is part of the API that clients see. */
function printUser({
  name,
  uid,
  groups,
  extra,
}: {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Record<string, string[]> | undefined;
}): string {
  const list = (values: readonly string[]): string => (values.length === 0 ? '[]string(nil)' : `[]string{${values.map(quote).join(', ')}}`);
  const pairs =
    extra &&
    Object.keys(extra)
      .sort()
      .map((key) => `${quote(key)}:${list(extra[key]!)}`);
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${list(groups)}, Extra:map[string][]string${pairs ? `{${pairs.join(', ')}}` : '(nil)'}}`;
}
