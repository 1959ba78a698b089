import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { encodePem } from './pem.ts';
import { poolOfPem } from './pool.ts';
import { CHAIN_TIME, type ChainRecipe } from './test-chain-recipes.ts';
import { makeCertificates } from './test-certificates.ts';
import { nameChains } from './test-name-chains.ts';
import { pathChains } from './test-path-chains.ts';
import { verifyClientChain, verifyServerChain } from './verify.ts';

/*
 * Chains of every kind, each with the verdict of Go 1.26.10's own crypto/x509 and of what crypto/tls checks before it (handshake_client.go and
 * handshake_server.go). The verdicts were taken by a program in Go that read the certificates made here, added what is trusted by AppendCertsFromPEM, and
 * called Certificate.Verify at CHAIN_TIME with ExtKeyUsageServerAuth and the host, or with ExtKeyUsageClientAuth: "" for a chain that it took, the text
 * of its error otherwise. Keys are new in every run; a verdict depends on the recipe alone.
 */

const verdicts = JSON.parse(readFileSync(new URL('testdata/chain-verdicts.json', import.meta.url), 'utf8')) as Record<string, string>;
const chains: [string, ChainRecipe][] = Object.entries({ ...pathChains, ...nameChains });

function verdictOn({ certificates, sent = ['leaf'], trusted = ['root'], host }: ChainRecipe): string {
  const made = makeCertificates(certificates, CHAIN_TIME);
  const chain = sent.map((name) => made.get(name)!.der);
  const bundles = trusted.map((name) => encodePem('CERTIFICATE', made.get(name)!.der));
  try {
    if (host === undefined) verifyClientChain(chain, bundles, CHAIN_TIME);
    else verifyServerChain(chain, { roots: poolOfPem(bundles), host, now: CHAIN_TIME });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('every chain has a verdict', () => {
  expect(Object.keys(verdicts).toSorted()).toEqual(chains.map(([name]) => name).toSorted());
  expect(chains.length).toBeGreaterThanOrEqual(120);
});

test.each(chains)('%s', (name, recipe) => {
  expect(verdictOn(recipe)).toBe(verdicts[name]);
});
