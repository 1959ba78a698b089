import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isJsonObject, ownValue } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { serverPathUrl } from './webhook-url.ts';

/** A server to call, and how to prove who calls. PEM texts are read when the file is; a token's file is read again at every call, since its owner renews it. */
export interface RemoteEndpoint {
  url: URL;
  /** Absent: the authorities that Node trusts. */
  caPem?: string;
  /** The name that the server's certificate must have, where it is not the URL's. */
  serverName?: string;
  isTlsUnverified?: boolean;
  /** Where to connect to, where it is not what the URL names; asked for every new connection. Throws where nobody knows. */
  address?: () => { host: string; port: number };
  clientCertificate?: { certPem: string; keyPem: string };
  authorization?: () => Promise<string>;
}

/**
 * The server and user of a kubeconfig's current context (client-go/tools/clientcmd). Paths in it are relative to the file. Throws an Error that says what
 * is wrong; plug-ins (`exec`, `auth-provider`), proxies and impersonation are refused, since nobody would notice that they are left out.
 */
export async function loadKubeconfig(path: string): Promise<RemoteEndpoint> {
  return readKubeconfig(path, false, (reader) => reader.endpoint());
}

/** The same for a command that a person runs, whose credential plug-ins (`exec`) are run as kubectl runs them. */
export async function loadUserKubeconfig(path: string, context?: string): Promise<RemoteEndpoint> {
  return readKubeconfig(path, true, (reader) => reader.endpoint(context));
}

