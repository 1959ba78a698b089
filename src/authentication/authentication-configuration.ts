import { FLAG, TEXT, decodeConfiguration, listOf, optional, structOf } from '../schema/configuration-file.ts';
import type { ObjectSchema } from '../schema/schema.ts';

/** AuthenticationConfiguration of apiserver.config.k8s.io, the same in all its versions. What is empty is absent. */
export interface AuthenticationConfiguration {
  jwt?: JwtConfiguration[];
  anonymous?: AnonymousConfiguration;
}

export interface AnonymousConfiguration {
  enabled?: boolean;
  /** Which paths; all where there are none. */
  conditions?: { path?: string }[];
}

export interface JwtConfiguration {
  issuer?: IssuerConfiguration;
  claimValidationRules?: ClaimValidationRule[];
  claimMappings?: ClaimMappings;
  userValidationRules?: { expression?: string; message?: string }[];
}

export interface IssuerConfiguration {
  url?: string;
  discoveryURL?: string;
  /** PEM. */
  certificateAuthority?: string;
  audiences?: string[];
  audienceMatchPolicy?: string;
  egressSelectorType?: string;
}

export interface ClaimValidationRule {
  claim?: string;
  requiredValue?: string;
  expression?: string;
  message?: string;
}

export interface ClaimMappings {
  username?: PrefixedClaim;
  groups?: PrefixedClaim;
  uid?: { claim?: string; expression?: string };
  extra?: { key?: string; valueExpression?: string }[];
}

export interface PrefixedClaim {
  claim?: string;
  /** An empty one says that none is wanted; it may not be left out beside a claim. */
  prefix?: string;
  expression?: string;
}

const prefixedClaim = structOf('v1.PrefixedClaimOrExpression', { claim: TEXT, prefix: optional(TEXT), expression: TEXT });

const jwt = structOf('v1.JWTAuthenticator', {
  issuer: structOf('v1.Issuer', {
    url: TEXT,
    discoveryURL: TEXT,
    certificateAuthority: TEXT,
    audiences: listOf(TEXT),
    audienceMatchPolicy: TEXT,
    egressSelectorType: TEXT,
  }),
  claimValidationRules: listOf(structOf('v1.ClaimValidationRule', { claim: TEXT, requiredValue: TEXT, expression: TEXT, message: TEXT })),
  claimMappings: structOf('v1.ClaimMappings', {
    username: prefixedClaim,
    groups: prefixedClaim,
    uid: structOf('v1.ClaimOrExpression', { claim: TEXT, expression: TEXT }),
    extra: listOf(structOf('v1.ExtraMapping', { key: TEXT, valueExpression: TEXT })),
  }),
  userValidationRules: listOf(structOf('v1.UserValidationRule', { expression: TEXT, message: TEXT })),
});

const schema: ObjectSchema = structOf('v1.AuthenticationConfiguration', {
  kind: TEXT,
  apiVersion: TEXT,
  jwt: listOf(jwt),
  anonymous: optional(structOf('v1.AnonymousAuthConfig', { enabled: FLAG, conditions: listOf(structOf('v1.AnonymousAuthCondition', { path: TEXT })) })),
});

const TYPE = {
  kind: 'AuthenticationConfiguration',
  apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`),
  schema,
};

/** Throws an Error where the text is no such configuration. Whether it makes sense, `validateAuthenticationConfiguration` says. */
export async function parseAuthenticationConfiguration(text: string): Promise<AuthenticationConfiguration> {
  if (text === '') throw new Error('empty config data');
  return (await decodeConfiguration(text, TYPE)) as AuthenticationConfiguration;
}
