import { execFile } from 'node:child_process';
import { isJsonObject, parseJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** As a kubeconfig names it (client-go/tools/clientcmd/api, ExecConfig). */
interface ExecPlugin {
  command: string;
  args: readonly string[];
  env: readonly (readonly [name: string, value: string])[];
  apiVersion: string;
}

interface ExecCredential {
  token: string | undefined;
  clientCertificate: { certPem: string; keyPem: string } | undefined;
  expiresAtMs: number;
}

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** A token is asked for again so long before it expires. */
const EARLY_MS = 30_000;

export function readExecPlugin(exec: JsonObject): ExecPlugin {
  const { command, args, env, apiVersion } = exec;
  if (typeof command !== 'string' || command === '') throw new Error('exec names no command');
  if (typeof apiVersion !== 'string' || !API_VERSIONS.includes(apiVersion)) throw new Error(`exec has apiVersion ${JSON.stringify(apiVersion)}`);
  const variables = listOf(env).flatMap((each) => (isJsonObject(each) ? [[String(each['name']), String(each['value'])] as const] : []));
  return { command, args: listOf(args).map(String), env: variables, apiVersion };
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** Runs a kubeconfig's credential plug-in when there is no credential, or it is about to expire. */
export class ExecCredentials {
  readonly #plugin: ExecPlugin;
  #current: Promise<ExecCredential> | undefined;
  #expiresAtMs = Infinity;

  constructor(plugin: ExecPlugin) {
    this.#plugin = plugin;
  }

  async get(): Promise<ExecCredential> {
    if (Date.now() > this.#expiresAtMs - EARLY_MS) this.#current = undefined;
    this.#current ??= this.#run();
    try {
      const credential = await this.#current;
      this.#expiresAtMs = credential.expiresAtMs;
      return credential;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #run(): Promise<ExecCredential> {
    const { command, args, env, apiVersion } = this.#plugin;
    const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
    const output = await new Promise<string>((resolve, reject) => {
      const options = { env: { ...process.env, ...Object.fromEntries(env), KUBERNETES_EXEC_INFO: info }, maxBuffer: MAX_OUTPUT_BYTES };
      execFile(command, [...args], options, (error, stdout, stderr) => {
        if (error) reject(new Error(`the credential plug-in ${command} failed: ${stderr.trim().split('\n').at(-1) || error.message}`));
        else resolve(stdout);
      });
    });
    return readCredential(command, output);
  }
}

/** What a plug-in has written. Throws an Error where that is no credential. */
export function readCredential(command: string, output: string): ExecCredential {
  const answer = parseJson(output);
  const status = isJsonObject(answer) ? answer['status'] : undefined;
  if (!isJsonObject(status)) throw new Error(`the credential plug-in ${command} answered without a status`);
  const text = (field: string): string | undefined => (typeof status[field] === 'string' ? (status[field] as string) : undefined);
  const [token, certPem, keyPem, expiry] = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'].map(text);
  const clientCertificate = certPem !== undefined && keyPem !== undefined ? { certPem, keyPem } : undefined;
  if (token === undefined && !clientCertificate) throw new Error(`the credential plug-in ${command} answered with no credential`);
  return { token, clientCertificate, expiresAtMs: expiry === undefined ? Infinity : Date.parse(expiry) };
}
