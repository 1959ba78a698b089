import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type PluginConfigurations, configurablePlugins, readPluginConfiguration } from '../admission/configuration.ts';
import { TEXT, decodeConfiguration, listOf, structOf } from '../schema/configuration-file.ts';
import { isJsonObject } from '../encoding/json.ts';
import type { Json } from '../encoding/json-types.ts';

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

/** Files of these plug-ins alone, from before there was an AdmissionConfiguration: each is known by its only field. */
const OLD_FILES: ReadonlyMap<string, string> = new Map([
  ['imagePolicy', 'ImagePolicyWebhook'],
  ['podNodeSelectorPluginConfig', 'PodNodeSelector'],
]);

interface ReadingOptions {
  /** Those that run. */
  plugins: readonly string[];
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
  /** Called with what the file says in vain. */
  warn(text: string): void;
}

/** --admission-control-config-file: what it says of the plug-ins that run. Throws an Error in upstream's words (apiserver/pkg/admission/config.go). */
export async function loadAdmissionConfiguration(path: string, options: ReadingOptions): Promise<PluginConfigurations> {
  if (path === '') return {};
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`unable to read admission control configuration from ${JSON.stringify(path)} [${(error as Error).message}]`, { cause: error });
  }
  const entries = await entriesOf(text, path);
  for (const { name = '' } of entries) warnOfUnusedConfiguration(name, options);
  const configurations: PluginConfigurations = {};
  for (const name of options.plugins) {
    const entry = entries.find((candidate) => candidate.name === name);
    if (!entry) continue;
    const { manifestFolders, ...rest } = await configurationOf(name, entry, dirname(path), options);
    Object.assign(configurations, rest, manifestFolders && { manifestFolders: { ...configurations.manifestFolders, ...manifestFolders } });
  }
  return configurations;
}

async function entriesOf(text: string, path: string): Promise<readonly PluginEntry[]> {
  const { parseYaml } = await import('../encoding/yaml.ts');
  const value = parseYaml(text);
  const isOld =
    isJsonObject(value) && (value.kind === undefined || value.apiVersion === undefined) && [...OLD_FILES.keys()].some((field) => Object.hasOwn(value, field));
  // All that have such files read this one: each looks for its own field.
  if (isOld) return [...OLD_FILES.values()].map((name) => ({ name, path: resolve(path) }));
  const { plugins = [] } = (await decodeConfiguration(text, TYPE)) as { plugins?: PluginEntry[] };
  return plugins;
}

function warnOfUnusedConfiguration(name: string, { plugins, warn }: ReadingOptions): void {
  if (!plugins.includes(name)) warn(`the admission configuration has a part for ${JSON.stringify(name)}, which is no plug-in that runs`);
  else if (!configurablePlugins.includes(name)) warn(`the admission configuration has a part for ${name}, which reads none`);
}

/** What stands in the file itself counts before a file that it names. */
async function configurationOf(
  name: string,
  { path, configuration }: PluginEntry,
  folder: string,
  { isEnabled }: ReadingOptions,
): Promise<PluginConfigurations> {
  if (configuration === undefined && !path) return {};
  try {
    const text = configuration === undefined ? await readFile(resolve(folder, path!), 'utf8') : JSON.stringify(configuration);
    return await readPluginConfiguration(name, text, isEnabled);
  } catch (error) {
    throw new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${(error as Error).message}`, { cause: error });
  }
}
