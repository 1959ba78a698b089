import type { X509Certificate } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { encodePem, parseCertificates } from '../../serving/certificates/pem.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { isApiError } from '../../api/errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { type BootstrapControllerOptions, ensureNamespaces, isCreated, keepDoing, syncedResource } from './keeping.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';
const INTERVAL_MS = 60_000;
const EXPIRY_SLACK_MS = 5 * 60_000;

/** How this server authenticates clients: what aggregated servers are recommended to trust. Asked anew every time, so that reloaded files count. */
export interface ClusterAuthenticationOptions extends BootstrapControllerOptions {
  /** PEM of `--client-ca-file`; undefined where there is none. */
  clientCa(): string | undefined;
  /** The `--requestheader-*` flags; undefined where there is no CA for a front proxy. */
  requestHeader(): RequestHeaderTrust | undefined;
  /** Calls back when one of the two has become another. */
  onTrustChange?(listener: () => void): void;
}

export interface RequestHeaderTrust {
  caPem: string;
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
  allowedNames: readonly string[];
}

type Data = Record<string, string>;

interface ConfigMap extends ApiObject {
  data?: Data;
}

/** The ConfigMap extension-apiserver-authentication: what is in it already is kept, since other servers write theirs (clusterauthenticationtrust). */
export function keepClusterAuthentication(client: Client, options: ClusterAuthenticationOptions): Promise<void> {
  options.onTrustChange?.(() => {
    if (!options.signal.aborted) ensureConfigMap(client, options).catch((error: unknown) => options.report(error as Error));
  });
  return keepDoing(() => ensureConfigMap(client, options), INTERVAL_MS, options);
}

async function ensureConfigMap(client: Client, options: ClusterAuthenticationOptions): Promise<void> {
  const resource = await syncedResource<ConfigMap>(client, '', 'configmaps');
  const current = resource.informer.get(NAMESPACE, NAME);
  const data = combinedData(current?.data ?? {}, options);
  if (equalJson(data, current?.data ?? {})) return;
  if (current === undefined) {
    await ensureNamespaces(client, [NAMESPACE]);
    if (await isCreated(resource.create(NAMESPACE, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: NAME, namespace: NAMESPACE }, data }))) return;
  }
  try {
    await resource.update(NAMESPACE, NAME, (object) => void (object.data = combinedData(object.data ?? {}, options)));
  } catch (error) {
    // Certificates gathered over years no longer fit: all servers begin anew.
    const isTooBig = isApiError(error, 'RequestEntityTooLarge') || (isApiError(error, 'Invalid') && error.message.includes('Too long'));
    if (isTooBig) await resource.delete(NAMESPACE, NAME);
    throw error;
  }
}

function combinedData(existing: Data, { clientCa, requestHeader, now }: ClusterAuthenticationOptions): Data {
  const data: Data = {};
  const clientCaPem = combinedCertificates([existing['client-ca-file'], clientCa()], now());
  if (clientCaPem !== '') data['client-ca-file'] = clientCaPem;
  const trust = requestHeader();
  const proxyCaPem = combinedCertificates([existing['requestheader-client-ca-file'], trust?.caPem], now());
  if (proxyCaPem === '') return data;
  const uidHeaders = combinedList(existing['requestheader-uid-headers'], trust?.uidHeaders);
  data['requestheader-username-headers'] = JSON.stringify(combinedList(existing['requestheader-username-headers'], trust?.usernameHeaders));
  if (uidHeaders.length > 0) data['requestheader-uid-headers'] = JSON.stringify(uidHeaders);
  data['requestheader-group-headers'] = JSON.stringify(combinedList(existing['requestheader-group-headers'], trust?.groupHeaders));
  data['requestheader-extra-headers-prefix'] = JSON.stringify(combinedList(existing['requestheader-extra-headers-prefix'], trust?.extraHeaderPrefixes));
  data['requestheader-client-ca-file'] = proxyCaPem;
  data['requestheader-allowed-names'] = JSON.stringify(combinedList(existing['requestheader-allowed-names'], trust?.allowedNames));
  return data;
}

/** Every certificate once, without those that have expired. */
function combinedCertificates(bundles: readonly (string | undefined)[], now: Date): string {
  const all = bundles.flatMap((pem) => (pem ? parseCertificates(pem) : []));
  const isAlive = (certificate: X509Certificate): boolean => Date.parse(certificate.validTo) > now.getTime() - EXPIRY_SLACK_MS;
  return [...new Set(all.filter(isAlive).map(({ raw }) => encodePem('CERTIFICATE', raw)))].join('');
}

function combinedList(existing: string | undefined, own: readonly string[] = []): string[] {
  const parsed: unknown = existing ? JSON.parse(existing) : [];
  if (!Array.isArray(parsed) || !parsed.every((item) => typeof item === 'string'))
    throw new Error(`${NAMESPACE}/${NAME} holds a value that is no list of strings`);
  return [...new Set<string>([...parsed, ...own])];
}
