import { type Server, createServer as createHttpsServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { ApiClient } from './api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from './server.ts';

/* A front, and servers behind it that it proxies to. */

/** Of aggregated servers' certificates. */
const servingAuthority = createAuthority({ commonName: 'aggregated-ca' });
/** Of the certificate by which the front is known to them. */
const proxyAuthority = createAuthority({ commonName: 'front-proxy-ca' });

export const caBundle = Buffer.from(servingAuthority.certPem).toString('base64');

const hostsOf = (service: string): string[] => [`${service}.default.svc`, 'localhost'];

/** Files of one folder, by name. */
function writeFiles(files: Readonly<Record<string, string>>): (name: string) => string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  return (name) => join(folder, name);
}

function requestHeaderFlags(caFile: string): string[] {
  return [
    `--requestheader-client-ca-file=${caFile}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-uid-headers=X-Remote-Uid',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ];
}

export const proxyCertificate = (commonName: string) => signCertificate(proxyAuthority, { commonName, usages: ['client'] });

export function startFront(flags: readonly string[] = []): Promise<ServerProcess> {
  const { certPem, keyPem } = proxyCertificate('front-proxy-client');
  const file = writeFiles({ 'proxy.crt': certPem, 'proxy.key': keyPem, 'proxy-ca.crt': proxyAuthority.certPem });
  const proxyFlags = [`--proxy-client-cert-file=${file('proxy.crt')}`, `--proxy-client-key-file=${file('proxy.key')}`];
  return startServer({ flags: [...proxyFlags, ...requestHeaderFlags(file('proxy-ca.crt')), ...flags] });
}

/** How to start a Binnacle that asks the front who somebody is and what they may. The same each time, so that it can be started again. */
export function delegatedServer(front: ServerProcess, service: string): { flags: string[]; client(port: number, token?: string): ApiClient } {
  const { certPem, keyPem } = signCertificate(servingAuthority, { commonName: service, usages: ['server'], hosts: hostsOf(service), ips: ['127.0.0.1'] });
  const kubeconfig = (path: string): string =>
    JSON.stringify({
      clusters: [{ name: 'front', cluster: { server: `${front.url}${path}`, 'certificate-authority-data': Buffer.from(front.ca).toString('base64') } }],
      users: [{ name: 'back', user: { token: 'admin-token' } }],
      contexts: [{ name: 'front', context: { cluster: 'front', user: 'back' } }],
      'current-context': 'front',
    });
  const file = writeFiles({
    'tls.crt': certPem,
    'tls.key': keyPem,
    'proxy-ca.crt': proxyAuthority.certPem,
    tokens: kubeconfig('/apis/authentication.k8s.io/v1/tokenreviews'),
    access: kubeconfig('/apis/authorization.k8s.io/v1/subjectaccessreviews'),
  });
  return {
    flags: [
      `--tls-cert-file=${file('tls.crt')}`,
      `--tls-private-key-file=${file('tls.key')}`,
      ...requestHeaderFlags(file('proxy-ca.crt')),
      '--token-auth-file=',
      `--authentication-token-webhook-config-file=${file('tokens')}`,
      '--authentication-token-webhook-version=v1',
      '--authorization-mode=Webhook',
      `--authorization-webhook-config-file=${file('access')}`,
      '--authorization-webhook-version=v1',
    ],
    client: (at, token) => new ApiClient({ port: at, ca: servingAuthority.certPem, ...(token !== undefined && { token }) }),
  };
}

/** Registers a group-version that `localhost:<port>` serves. */
export async function register(
  front: ServerProcess,
  group: string,
  version: string,
  service: string,
  port: number,
  more: object = { caBundle },
): Promise<void> {
  const admin = front.client();
  const path = '/api/v1/namespaces/default/services';
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  const made = await admin.send({ method: 'POST', path, body: { metadata: { name: service }, spec } });
  if (made.status !== 201 && made.status !== 409) throw new Error(made.text);
  await admin.create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `${version}.${group}` },
    spec: { group, version, groupPriorityMinimum: 1000, versionPriority: 10, service: { namespace: 'default', name: service, port }, ...more },
  });
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

async function availability(front: ServerProcess, name: string): Promise<Condition | undefined> {
  const { status } = await front.client().get(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`);
  return (status?.['conditions'] as Condition[] | undefined)?.find(({ type }) => type === 'Available');
}

/** What takes a moment is asked for often, and given time: the machine has other work. */
export const eventually = <T>(look: () => T | Promise<T>, timeout = 15_000): Promise<T> => vi.waitFor(look, { timeout, interval: 20 });

export const waitForAvailability = (front: ServerProcess, name: string, reason: string): Promise<Condition> =>
  eventually(async () => {
    const condition = await availability(front, name);
    if (condition?.reason !== reason) throw new Error(`${name} is ${JSON.stringify(condition)} instead of ${reason}`);
    return condition;
  });

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** An aggregated server of a few lines, with the certificate of a service. */
export async function startBackend(
  service: string,
  respond: Respond,
  host = 'localhost',
): Promise<{ port: number; server: Server; sockets: Set<Socket>; requests: IncomingMessage[] }> {
  const { certPem, keyPem } = signCertificate(servingAuthority, { commonName: service, usages: ['server'], hosts: hostsOf(service) });
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const options = { cert: certPem, key: keyPem, ca: proxyAuthority.certPem, requestCert: true, rejectUnauthorized: false };
  const server = createHttpsServer(options, (request, response) => {
    requests.push(request);
    respond(request, response);
  });
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  afterAll(() => void server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, server, sockets, requests };
}
