import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Client } from '../api/client.ts';
import type { Discovery } from '../api/discovery.ts';
import { OpenApi } from '../api/openapi.ts';
import { type Credentials, type Session, restoreSession, signIn, takeCode } from '../api/session.ts';
import { messageOf } from '../api/status.ts';
import { ActivityFeed } from './activity-feed.ts';
import { Keyboard } from './keyboard.ts';
import { LiveDiscovery } from './live-discovery.ts';
import { Namespaces } from './namespaces.ts';
import { RequestLog } from './request-log.ts';
import { type Router, createRouter } from './route.ts';
import { type Theme, createTheme } from './theme.ts';

/** A request of which somebody wants to know why it was refused. */
export interface PendingExplanation {
  method: string;
  path: string;
  query?: string;
  body?: string;
  asUser?: string;
  /** What the server said. */
  message?: string;
}

/** All that the views share. One is made for the page; components get it by `useApp`. */
export interface App {
  readonly client: Client;
  readonly router: Router;
  readonly theme: Theme;
  readonly keyboard: Keyboard;
  /** Nothing while it is not known yet whether there is one. */
  readonly session: ReadonlySignal<Session | 'none' | undefined>;
  readonly signInError: ReadonlySignal<string>;
  readonly discovery: ReadonlySignal<Discovery | undefined>;
  readonly namespaces: Namespaces;
  readonly openApi: OpenApi;
  readonly activity: ActivityFeed;
  readonly requestLog: RequestLog;
  /** The namespace that tables show; empty for all of them. */
  readonly namespace: Signal<string>;
  /** What is open above the view. */
  readonly dialog: Signal<'help' | 'delete' | undefined>;
  readonly isMenuOpen: Signal<boolean>;
  readonly pendingExplanation: Signal<PendingExplanation | undefined>;
  /** Shows why a request was refused. */
  explain(request: PendingExplanation): void;
  signIn(credentials: Credentials): Promise<void>;
  signOut(): Promise<void>;
}

export function createApp(window: Window): App {
  const session = signal<Session | 'none' | undefined>(undefined);
  const signInError = signal('');
  const client = new Client(() => {
    session.value = 'none';
  });
  const discovery = new LiveDiscovery(client);
  const namespaces = new Namespaces(client);
  const code = takeCode(window.location, window.history);

  let hadSession = false;
  const begin = (started: Session): void => {
    hadSession = true;
    client.useSession(started.csrfToken);
    session.value = started;
    signInError.value = '';
    discovery.start();
    namespaces.start();
  };
  const router = createRouter(window);
  const pendingExplanation = signal<PendingExplanation | undefined>(undefined);
  const app: App = {
    client,
    router,
    theme: createTheme(window),
    keyboard: new Keyboard(),
    session,
    signInError,
    discovery: discovery.current,
    namespaces,
    openApi: new OpenApi(client),
    activity: new ActivityFeed(client),
    requestLog: new RequestLog(client),
    namespace: signal(''),
    dialog: signal(undefined),
    isMenuOpen: signal(false),
    pendingExplanation,
    explain(request) {
      pendingExplanation.value = request;
      router.go('/explain');
    },
    async signIn(credentials) {
      try {
        const started = await signIn(credentials);
        // Of what another user has seen in this page, nothing stays: the page begins anew, and finds the session.
        if (hadSession) window.location.reload();
        else begin(started);
      } catch (error) {
        session.value = 'none';
        signInError.value = messageOf(error);
      }
    },
    async signOut() {
      discovery.stop();
      namespaces.stop();
      await client.send('/console/session', { method: 'DELETE' });
      window.location.reload();
    },
  };
  if (code === undefined) {
    restoreSession().then(begin, () => {
      session.value = 'none';
    });
  } else void app.signIn({ code });
  return app;
}

/** Does the server keep what was? */
export const hasHistory = ({ session }: App): boolean => typeof session.value === 'object' && session.value.server.hasHistory;

export const usernameOf = ({ session }: App): string => (typeof session.value === 'object' ? session.value.user.username : '');

const AppContext = createContext<App | undefined>(undefined);
export const AppProvider = AppContext.Provider;

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('a component is rendered outside of the page');
  return app;
}
