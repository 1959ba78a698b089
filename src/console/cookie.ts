import type { IncomingHttpHeaders } from 'node:http';

/** The token that a page shows beside the cookie: another site's page can make a browser send the cookie, but has never seen the token. */
export const CSRF_HEADER = 'x-binnacle-csrf';

/** Browsers send a host's cookies to all of its ports: servers of one machine have one each. */
export const cookieName = (port: number): string => `__Host-binnacle-console-${port}`;

/** Without an age, so that it goes with the browser's own session. */
export const cookieOf = (name: string, id: string): string => `${name}=${id}; Path=/; Secure; HttpOnly; SameSite=Strict`;

export const expiredCookie = (name: string): string => `${name}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;

/** Takes our cookie and the token off a request, so that no backend, log or handler sees them, and answers with what they were. */
export function takeCookie(headers: IncomingHttpHeaders, name: string): { id: string | undefined; csrfToken: string | undefined } {
  const { cookie } = headers;
  const csrfToken = headers[CSRF_HEADER];
  if (csrfToken !== undefined) headers[CSRF_HEADER] = undefined;
  const token = typeof csrfToken === 'string' ? csrfToken : undefined;
  if (!cookie?.includes(name)) return { id: undefined, csrfToken: token };
  const others: string[] = [];
  let id: string | undefined;
  for (const pair of cookie.split(';')) {
    const text = pair.trim();
    if (text.startsWith(`${name}=`)) id ??= text.slice(name.length + 1);
    else if (text !== '') others.push(text);
  }
  headers.cookie = others.length === 0 ? undefined : others.join('; ');
  return { id, csrfToken: token };
}
