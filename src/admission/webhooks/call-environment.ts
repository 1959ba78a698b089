import type { Credentials, KubeconfigUsers } from '../../client/kubeconfig.ts';
import type { PluginEnvironment } from '../plugin.ts';
import type { CallEnvironment } from './caller.ts';

/** How webhooks are reached, and, by the plug-in's own configuration, whom they are called as. */
export const callEnvironment = ({ options }: PluginEnvironment, users: KubeconfigUsers | undefined): CallEnvironment => ({
  routes: options.webhookRoutes,
  credentialsFor: (host) => (users ? credentialsFor(users, host) : {}),
});

const HTTPS_PORT = ':443';

/**
 * Whom to call a server as: `host` is its name and port. The user of that very name; else of the closest `*.` domain around it; with HTTPS' own port, the same
 * without the port; else the user `*`, or the one of the current context; nobody otherwise (apiserver/pkg/util/webhook/authentication.go).
 */
export function credentialsFor({ byName, current }: KubeconfigUsers, host: string): Credentials {
  const candidates = [...namesOf(host), ...(host.endsWith(HTTPS_PORT) ? namesOf(withoutPort(host)) : []), '*'];
  const found = candidates.find((name) => byName.has(name));
  return (found === undefined ? current : byName.get(found)) ?? {};
}

function* namesOf(host: string): Iterable<string> {
  yield host;
  const labels = host.split('.');
  for (let i = 1; i < labels.length; i++) yield `*.${labels.slice(i).join('.')}`;
}

/** Brackets stand around an IPv6 address for the sake of its port. */
const withoutPort = (host: string): string => host.slice(0, -HTTPS_PORT.length).replace(/^\[(.*)\]$/, '$1');
