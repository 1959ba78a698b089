import { hostname } from 'node:os';
import { serverIdentity } from '../api/server-identity.ts';
import type { FeatureGates } from '../options/feature-gates.ts';

/** What this server is called among those of a cluster; nothing where servers are not told apart. */
export const serverId = (gates: FeatureGates): string => (gates.isEnabled('APIServerIdentity') ? serverIdentity(hostname(), 'kube-apiserver') : '');
