import { isJsonObject, parseJson } from '../../encoding/json.ts';
import { JsonError } from '../../encoding/json-parser.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { quote } from '../../util/go-quote.ts';
import { FetchedKeys } from './fetched-keys.ts';
import type { SignResponse } from './messages.ts';
import type { SignerObserver } from './observer.ts';
import { type SignerService, connectSigner } from './service.ts';

export interface ExternalSignerOptions {
  observer: SignerObserver;
  /** Told when the keys could not be fetched. */
  report(error: Error): void;
  /** How long one signature may take where the request has no end of its own. */
  signTimeoutMs: number;
}

/** An external signer that has told its keys and limits (pkg/serviceaccount/externaljwt/plugin/plugin.go). */
export interface ExternalSigner {
  readonly publicKeys: FetchedKeys;
  readonly maxTokenExpirationSeconds: number;
  /** The whole token of these claims. */
  sign(claims: object, signal: AbortSignal | undefined): Promise<string>;
  close(): void;
}

const METADATA_TIMEOUT_MS = 10_000;
/** The least that a token request may ask for. */
const MIN_TOKEN_EXPIRATION_SECONDS = 600;

/** Connects to the signer, and fetches its keys and limits. Throws where that fails, or where they cannot be used. */
export async function openExternalSigner(endpoint: string, { observer, report, signTimeoutMs }: ExternalSignerOptions): Promise<ExternalSigner> {
  const service = connectSigner(endpoint, observer);
  const publicKeys = new FetchedKeys({ service, observer, report });
  const close = (): void => {
    publicKeys.close();
    service.close();
  };
  const signer = new TokenSigner(service, publicKeys, signTimeoutMs);
  try {
    await publicKeys.start();
    const { maxTokenExpirationSeconds } = await service.metadata({ timeoutMs: METADATA_TIMEOUT_MS });
    return {
      publicKeys,
      maxTokenExpirationSeconds: checkedLifetime(maxTokenExpirationSeconds),
      async sign(claims, signal) {
        try {
          const token = await signer.sign(claims, signal);
          observer.signed();
          return token;
        } catch (error) {
          observer.signed(error as Error);
          throw error;
        }
      },
      close,
    };
  } catch (error) {
    close();
    throw error instanceof LifetimeError ? error : new Error(`while setting up external-jwt-signer: ${(error as Error).message}`, { cause: error });
  }
}

class LifetimeError extends Error {}

function checkedLifetime(seconds: number | bigint): number {
  if (seconds < MIN_TOKEN_EXPIRATION_SECONDS)
    throw new LifetimeError(`max token life supported by external-jwt-signer (${seconds}s) is less than acceptable (min ${MIN_TOKEN_EXPIRATION_SECONDS}s)`);
  return Number(seconds);
}

class TokenSigner {
  readonly #service: SignerService;
  readonly #publicKeys: FetchedKeys;
  readonly #timeoutMs: number;

  constructor(service: SignerService, publicKeys: FetchedKeys, timeoutMs: number) {
    this.#service = service;
    this.#publicKeys = publicKeys;
    this.#timeoutMs = timeoutMs;
  }

  async sign(claims: object, signal: AbortSignal | undefined): Promise<string> {
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const { header, signature } = await this.#call(payload, signal);
    try {
      await this.#checkKey(keyIdOf(header));
    } catch (error) {
      throw new Error(`while validating header: ${(error as Error).message}`, { cause: error });
    }
    if (signature === '') throw new Error('empty signature returned');
    return `${header}.${payload}.${signature}`;
  }

  async #call(payload: string, signal: AbortSignal | undefined): Promise<SignResponse> {
    try {
      return await this.#service.sign(payload, { timeoutMs: this.#timeoutMs, signal });
    } catch (error) {
      throw new Error(`while signing jwt: ${(error as Error).message}`, { cause: error });
    }
  }

  /** A token of a key that nobody is told would be refused by all who check tokens elsewhere. */
  async #checkKey(keyId: string): Promise<void> {
    const keys = await this.#publicKeys.find(keyId);
    if (keys.some(({ isUnlisted }) => isUnlisted)) throw new Error(`key used for signing JWT (kid: ${keyId}) is excluded from OIDC discovery docs`);
  }
}

const ALGORITHMS = new Set(['RS256', 'ES256', 'ES384', 'ES512']);
const HEADER_FIELDS = new Set(['alg', 'kid', 'typ']);
const MAX_KEY_ID_BYTES = 1024;

/** Of a token's header, which may hold nothing but what is known here. */
export function keyIdOf(header: string): string {
  const { alg, kid, typ } = headerFields(header);
  if (typ !== 'JWT') throw new Error('bad type');
  if (kid === '') throw new Error('key id missing');
  if (Buffer.byteLength(kid) > MAX_KEY_ID_BYTES) throw new Error('key id longer than 1 kb');
  if (!ALGORITHMS.has(alg)) throw new Error(`bad signing algorithm ${quote(alg)}`);
  return kid;
}

function headerFields(header: string): { alg: string; kid: string; typ: string } {
  const badByte = header.search(/[^\w-]/);
  const illegal = badByte >= 0 ? badByte : header.length % 4 === 1 ? header.length - 1 : -1;
  if (illegal >= 0) throw new Error(`while unwrapping header: illegal base64 data at input byte ${illegal}`);
  const object = parsedHeader(Buffer.from(header, 'base64url'));
  const unknown = Object.keys(object).find((name) => !HEADER_FIELDS.has(name));
  if (unknown !== undefined) throw new Error(`while parsing header JSON: json: unknown field ${quote(unknown)}`);
  const text = (name: string): string => {
    const value = object[name] ?? '';
    if (typeof value !== 'string')
      throw new Error(`while parsing header JSON: json: cannot unmarshal ${typeof value} into Go struct field .${name} of type string`);
    return value;
  };
  return { alg: text('alg'), kid: text('kid'), typ: text('typ') };
}

function parsedHeader(bytes: Buffer): JsonObject {
  let value;
  try {
    value = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Error(`while parsing header JSON: ${bytes.length === 0 ? 'EOF' : error.message}`, { cause: error });
  }
  if (value === null) return {};
  if (!isJsonObject(value))
    throw new Error(`while parsing header JSON: json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct`);
  return value;
}
