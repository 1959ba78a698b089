import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type PluginConfigurations, readPluginConfiguration } from '../admission/configuration.ts';
import { TEXT, decodeConfiguration, listOf, structOf } from '../schema/configuration-file.ts';
import type { Json } from '../util/json-types.ts';

const TYPE = {
  kind: 'AdmissionConfiguration',
  apiVersions: ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1'],
  schema: structOf('v1.AdmissionConfiguration', {
    kind: TEXT,
    apiVersion: TEXT,
    plugins: listOf(structOf('v1.AdmissionPluginConfiguration', { name: TEXT, path: TEXT, configuration: { type: 'any' } })),
  }),
};

interface PluginEntry {
  name?: string;
  path?: string;
  configuration?: Json;
}

/** --admission-control-config-file: what it says of the plug-ins that run. Throws an Error in upstream's words (apiserver/pkg/admission/config.go). */
export async function loadAdmissionConfiguration(path: string, plugins: readonly string[]): Promise<PluginConfigurations> {
  if (path === '') return {};
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`unable to read admission control configuration from ${JSON.stringify(path)} [${(error as Error).message}]`, { cause: error });
  }
  const { plugins: entries = [] } = (await decodeConfiguration(text, TYPE)) as { plugins?: PluginEntry[] };
  const configurations: PluginConfigurations = {};
  for (const name of plugins) {
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry) Object.assign(configurations, await configurationOf(name, entry, dirname(path)));
  }
  return configurations;
}

/** What stands in the file itself counts before a file that it names. */
async function configurationOf(name: string, { path, configuration }: PluginEntry, folder: string): Promise<PluginConfigurations> {
  if (configuration === undefined && !path) return {};
  try {
    const text = configuration === undefined ? await readFile(resolve(folder, path!), 'utf8') : JSON.stringify(configuration);
    return await readPluginConfiguration(name, text);
  } catch (error) {
    throw new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${(error as Error).message}`, { cause: error });
  }
}