async function readKubeconfig<T>(path: string, runsPlugins: boolean, read: (reader: KubeconfigReader) => Promise<T>): Promise<T> {
  const { parseYaml } = await import('../encoding/yaml.ts');
  const text = await readFile(path, 'utf8');
  try {
    return await read(new KubeconfigReader(parseYaml(text), dirname(resolve(path)), runsPlugins));
  } catch (error) {
    throw new Error(`kubeconfig ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** How to prove who calls. */
export type Credentials = Pick<RemoteEndpoint, 'clientCertificate' | 'authorization'>;

/** The users of a kubeconfig, whose names say to whom they are for: the servers it names do not matter. */
export interface KubeconfigUsers {
  byName: ReadonlyMap<string, Credentials>;
  /** The one of the current context; undefined where none is named. */
  current: Credentials | undefined;
}

/** Throws as `loadKubeconfig` does. */
export async function loadKubeconfigUsers(path: string): Promise<KubeconfigUsers> {
  return readKubeconfig(path, false, (reader) => reader.users());
}

const REFUSED_USER_FIELDS = ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

class KubeconfigReader {
  readonly #config: JsonObject;
  readonly #folder: string;
  readonly #runsPlugins: boolean;

  constructor(config: Json, folder: string, runsPlugins: boolean) {
    if (!isJsonObject(config)) throw new Error('is no object');
    this.#config = config;
    this.#folder = folder;
    this.#runsPlugins = runsPlugins;
  }

  async endpoint(contextName = textOf(this.#config, 'current-context')): Promise<RemoteEndpoint> {
    if (contextName === '') throw new Error('names no current-context');
    const context = this.#named('contexts', 'context', contextName);
    const cluster = this.#named('clusters', 'cluster', textOf(context, 'cluster'));
    const userName = textOf(context, 'user');
    const user = userName === '' ? {} : this.#named('users', 'user', userName);
    if (textOf(cluster, 'proxy-url') !== '') throw new Error('clusters may not have proxy-url here');
    return { url: serverUrl(textOf(cluster, 'server')), ...(await this.#trust(cluster)), ...(await this.#identity(user)) };
  }

  async users(): Promise<KubeconfigUsers> {
    const entries = ownValue(this.#config, 'users');
    const names = (Array.isArray(entries) ? entries : []).flatMap((entry) => (isJsonObject(entry) ? [textOf(entry, 'name')] : []));
    const byName = new Map<string, Credentials>();
    for (const name of names) byName.set(name, await this.#identity(this.#named('users', 'user', name)));
    const contextName = textOf(this.#config, 'current-context');
    const current = contextName === '' ? '' : textOf(this.#named('contexts', 'context', contextName), 'user');
    return { byName, current: byName.get(current) };
  }

  async #trust(cluster: JsonObject): Promise<Pick<RemoteEndpoint, 'caPem' | 'serverName' | 'isTlsUnverified'>> {
    const caPem = await this.#content(cluster, 'certificate-authority');
    const serverName = textOf(cluster, 'tls-server-name');
    const isTlsUnverified = ownValue(cluster, 'insecure-skip-tls-verify') === true;
    if (isTlsUnverified && caPem !== undefined) throw new Error('specifying a root certificates file with the insecure flag is not allowed');
    return { ...(caPem !== undefined && { caPem }), ...(serverName !== '' && { serverName }), ...(isTlsUnverified && { isTlsUnverified }) };
  }

  async #identity(user: JsonObject): Promise<Credentials> {
    const exec = ownValue(user, 'exec');
    if (this.#runsPlugins && isJsonObject(exec)) return this.#pluginIdentity(exec);
    for (const field of REFUSED_USER_FIELDS) if (ownValue(user, field) != null) throw new Error(`users may not have ${field} here`);
    const certPem = await this.#content(user, 'client-certificate');
    const keyPem = await this.#content(user, 'client-key');
    if ((certPem === undefined) !== (keyPem === undefined)) throw new Error('client-certificate and client-key must be given together');
    const authorization = this.#authorization(user);
    return { ...(certPem !== undefined && keyPem !== undefined && { clientCertificate: { certPem, keyPem } }), ...(authorization && { authorization }) };
  }

  /** A certificate is taken as it is at first; a token is asked for again when it expires. */
  async #pluginIdentity(exec: JsonObject): Promise<Credentials> {
    const { ExecCredentials, readExecPlugin } = await import('./exec-credential.ts');
    const credentials = new ExecCredentials(readExecPlugin(exec));
    const { token, clientCertificate } = await credentials.get();
    if (token === undefined) return clientCertificate ? { clientCertificate } : {};
    const authorization = async (): Promise<string> => `Bearer ${(await credentials.get()).token}`;
    return { authorization, ...(clientCertificate && { clientCertificate }) };
  }

  #authorization(user: JsonObject): (() => Promise<string>) | undefined {
    const tokenFile = textOf(user, 'tokenFile');
    if (tokenFile !== '') {
      const path = resolve(this.#folder, tokenFile);
      return async () => `Bearer ${(await readFile(path, 'utf8')).trim()}`;
    }
    const [token, name, password] = [textOf(user, 'token'), textOf(user, 'username'), textOf(user, 'password')];
    if (token !== '') return async () => `Bearer ${token}`;
    if (name !== '' || password !== '') return async () => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    return undefined;
  }

  /** `<field>-data` in base64 goes before the file that `<field>` names. */
  async #content(object: JsonObject, field: string): Promise<string | undefined> {
    const data = textOf(object, `${field}-data`);
    if (data !== '') return Buffer.from(data, 'base64').toString();
    const path = textOf(object, field);
    return path === '' ? undefined : readFile(resolve(this.#folder, path), 'utf8');
  }

  #named(list: string, field: string, name: string): JsonObject {
    const entries = ownValue(this.#config, list);
    const entry = (Array.isArray(entries) ? entries : []).find((candidate) => isJsonObject(candidate) && candidate.name === name);
    const value = isJsonObject(entry) ? entry[field] : undefined;
    if (!isJsonObject(value)) throw new Error(`${field} ${JSON.stringify(name)} does not exist`);
    return value;
  }
}

function textOf(object: JsonObject, field: string): string {
  const value = ownValue(object, field) ?? '';
  if (typeof value !== 'string') throw new Error(`${field} is no text`);
  return value;
}

function serverUrl(text: string): URL {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new Error(`server ${JSON.stringify(text)} is no URL of http or https`);
  return serverPathUrl(new URL(text));
}
