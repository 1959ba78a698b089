import { ApiError, statusOf } from './status.ts';

export interface Session {
  user: { username: string; groups?: string[] };
  csrfToken: string;
  server: { version: string; storage: string; hasHistory: boolean };
}

/** How somebody shows who they are: the code of the link that was printed, a bearer token, or the connection's client certificate. */
export type Credentials = { code: string } | { token: string } | Record<string, never>;

const PATH = '/console/session';

async function answered(response: Response, method: string): Promise<Session> {
  if (!response.ok) throw new ApiError(response.status, statusOf(response.status, await response.text()), method, PATH);
  return (await response.json()) as Session;
}

export const signIn = async (credentials: Credentials): Promise<Session> =>
  answered(
    await fetch(PATH, { method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(credentials) }),
    'POST',
  );

/** The session that this browser has already, if it has one. */
export const restoreSession = async (): Promise<Session> => answered(await fetch(PATH, { credentials: 'same-origin' }), 'GET');

/** The link's code, which leaves the address (and so the browser's history) at once. */
export function takeCode(location: Location, history: History): string | undefined {
  const code = /^#code=([^&]+)/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', location.pathname);
  return code === undefined ? undefined : decodeURIComponent(code);
}
