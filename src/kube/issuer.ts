import type { KeyObject } from 'node:crypto';
import { algorithmOf, keyId } from '../authentication/jwt.ts';
import type { Handler } from '../endpoints/request.ts';
import { webService } from '../server/web-service.ts';

/** Who signs service account tokens, for those who check them elsewhere (OpenID Connect Discovery 1.0; pkg/serviceaccount/openidmetadata.go). */
export interface IssuerOptions {
  issuer: string;
  /** Where the keys are published; asked when the first document is. */
  jwksUri(): string;
  /** The public keys of all that may have signed; may still be in the making. */
  publicKeys(this: void): Promise<readonly KeyObject[]>;
}

const KEY_SET_TYPE = 'application/jwk-set+json';
const MAX_AGE_SECONDS = 3600;
const CACHE_CONTROL = `public, max-age=${MAX_AGE_SECONDS}`;

/** The two documents, by path; none where the issuer is not a URL that discovery allows. */
export function issuerHandlers({ issuer, jwksUri, publicKeys }: IssuerOptions): Map<string, Handler> {
  if (!/^https:\/\/[^?#]+$/.test(issuer)) return new Map();
  const configuration: Handler = async ({ exchange }) => {
    const algorithms = [...new Set((await publicKeys()).map(algorithmOf))].sort();
    const document = {
      issuer,
      jwks_uri: jwksUri(),
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: algorithms,
    };
    exchange.respond(200, { 'content-type': 'application/json', 'cache-control': CACHE_CONTROL }, JSON.stringify(document));
  };
  const keySet: Handler = async ({ exchange }) => {
    const keys = (await publicKeys()).map((key) => ({ use: 'sig', kid: keyId(key), alg: algorithmOf(key), ...key.export({ format: 'jwk' }) }));
    exchange.respond(200, { 'content-type': KEY_SET_TYPE, 'cache-control': CACHE_CONTROL }, JSON.stringify({ keys }));
  };
  return new Map([
    ['/.well-known/openid-configuration', webService('application/json', configuration)],
    ['/openid/v1/jwks', webService(KEY_SET_TYPE, keySet)],
  ]);
}
