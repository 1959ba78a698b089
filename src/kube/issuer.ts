import { algorithmOf, isSigningKey } from '../authentication/jwt.ts';
import type { PublicKey, PublicKeySource } from '../authentication/public-keys.ts';
import type { Handler } from '../endpoints/request.ts';
import { webService } from '../server/web-service.ts';

/** Who signs service account tokens, for those who check them elsewhere (OpenID Connect Discovery 1.0; pkg/serviceaccount/openidmetadata.go). */
export interface IssuerOptions {
  issuer: string;
  /** Where the keys are published; asked when the first document is. */
  jwksUri(): string;
  publicKeys: PublicKeySource;
  /** Told when documents cannot be made of the keys: those from before stay, or there are none. */
  report(error: Error): void;
}

const KEY_SET_TYPE = 'application/jwk-set+json';

interface IssuerDocuments {
  generation: number;
  configuration: string;
  keySet: string;
}

/** The two documents, by path; none where the issuer is not a URL that discovery allows, or where no key can be told. */
export function issuerHandlers(options: IssuerOptions): Map<string, Handler> {
  const { issuer, publicKeys, report } = options;
  if (!/^https:\/\/[^?#]+$/.test(issuer)) return new Map();
  try {
    if (publicKeys.current) listedKeys(publicKeys.current);
  } catch (error) {
    report(error as Error);
    return new Map();
  }
  let made: IssuerDocuments | undefined;
  const documents = async (): Promise<IssuerDocuments> => {
    if (made?.generation === publicKeys.generation) return made;
    const { generation } = publicKeys;
    try {
      made = { generation, ...documentsOf(options, listedKeys(await publicKeys.find(''))) };
    } catch (error) {
      if (!made) throw error;
      report(error as Error);
      made = { ...made, generation };
    }
    return made;
  };
  const serving = (contentType: string, document: 'configuration' | 'keySet'): Handler =>
    webService(contentType, async ({ exchange }) => {
      const text = (await documents())[document];
      exchange.respond(200, { 'content-type': contentType, 'cache-control': `public, max-age=${publicKeys.maxAgeSeconds}` }, text);
    });
  return new Map([
    ['/.well-known/openid-configuration', serving('application/json', 'configuration')],
    ['/openid/v1/jwks', serving(KEY_SET_TYPE, 'keySet')],
  ]);
}

/** Those that may be told; throws where there is none, or one that is of no kind that tokens are signed with. */
function listedKeys(keys: readonly PublicKey[]): readonly PublicKey[] {
  const listed = keys.filter(({ isUnlisted }) => !isUnlisted);
  if (listed.length === 0) throw new Error('no keys provided for validating keyset');
  const strange = listed.findIndex(({ key }) => !isSigningKey(key));
  if (strange >= 0) throw new Error(`error constructing JWK for key #${strange}: it must be an RSA key, or one on the curve P-256, P-384 or P-521`);
  return listed;
}

function documentsOf({ issuer, jwksUri }: IssuerOptions, keys: readonly PublicKey[]): { configuration: string; keySet: string } {
  const configuration = {
    issuer,
    jwks_uri: jwksUri(),
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ key }) => algorithmOf(key)))].sort(),
  };
  const keySet = { keys: keys.map(({ id, key }) => ({ use: 'sig', kid: id, alg: algorithmOf(key), ...key.export({ format: 'jwk' }) })) };
  return { configuration: JSON.stringify(configuration), keySet: JSON.stringify(keySet) };
}
